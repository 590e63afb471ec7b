package dev.nearside

import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import org.junit.jupiter.api.io.TempDir
import java.awt.Color
import java.io.File
import kotlin.test.Test
import kotlin.test.assertContains
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertTrue

class ModelTest {
    @Test
    fun `an opened model says what it is`() =
        waiting {
            Nearside.openModel(Models.tiny).use { model ->
                assertEquals("tiny-classifier", model.info.name)
                assertEquals("xnnpack-fp32", model.info.variant)
                assertEquals(listOf("XnnpackBackend"), model.info.delegates)
                assertEquals(32 to 32, model.info.inputWidth to model.info.inputHeight)
                assertEquals(4, model.info.classes)
                assertTrue(model.info.loadMs > 0)
            }
        }

    @Test
    fun `the best labels come first, with probabilities and times`() =
        waiting {
            Nearside.openModel(Models.tiny).use { model ->
                val photo = Photo.decode(png(Color.GREEN))
                val result = model.classify(photo, top = 4)
                assertEquals("green", result.labels.first().name)
                assertEquals(1, result.labels.first().index)
                assertEquals(setOf("red", "green", "blue", "grey"), result.labels.map { it.name }.toSet())
                assertEquals(result.labels.sortedByDescending { it.score }, result.labels)
                assertEquals(1f, result.labels.sumOf { it.score.toDouble() }.toFloat(), 1e-3f)
                assertTrue(result.timings.preprocessMs > 0 && result.timings.inferenceMs > 0, "${result.timings}")
            }
        }

    @Test
    fun `as many labels come as were asked for`() =
        waiting {
            Nearside.openModel(Models.tiny).use { model ->
                assertEquals(2, model.classify(Photo.decode(png(Color.RED)), top = 2).labels.size)
            }
        }

    @Test
    fun `no labels at all is an invalid input`() =
        waiting {
            Nearside.openModel(Models.tiny).use { model ->
                val photo = Photo.decode(png(Color.RED))
                assertFailsWith<NearsideException.InvalidInput> { model.classify(photo, top = 0) }
                assertFailsWith<NearsideException.InvalidInput> { model.classify(photo, top = -1) }
                assertFailsWith<NearsideException.InvalidInput> { model.openCamera(top = 0) }
            }
        }

    @Test
    fun `many photos at once all get their own labels`() =
        waiting {
            Nearside.openModel(Models.tiny).use { model ->
                val colors =
                    listOf(
                        Color.RED to "red",
                        Color.GREEN to "green",
                        Color.BLUE to "blue",
                        Color.GRAY to "grey",
                    )
                val photos = colors.map { (color, name) -> Photo.decode(png(color)) to name }
                val found =
                    List(200) { photos[it % photos.size] }
                        .map { (photo, name) ->
                            async {
                                model
                                    .classify(photo, top = 1)
                                    .labels
                                    .single()
                                    .name to name
                            }
                        }.awaitAll()
                found.forEach { (found, expected) -> assertEquals(expected, found) }
            }
        }

    @Test
    fun `a missing package is named`() =
        waiting {
            val error = assertFailsWith<NearsideException.InvalidModel> { Nearside.openModel("nowhere.nearside") }
            assertContains(error.detail, "nowhere.nearside")
            assertTrue(error.hint.isNotEmpty())
            assertContains(error.message.orEmpty(), error.hint)
        }

    @Test
    fun `a manifest that is plain text is refused`(
        @TempDir folder: File,
    ) = waiting {
        File(folder, "manifest.json").writeText("This is no manifest.")
        val error = assertFailsWith<NearsideException.InvalidModel> { Nearside.openModel(folder) }
        assertContains(error.detail, "manifest.json")
    }

    @Test
    fun `a program that was changed is refused`(
        @TempDir folder: File,
    ) = waiting {
        Models.tiny.copyRecursively(folder, overwrite = true)
        File(folder, "xnnpack-fp32.pte").apply { writeBytes(readBytes().also { it[it.size / 2]++ }) }
        assertFailsWith<NearsideException.InvalidModel> { Nearside.openModel(folder) }
    }

    @Test
    fun `a variant that is not there is an invalid input that lists the others`() =
        waiting {
            val error =
                assertFailsWith<NearsideException.InvalidInput> { Nearside.openModel(Models.tiny, variant = "coreml") }
            assertContains(error.detail, "xnnpack-fp32")
        }

    @Test
    fun `a model can be closed twice and is closed then`() =
        waiting {
            val model = Nearside.openModel(Models.tiny)
            model.close()
            model.close()
            val photo = Photo.decode(png(Color.RED))
            assertFailsWith<NearsideException.Closed> { model.classify(photo) }
            assertFailsWith<NearsideException.Closed> { model.openCamera() }
            assertEquals("tiny-classifier", model.info.name)
        }

    @Test
    fun `closing ends what waits`() =
        waiting {
            val model = Nearside.openModel(Models.efficientnet)
            val photo = Photo.decode(png(Color.RED))
            val waiting = List(30) { async { runCatching { model.classify(photo) } } }
            waiting.first().await()
            model.close()
            val failures = waiting.awaitAll().mapNotNull { it.exceptionOrNull() }
            assertTrue(failures.isNotEmpty(), "30 photos were done before the model was closed")
            failures.forEach { assertTrue(it is NearsideException.Closed, "$it") }
        }

    @Test
    fun `a cancelled coroutine stops waiting and the model goes on`() =
        waiting {
            Nearside.openModel(Models.efficientnet).use { model ->
                val photo = Photo.decode(png(Color.RED))
                val first = async { model.classify(photo, top = 1) }
                val others = List(40) { async { model.classify(photo) } }
                first.await()
                others.forEach { it.cancel() }
                val cancelled = others.count { runCatching { it.await() }.exceptionOrNull() is CancellationException }
                assertTrue(cancelled > 0, "40 photos were done before they were cancelled")
                assertEquals(first.await().labels, model.classify(photo, top = 1).labels)
            }
        }

    @Test
    fun `opening can be cancelled`() =
        waiting {
            val opening = async { Nearside.openModel(Models.efficientnet) }
            opening.cancel()
            assertFailsWith<CancellationException> { opening.await() }
            Nearside.openModel(Models.tiny).close()
        }
}
