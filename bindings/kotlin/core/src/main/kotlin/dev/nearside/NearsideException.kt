package dev.nearside

import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.withContext

/**
 * Why a call failed: one class a kind.
 *
 * @property detail what is wrong, with the names and numbers that matter.
 * @property hint what to do about it.
 */
sealed class NearsideException(
    val detail: String,
    val hint: String,
    cause: Throwable? = null,
) : Exception("$detail; $hint", cause) {
    /** The model package is missing, damaged or none. */
    class InvalidModel(
        detail: String,
        hint: String,
    ) : NearsideException(detail, hint)

    /** The package is sound, but asks for what this build can't do. */
    class Incompatible(
        detail: String,
        hint: String,
    ) : NearsideException(detail, hint)

    /**
     * A delegate that the model needs is not linked or can't run on this device, or too little of the model runs in
     * delegates.
     */
    class BackendUnavailable(
        detail: String,
        hint: String,
    ) : NearsideException(detail, hint)

    /** Memory ran out, or the model takes more than it may. */
    class OutOfMemory(
        detail: String,
        hint: String,
    ) : NearsideException(detail, hint)

    /** An argument, a photo or a frame is not usable. */
    class InvalidInput(
        detail: String,
        hint: String,
    ) : NearsideException(detail, hint)

    /** Not used: a full context is an event and a reason of the end. */
    class ContextFull(
        detail: String,
        hint: String,
    ) : NearsideException(detail, hint)

    /** The work was cancelled from inside. A cancelled coroutine gets the usual `CancellationException` instead. */
    class Cancelled(
        detail: String,
        hint: String,
    ) : NearsideException(detail, hint)

    /** The model, session, camera or photo was closed. */
    class Closed(
        detail: String,
        hint: String,
    ) : NearsideException(detail, hint)

    /** A defect: in Nearside, or in the model's program. */
    class Internal(
        detail: String,
        hint: String,
        cause: Throwable? = null,
    ) : NearsideException(detail, hint, cause)
}

/** Runs [call] and turns what the generated code throws into a [NearsideException]. */
internal inline fun <T> translating(call: () -> T): T =
    try {
        call()
    } catch (error: NativeException) {
        throw error.translated()
    } catch (error: InternalException) {
        // A Rust panic, which UniFFI caught. The library stays usable.
        throw NearsideException.Internal(
            "an internal error: ${error.message}",
            "please report it with the input that caused it",
            error,
        )
    }

/**
 * As [translating], off the caller's thread. The library resumes coroutines on its own threads; the dispatcher in
 * between keeps an app's code off them even where its own dispatcher is unconfined.
 */
internal suspend fun <T> translatingAsync(call: suspend () -> T): T =
    withContext(Dispatchers.Default) { translating { call() } }

internal fun NativeException.translated(): NearsideException =
    when (this) {
        is NativeException.InvalidModel -> NearsideException.InvalidModel(detail, hint)
        is NativeException.Incompatible -> NearsideException.Incompatible(detail, hint)
        is NativeException.BackendUnavailable -> NearsideException.BackendUnavailable(detail, hint)
        is NativeException.OutOfMemory -> NearsideException.OutOfMemory(detail, hint)
        is NativeException.InvalidInput -> NearsideException.InvalidInput(detail, hint)
        is NativeException.ContextFull -> NearsideException.ContextFull(detail, hint)
        is NativeException.Cancelled -> NearsideException.Cancelled(detail, hint)
        is NativeException.Closed -> NearsideException.Closed(detail, hint)
        is NativeException.Internal -> NearsideException.Internal(detail, hint)
    }
