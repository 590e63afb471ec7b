package dev.nearside

import org.junit.jupiter.api.io.TempDir
import java.awt.Color
import java.io.File
import java.nio.ByteBuffer
import kotlin.test.Test
import kotlin.test.assertContains
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith

class PhotoTest {
    @Test
    fun `a photo has its size`() =
        waiting {
            val photo = Photo.decode(png(Color.RED, width = 30, height = 20))
            assertEquals(30 to 20, photo.width to photo.height)
        }

    @Test
    fun `bytes, buffers and a file of the same photo give the same labels`(
        @TempDir folder: File,
    ) = waiting {
        val bytes = encoded(plain(Color(200, 30, 40)), "jpg")
        val file = File(folder, "red.jpg").apply { writeBytes(bytes) }
        val padded = ByteArray(100) + bytes
        val photos =
            listOf(
                Photo.decode(bytes),
                Photo.decode(direct(bytes)),
                Photo.decode(direct(padded).position(100)),
                Photo.decode(ByteBuffer.wrap(padded, 100, bytes.size)),
                Photo.open(file),
            )
        Nearside.openModel(Models.tiny).use { model ->
            val labels = photos.map { model.classify(it).labels }
            assertEquals("red", labels.first().first().name)
            labels.forEach { assertEquals(labels.first(), it) }
        }
    }

    @Test
    fun `the position of a buffer stays`() =
        waiting {
            for (buffer in listOf(direct(png(Color.RED)), ByteBuffer.wrap(png(Color.RED)))) {
                val before = buffer.duplicate()
                Photo.decode(buffer)
                assertEquals(before, buffer)
            }
        }

    @Test
    fun `a corrupt JPEG is an invalid input`() =
        waiting {
            val bytes = encoded(plain(Color.RED), "jpg")
            val error =
                assertFailsWith<NearsideException.InvalidInput> { Photo.decode(bytes.copyOf(bytes.size / 3)) }
            assertContains(error.detail, "JPEG")
        }

    @Test
    fun `text, no bytes and a missing file are invalid inputs`() =
        waiting {
            assertFailsWith<NearsideException.InvalidInput> { Photo.decode("no photo".toByteArray()) }
            assertFailsWith<NearsideException.InvalidInput> { Photo.decode(ByteArray(0)) }
            val error = assertFailsWith<NearsideException.InvalidInput> { Photo.open("missing.jpg") }
            assertContains(error.detail, "missing.jpg")
        }

    @Test
    fun `a photo can be closed twice and is closed then`() =
        waiting {
            Nearside.openModel(Models.tiny).use { model ->
                val photo = Photo.decode(png(Color.RED))
                photo.close()
                photo.close()
                assertFailsWith<NearsideException.Closed> { model.classify(photo) }
            }
        }
}
