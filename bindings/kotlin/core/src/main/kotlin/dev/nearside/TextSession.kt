package dev.nearside

import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow
import java.io.File

/**
 * A session of a [TextModel]: what was said so far. Safe to use from any thread. What is asked of it is done in order,
 * between what is asked of the model's other sessions.
 */
class TextSession internal constructor(
    private val native: NativeTextSession,
) : AutoCloseable {
    /**
     * An answer to [request], which each collecting of the flow starts anew. The last event is [TextEvent.Finished].
     *
     * A slow collector makes the model wait, and other sessions with it; no event is lost. Cancelling the collector, or
     * ending it early, stops the model before its next token, and the session goes on from what there is of the answer.
     * A second answer that is collected at the same time waits for the first.
     *
     * What is thrown while collecting: [NearsideException.InvalidInput] for what is wrong with the request,
     * [NearsideException.InvalidModel] if the model's program fails, after which the session must be [reset], and
     * [NearsideException.Closed].
     */
    fun generate(request: GenerateRequest): Flow<TextEvent> =
        flow {
            // Nothing can be cancelled between these two: the answer never runs without someone who ends it.
            val answer = translating { native.generate(request.native()) }
            try {
                do {
                    val events = translatingAsync { answer.next(null) }
                    events.forEach { emit(it) }
                } while (events.isNotEmpty())
            } finally {
                answer.cancel()
                answer.close()
            }
        }

    /** As [generate], for what a user says next in a conversation. */
    fun send(
        text: String,
        maxNewTokens: Int? = null,
    ): Flow<TextEvent> = generate(GenerateRequest(Prompt.Turn(listOf(ChatMessage("user", text))), maxNewTokens))

    /** The messages so far, the answers among them, once all that was asked before is done. */
    suspend fun messages(): List<ChatMessage> = translatingAsync { native.messages(null) }

    /** Why it can't go on until it is [reset], if an error has broken it off. */
    suspend fun poisoned(): String? = translatingAsync { native.poisoned(null) }

    /** A session that goes on from here by itself. */
    suspend fun fork(): TextSession = translatingAsync { TextSession(native.fork(null)) }

    /**
     * Writes it to [file], so that [TextModel.openSession] can go on without computing it again. The file is complete or,
     * after an error, as it was.
     */
    suspend fun save(file: File) = translatingAsync { native.save(file.path, null) }

    /** Forgets everything but the system prompt. */
    suspend fun reset() = translatingAsync { native.reset(null) }

    /** Ends its answers with [NearsideException.Closed] and frees what it holds. Closing again changes nothing. */
    override fun close() = native.shutDown()
}
