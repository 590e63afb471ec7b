package dev.nearside

import java.lang.ref.Reference
import java.nio.ByteBuffer

/**
 * Gives the library buffers that it can read in place: direct ones as they are, others copied into direct ones, which
 * are kept for the next time.
 */
internal class DirectBuffers {
    private var copies: List<ByteBuffer> = emptyList()

    /**
     * Calls [call] with a direct buffer for each of [buffers], which starts at its position: the generated code looks at
     * the address and the remaining bytes only.
     */
    fun <T> use(
        vararg buffers: ByteBuffer,
        call: (List<ByteBuffer>) -> T,
    ): T {
        if (buffers.all { it.isDirect }) {
            return keepingAlive(buffers.map { it.slice() }, call)
        }
        return synchronized(this) {
            copies = buffers.mapIndexed { index, buffer -> copy(buffer, copies.getOrNull(index)) }
            keepingAlive(copies, call)
        }
    }

    private fun copy(
        from: ByteBuffer,
        into: ByteBuffer?,
    ): ByteBuffer {
        val size = from.remaining()
        val copy = into?.takeIf { it.capacity() >= size } ?: ByteBuffer.allocateDirect(size)
        copy.clear()
        // A duplicate, so that the caller's position stays.
        copy.put(from.duplicate()).flip()
        return copy
    }

    /** The library has only addresses: the collector must not take the buffers before it is done. */
    private inline fun <T> keepingAlive(
        buffers: List<ByteBuffer>,
        call: (List<ByteBuffer>) -> T,
    ): T =
        try {
            call(buffers)
        } finally {
            Reference.reachabilityFence(buffers)
        }
}
