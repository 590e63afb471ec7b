package dev.nearside

import java.io.File
import java.nio.ByteBuffer

/**
 * A decoded photo: 8-bit RGB and upright by its EXIF orientation. It can be classified any number of times.
 *
 * Its pixels lie outside the garbage-collected heap, 3 bytes each: [close] it when done.
 */
class Photo private constructor(
    internal val native: NativePhoto,
) : AutoCloseable {
    /** Width in pixels, upright. */
    val width: Int get() = native.width()

    /** Height in pixels, upright. */
    val height: Int get() = native.height()

    /** Frees the pixels. Closing again changes nothing; a closed photo can't be classified. */
    override fun close() = native.shutDown()

    companion object {
        /**
         * Decodes the bytes of a JPEG, PNG, WebP, GIF or BMP file, off the caller's thread.
         *
         * @throws NearsideException.InvalidInput if they are no such file, damaged or too large.
         */
        suspend fun decode(bytes: ByteArray): Photo = decode(ByteBuffer.wrap(bytes))

        /**
         * As above, of the bytes from the buffer's position to its limit. A direct buffer is read in place, and must not
         * change meanwhile; its position stays.
         */
        suspend fun decode(bytes: ByteBuffer): Photo =
            translatingAsync { Photo(DirectBuffers().use(bytes) { (direct) -> nativeDecodePhoto(direct) }) }

        /**
         * Reads and decodes an image file, off the caller's thread.
         *
         * @throws NearsideException.InvalidInput if it can't be read, is no such file, damaged or too large.
         */
        suspend fun open(path: String): Photo = translatingAsync { Photo(nativeOpenPhoto(path, null)) }

        /** As above, for a [File]. */
        suspend fun open(path: File): Photo = open(path.path)
    }
}
