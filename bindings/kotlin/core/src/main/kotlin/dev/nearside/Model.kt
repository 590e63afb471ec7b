package dev.nearside

/**
 * An opened model package with its inference thread. Safe to use from any thread.
 *
 * [close] it when done; what the garbage collector finds unclosed is closed then.
 */
class Model internal constructor(
    private val native: NativeModel,
) : AutoCloseable {
    /** What is known of it. Stays readable after closing. */
    val info: ModelInfo = native.info()

    /**
     * Gives the [top] best labels of [photo], best first, or all if there are fewer. Cancelling the coroutine cancels
     * the work unless it has reached the model.
     *
     * @throws NearsideException.InvalidInput if [top] is not positive.
     * @throws NearsideException.Closed if the model or the photo is closed, or the model is meanwhile.
     */
    suspend fun classify(
        photo: Photo,
        top: Int = 5,
    ): Classification = translatingAsync { native.classify(photo.native, top, null) }

    /**
     * Opens a camera pipeline that gives the [top] best labels a frame. It keeps the model's threads and memory until it
     * is closed itself.
     *
     * @throws NearsideException.InvalidInput if [top] is not positive.
     * @throws NearsideException.Closed if the model is closed.
     */
    fun openCamera(
        policy: CameraPolicy = CameraPolicy.KEEP_ONLY_LATEST,
        top: Int = 5,
    ): Camera = translating { Camera(native.openCamera(CameraConfig(policy, top))) }

    /**
     * Takes no more work, ends what waits with [NearsideException.Closed], and waits for the threads to end: at most for
     * the run that is under way. Closing again changes nothing. Open cameras go on until they are closed.
     */
    override fun close() = native.shutDown()
}
