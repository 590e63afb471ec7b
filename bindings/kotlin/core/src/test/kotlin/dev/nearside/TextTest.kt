package dev.nearside

import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.collect
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.take
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.launch
import org.junit.jupiter.api.io.TempDir
import java.io.File
import kotlin.random.Random
import kotlin.test.Test
import kotlin.test.assertContains
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertNotNull
import kotlin.test.assertTrue

/** Answers of a language model, as flows. */
class TextTest {
    private val sixteen = GenerateRequest(Prompt.Text("Once upon a time"), maxNewTokens = 16, ignoreEnd = true)

    /** Far more tokens than can wait to be taken. */
    private val long = sixteen.copy(maxNewTokens = 400, whenFull = WhenFull.SHIFT)

    private fun using(block: suspend CoroutineScope.(TextModel) -> Unit) =
        waiting { Nearside.openTextModel(Models.llama).use { block(it) } }

    private suspend fun TextSession.answer(request: GenerateRequest): TextEvent.Finished =
        generate(request).toList().last() as TextEvent.Finished

    private fun List<TextEvent>.text() = filterIsInstance<TextEvent.Token>().joinToString("") { it.text }

    @Test
    fun `tokens come one by one and make up the answer`() =
        using { model ->
            val events = model.session().generate(sixteen).toList()
            val finished = events.last() as TextEvent.Finished
            assertEquals(FinishReason.MaxTokens, finished.reason)
            assertEquals(16, events.count { it is TextEvent.Token && it.id != null })
            assertEquals(finished.text, events.text())
            assertEquals(1, events.count { it is TextEvent.Finished })
        }

    @Test
    fun `each collecting is an answer of its own`() =
        using { model ->
            val flow = model.session().generate(sixteen)
            assertEquals(flow.toList().text(), flow.toList().text())
        }

    @Test
    fun `characters that are split over tokens come whole`() =
        using { model ->
            // Each of these characters is three or four tokens of a byte.
            val grammar = Grammar.Regex("(日本語🙂){3}")
            val events = model.session().generate(sixteen.copy(maxNewTokens = 60, grammar = grammar)).toList()
            assertEquals("日本語🙂".repeat(3), events.text())
            assertEquals(FinishReason.GrammarEnd, (events.last() as TextEvent.Finished).reason)
            assertTrue(events.count { it is TextEvent.Token } > 12)
        }

    @Test
    fun `a session goes on correctly wherever it was cancelled`() =
        using { model ->
            val expected = model.session().answer(sixteen).text
            val random = Random(6)
            val prompt = Prompt.Text("a long prompt ".repeat(5))
            repeat(30) {
                val session = model.session()
                val job =
                    launch(
                        start = CoroutineStart.UNDISPATCHED,
                    ) { session.generate(long.copy(prompt = prompt)).collect() }
                delay(random.nextLong(0, 12))
                job.cancelAndJoin()
                assertEquals(expected, session.answer(sixteen).text)
                session.close()
            }
        }

    @Test
    fun `an answer that was left early goes on as if it had not been`() =
        using { model ->
            val whole = model.session().answer(sixteen)
            val session = model.session()
            session.generate(sixteen).take(5).toList()
            val sofar = session.answer(sixteen.copy(maxNewTokens = 0)).statistics
            assertTrue(sofar.promptTokens > 0)
            assertEquals(whole.text, session.answer(sixteen).text)
        }

    @Test
    fun `a collector that throws stops the model and gets its own exception`() =
        using { model ->
            val session = model.session()
            assertFailsWith<IllegalStateException> { session.generate(long).collect { error("on purpose") } }
            assertEquals(model.session().answer(sixteen).text, session.answer(sixteen).text)
        }

    @Test
    fun `a slow collector slows the model and loses nothing`() =
        using { model ->
            val expected = model.session().answer(long).text
            val events = mutableListOf<TextEvent>()
            model.session().generate(long).collect {
                if (events.isEmpty()) delay(300)
                events += it
            }
            val finished = events.last() as TextEvent.Finished
            assertEquals(expected, events.text())
            assertEquals(finished.text, events.text())
            assertTrue(finished.statistics.waitedMs > 50.0, "${finished.statistics}")
        }

    @Test
    fun `cancelling gets through while the queue is full`() =
        using { model ->
            val other = model.session()
            val blocked = launch { model.session().generate(long).collect { delay(Long.MAX_VALUE) } }
            delay(200)
            blocked.cancelAndJoin()
            assertEquals(FinishReason.MaxTokens, other.answer(sixteen).reason)
        }

