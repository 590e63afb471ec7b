package dev.nearside

import java.nio.ByteBuffer

/**
 * One plane of a frame: the bytes of [buffer] from its position to its limit.
 *
 * A direct buffer, as cameras give it, is read in place. A heap buffer is copied into a direct one first. The position
 * stays as it is.
 *
 * @property rowStride bytes from one row to the next, padding included.
 * @property pixelStride bytes from one sample of a row to the next: 1 for planes of their own, 2 for the interleaved
 *   U and V of NV12 and NV21, twice as much for [YuvFormat.P010]; for packed formats the bytes of a pixel.
 */
class Plane(
    val buffer: ByteBuffer,
    val rowStride: Int,
    val pixelStride: Int = 1,
) {
    internal val layout get() = PlaneLayout(rowStride, pixelStride)
}

/** A camera frame: its planes stay the caller's, and may be reused as soon as [Camera.offer] has returned. */
sealed interface Frame {
    /** Width in pixels, before crop and rotation. */
    val width: Int

    /** Height in pixels, before crop and rotation. */
    val height: Int

    /** When the picture was taken, in nanoseconds on a clock of the caller's choice. Comes back with the result. */
    val timestampNs: Long

    /** The clockwise rotation that makes the picture upright. */
    val rotation: Rotation

    /** Whether to mirror left to right, after the rotation. */
    val mirror: Boolean

    /** The part to use, in the frame's own coordinates; all of it if null. */
    val crop: Rect?
}

/**
 * A frame in `YUV_420_888`, also I420, YV12, NV12 and NV21, or in `YCBCR_P010`: planes with any strides, U and V of half
 * the width and height, rounded up. U and V may overlap in memory, and their last sample may be missing, as real cameras
 * have it.
 *
 * @property matrix YUV to RGB matrix.
 * @property range range of the YUV values.
 * @property format what a sample is: [YuvFormat.P010] for `ImageFormat.YCBCR_P010`.
 * @property chromaSiting where the U and V samples sit: mostly [ChromaSiting.LEFT] in video.
 */
class YuvFrame(
    override val width: Int,
    override val height: Int,
    val y: Plane,
    val u: Plane,
    val v: Plane,
    override val timestampNs: Long = 0,
    override val rotation: Rotation = Rotation.R0,
    override val mirror: Boolean = false,
    override val crop: Rect? = null,
    val matrix: YuvMatrix = YuvMatrix.BT601,
    val range: YuvRange = YuvRange.LIMITED,
    val format: YuvFormat = YuvFormat.YUV420,
    val chromaSiting: ChromaSiting = ChromaSiting.CENTER,
) : Frame

/**
 * A frame with one plane.
 *
 * @property matrix YUV to RGB matrix; only used by [PackedFormat.YUYV].
 * @property range range of the YUV values; only used by [PackedFormat.YUYV].
 * @property chromaSiting where the U and V samples sit; only used by [PackedFormat.YUYV].
 */
class PackedFrame(
    val format: PackedFormat,
    override val width: Int,
    override val height: Int,
    val plane: Plane,
    override val timestampNs: Long = 0,
    override val rotation: Rotation = Rotation.R0,
    override val mirror: Boolean = false,
    override val crop: Rect? = null,
    val matrix: YuvMatrix = YuvMatrix.BT601,
    val range: YuvRange = YuvRange.LIMITED,
    val chromaSiting: ChromaSiting = ChromaSiting.CENTER,
) : Frame

internal fun Frame.metadata(): FrameMetadata {
    val (matrix, range, siting) =
        when (this) {
            is YuvFrame -> Triple(matrix, range, chromaSiting)
            is PackedFrame -> Triple(matrix, range, chromaSiting)
        }
    return FrameMetadata(width, height, crop, rotation, mirror, matrix, range, siting, timestampNs)
}
