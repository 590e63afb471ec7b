package dev.nearside

/** What became of a frame. */
sealed interface CameraResult {
    /** The frame's number: 0 for the first that was offered. */
    val frame: Long

    /** The timestamp that it was offered with. */
    val timestampNs: Long

    /**
     * It was classified.
     *
     * @property labels the best labels, best first.
     * @property timings where its time went.
     */
    data class Classified(
        override val frame: Long,
        override val timestampNs: Long,
        val labels: List<ScoredLabel>,
        val timings: FrameTimings,
    ) : CameraResult

    /**
     * It could not be classified. The stream goes on.
     *
     * @property error why.
     */
    data class Failed(
        override val frame: Long,
        override val timestampNs: Long,
        val error: NearsideException,
    ) : CameraResult
}

internal fun NativeCameraResult.translated(): CameraResult =
    when (this) {
        is NativeCameraResult.Classified -> {
            with(classification) { CameraResult.Classified(frame, timestampNs, labels, timings) }
        }

        is NativeCameraResult.Failed -> {
            CameraResult.Failed(frame, timestampNs, error.translated())
        }
    }
