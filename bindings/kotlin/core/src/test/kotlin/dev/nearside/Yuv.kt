package dev.nearside

import java.awt.image.BufferedImage
import java.nio.ByteBuffer
import kotlin.math.roundToInt

/** Y, U and V of a picture: BT.601, limited range, 2x2 pixels a chroma sample. */
class Yuv(
    private val image: BufferedImage,
) {
    val width = image.width
    val height = image.height
    private val chromaWidth = (width + 1) / 2
    private val chromaHeight = (height + 1) / 2

    /** I420 in three direct buffers, each row followed by [padding] bytes of rubbish. */
    fun i420(padding: Int = 0): YuvFrame {
        val luma = plane(height, width + padding) { x, y -> if (x < width) luma(x, y) else RUBBISH }
        val stride = chromaWidth + padding
        val u = plane(chromaHeight, stride) { x, y -> if (x < chromaWidth) chroma(x, y, ::blue) else RUBBISH }
        val v = plane(chromaHeight, stride) { x, y -> if (x < chromaWidth) chroma(x, y, ::red) else RUBBISH }
        return YuvFrame(width, height, Plane(luma, width + padding), Plane(u, stride), Plane(v, stride))
    }

    /**
     * NV12 in one direct buffer, as Android's cameras give it: the planes are views of the same memory, and each ends
     * with its last sample, short of a whole row.
     */
    fun nv12(padding: Int = 0): YuvFrame {
        val stride = maxOf(width, 2 * chromaWidth) + padding
        val start = stride * height
        val whole =
            plane(height + chromaHeight, stride) { x, y ->
                val inChroma = y >= height
                when {
                    !inChroma && x < width -> luma(x, y)
                    inChroma && x < 2 * chromaWidth -> chroma(x / 2, y - height, if (x % 2 == 0) ::blue else ::red)
                    else -> RUBBISH
                }
            }
        val chromaBytes = stride * (chromaHeight - 1) + 2 * chromaWidth - 1
        return YuvFrame(
            width,
            height,
            Plane(whole.view(0, start), stride),
            Plane(whole.view(start, chromaBytes), stride, 2),
            Plane(whole.view(start + 1, chromaBytes), stride, 2),
        )
    }

    /** P010 as Android's `YCBCR_P010` gives it: samples of two bytes, U and V as views of the same memory. */
    fun p010(): YuvFrame {
        val eight = nv12()

        fun wide(plane: Plane): ByteBuffer {
            val samples = plane.buffer.duplicate()
            val wide = ByteBuffer.allocateDirect(2 * samples.remaining())
            // The value in the high bits, rubbish in the low six.
            while (samples.hasRemaining()) wide.put(0x2A).put(samples.get())
            return wide.flip()
        }
        val chroma = wide(Plane(whole(eight.u, eight.v), eight.u.rowStride))
        return YuvFrame(
            width,
            height,
            Plane(wide(eight.y), 2 * eight.y.rowStride, 2),
            Plane(chroma.view(0, chroma.limit() - 2), 2 * eight.u.rowStride, 4),
            Plane(chroma.view(2, chroma.limit() - 2), 2 * eight.v.rowStride, 4),
            format = YuvFormat.P010,
        )
    }

    /** U and V, which are one byte apart, as one. */
    private fun whole(
        u: Plane,
        v: Plane,
    ): ByteBuffer = u.buffer.duplicate().limit(v.buffer.limit())

    private fun luma(
        x: Int,
        y: Int,
    ): Int = image.getRGB(x, y).let { 16 + (65.481 * it.r + 128.553 * it.g + 24.966 * it.b).roundToInt() }

    private fun blue(rgb: Int): Double = 128 - 37.797 * rgb.r - 74.203 * rgb.g + 112.0 * rgb.b

    private fun red(rgb: Int): Double = 128 + 112.0 * rgb.r - 93.786 * rgb.g - 18.214 * rgb.b

    private fun chroma(
        x: Int,
        y: Int,
        of: (Int) -> Double,
    ): Int {
        val columns = listOf(2 * x, minOf(2 * x + 1, width - 1))
        val rows = listOf(2 * y, minOf(2 * y + 1, height - 1))
        return rows.flatMap { row -> columns.map { of(image.getRGB(it, row)) } }.average().roundToInt()
    }

    private companion object {
        const val RUBBISH = 0xAA
    }
}

private val Int.r get() = (this shr 16 and 0xFF) / 255.0
private val Int.g get() = (this shr 8 and 0xFF) / 255.0
private val Int.b get() = (this and 0xFF) / 255.0

private fun plane(
    rows: Int,
    stride: Int,
    sample: (x: Int, y: Int) -> Int,
): ByteBuffer {
    val buffer = ByteBuffer.allocateDirect(rows * stride)
    for (y in 0 until rows) {
        for (x in 0 until stride) {
            buffer.put(y * stride + x, sample(x, y).toByte())
        }
    }
    return buffer
}

/** A view whose position is not zero unless [start] is. */
private fun ByteBuffer.view(
    start: Int,
    bytes: Int,
): ByteBuffer = duplicate().position(start).limit(start + bytes)