    @Test
    fun `the statistics are exact and have times`() =
        using { model ->
            val session = model.session()
            val first = session.answer(sixteen).statistics
            assertEquals(16, first.generatedTokens)
            assertEquals(first.promptTokens, first.reusedTokens + first.prefilledTokens)
            assertTrue(assertNotNull(first.timeToFirstTokenMs) > 0)
            assertTrue(assertNotNull(first.prefillTokensPerSecond) > 0)
            assertTrue(assertNotNull(first.decodeTokensPerSecond) > 0)
            assertTrue(assertNotNull(first.betweenTokens).maxMs >= first.betweenTokens!!.p50Ms)
            val again = session.answer(sixteen).statistics
            assertEquals(first.promptTokens, again.promptTokens)
            assertTrue(again.reusedTokens > 0)
        }

    @Test
    fun `a full context is an event and the reason of the end`() =
        using { model ->
            val events = model.session().generate(sixteen.copy(maxNewTokens = null)).toList()
            val full = events.filterIsInstance<TextEvent.ContextFull>().single()
            assertEquals(model.info.contextLength, full.contextLength)
            assertEquals(FinishReason.ContextFull, (events.last() as TextEvent.Finished).reason)
        }

    @Test
    fun `a conversation keeps its messages after the system prompt`() =
        using { model ->
            val session = model.session(system = "Be brief.")
            session.send("Hello", maxNewTokens = 8).collect()
            assertEquals(listOf("system", "user", "assistant"), session.messages().map { it.role })
            session.send("Again", maxNewTokens = 4).collect()
            assertEquals(1, session.messages().count { it.role == "system" })
            session.reset()
            assertEquals(emptyList(), session.messages())
        }

    @Test
    fun `forks and saved sessions go on as the session does`(
        @TempDir folder: File,
    ) = using { model ->
        val session = model.session()
        session.answer(sixteen)
        val fork = session.fork()
        val file = File(folder, "a.session")
        session.save(file)
        val next = GenerateRequest(Prompt.Continue, maxNewTokens = 8, ignoreEnd = true)
        val expected = session.answer(next).text
        assertEquals(expected, fork.answer(next).text)
        assertEquals(expected, model.openSession(file).answer(next).text)
        file.writeText("no session")
        assertFailsWith<NearsideException.InvalidInput> { model.openSession(file) }
    }

    @Test
    fun `sessions take turns on a model`() =
        using { model ->
            val expected = model.session().answer(sixteen).text
            val sessions = List(8) { model.session() }
            val answers = sessions.map { async { it.answer(sixteen).text } }.awaitAll()
            assertEquals(List(8) { expected }, answers)
            val twice = List(2) { async { sessions[0].answer(sixteen).text } }.awaitAll()
            assertEquals(List(2) { expected }, twice)
        }

    @Test
    fun `closing the model ends its answers as closed`() =
        waiting {
            val model = Nearside.openTextModel(Models.llama)
            val session = model.session()
            val slow = async { runCatching { session.generate(long).collect { delay(20) } } }
            delay(100)
            model.close()
            assertTrue(slow.await().exceptionOrNull() is NearsideException.Closed)
            assertFailsWith<NearsideException.Closed> { session.messages() }
            assertFailsWith<NearsideException.Closed> { session.generate(sixteen).first() }
            assertFailsWith<NearsideException.Closed> { model.session() }
        }

    @Test
    fun `what is wrong is said with a kind`() =
        using { model ->
            assertFailsWith<NearsideException.InvalidModel> { Nearside.openTextModel(File("nowhere.nearside")) }
            val task = assertFailsWith<NearsideException.InvalidInput> { Nearside.openTextModel(Models.tiny) }
            assertContains(task.detail, "generate")
            val session = model.session()
            for (request in listOf(
                sixteen.copy(sampling = SamplingOptions(temperature = -1f)),
                sixteen.copy(sampling = SamplingOptions(topP = 2f)),
                sixteen.copy(maxNewTokens = -1),
                sixteen.copy(grammar = Grammar.JsonSchema("{")),
                sixteen.copy(grammar = Grammar.JsonSchema("""{"type": "nothing"}""")),
                sixteen.copy(grammar = Grammar.Regex("(")),
                sixteen.copy(speculation = Speculation.Draft(4)),
            )) {
                val error = assertFailsWith<NearsideException.InvalidInput> { session.answer(request) }
                assertTrue(error.hint.isNotEmpty())
            }
            assertEquals(16, session.answer(sixteen).statistics.generatedTokens)
        }
}
