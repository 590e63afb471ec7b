package dev.nearside

import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow

/**
 * A camera pipeline over an opened model: frames go in by [offer], results come out of [results]. Safe to use from any
 * thread. Close it when done; it keeps the model until then.
 */
class Camera internal constructor(
    private val native: NativeCamera,
) : AutoCloseable {
    private val buffers = DirectBuffers()

    /**
     * The results, until the camera is closed or [finish]ed. Under [CameraPolicy.KEEP_ONLY_LATEST] a collector that is
     * slower than the frames sees the latest ones. Several collectors share the results; one that stops leaves the
     * camera open.
     */
    val results: Flow<CameraResult> =
        flow {
            while (true) {
                emit(next() ?: break)
            }
        }

    /** Waits for the next result; null after the last one. A cancelled wait may take a result with it. */
    suspend fun next(): CameraResult? = translatingAsync { native.next(null)?.translated() }

    /**
     * Offers a frame, whose planes are copied once before this returns, and gives its number, 0 for the first.
     *
     * Returns at once under [CameraPolicy.KEEP_ONLY_LATEST]. Blocks the thread while there is no room under
     * [CameraPolicy.BLOCK_PRODUCER], so call it off the main thread then.
     *
     * @throws NearsideException.InvalidInput if the planes do not fit the frame; it counts as failed.
     * @throws NearsideException.Closed if the camera is closed or finished.
     */
    fun offer(frame: Frame): Long =
        translating {
            when (frame) {
                is YuvFrame -> offer(frame)
                is PackedFrame -> offer(frame)
            }
        }

    /** What became of the frames so far; after [close], of all. */
    fun stats(): CameraStats = native.stats()

    /** Takes no more frames. Those on their way are finished, and [results] ends after them. */
    fun finish() = native.finish()

    /**
     * Takes no more frames, waits for those on their way, and discards the results that nobody has taken (they count as
     * replaced). [results] ends. Closing again changes nothing.
     */
    override fun close() {
        native.shutDown()
    }

    private fun offer(frame: YuvFrame): Long {
        val layout = YuvLayout(frame.y.layout, frame.u.layout, frame.v.layout)
        return buffers.use(frame.y.buffer, frame.u.buffer, frame.v.buffer) { (y, u, v) ->
            native.offerYuv(frame.metadata(), frame.format, layout, y, u, v)
        }
    }

    private fun offer(frame: PackedFrame): Long =
        buffers.use(frame.plane.buffer) { (bytes) ->
            native.offerPacked(frame.metadata(), frame.format, frame.plane.layout, bytes)
        }
}
