package dev.nearside

import java.io.File

/**
 * An opened language model with its inference thread. Safe to use from any thread. It has one KV cache, on which its
 * sessions take turns. [close] it when done.
 */
class TextModel internal constructor(
    private val native: NativeTextModel,
) : AutoCloseable {
    /** What is known of it. Stays readable after closing. */
    val info: TextModelInfo = native.info()

    /** How it samples unless a request says otherwise. */
    val defaults: SamplingOptions = native.defaults()

    /**
     * A session in which nothing was said yet, whose conversation begins with the [system] prompt if there is one.
     *
     * @throws NearsideException.Closed if the model is closed.
     */
    fun session(system: String? = null): TextSession = translating { TextSession(native.session(system)) }

    /**
     * Reads a session that [TextSession.save] wrote. Its [system] prompt is only of use if nothing was answered in it.
     *
     * @throws NearsideException.InvalidInput if it can't be read, is damaged or of another model.
     */
    suspend fun openSession(
        file: File,
        system: String? = null,
    ): TextSession = translatingAsync { TextSession(native.openSession(file.path, system, null)) }

    /** Tells how hot the device is, for the statistics of answers that begin from now on. */
    suspend fun setThermalState(state: ThermalState?) = translatingAsync { native.setThermalState(state, null) }

    /**
     * Closes its sessions, which ends their answers with [NearsideException.Closed], and waits for its thread, at most for
     * the call of the program that is under way. Closing again changes nothing.
     */
    override fun close() = native.shutDown()
}
