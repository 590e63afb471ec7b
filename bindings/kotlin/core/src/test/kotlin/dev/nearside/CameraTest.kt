package dev.nearside

import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.onEach
import kotlinx.coroutines.flow.take
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.launch
import kotlinx.coroutines.withContext
import org.junit.jupiter.api.io.TempDir
import java.awt.Color
import java.io.File
import java.nio.ByteBuffer
import kotlin.test.Test
import kotlin.test.assertContains
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertIs
import kotlin.test.assertNull
import kotlin.test.assertTrue

class CameraTest {
    private val red = Yuv(plain(Color.RED, 61, 47))
    private val blue = Yuv(plain(Color.BLUE, 61, 47))

    @Test
    fun `padded I420, NV12 and P010 frames from direct buffers get their labels`() =
        withCamera { camera ->
            val frames =
                listOf(
                    red.i420() to "red",
                    blue.i420(padding = 7) to "blue",
                    red.nv12() to "red",
                    blue.nv12(3) to "blue",
                    red.p010() to "red",
                    blue.p010() to "blue",
                )
            for ((frame, expected) in frames) {
                camera.offer(frame)
                assertEquals(expected, camera.label())
            }
        }

    @Test
    fun `heap buffers are copied and give the same`() =
        withCamera { camera ->
            val frame = blue.nv12(padding = 5)
            camera.offer(
                YuvFrame(frame.width, frame.height, frame.y.onHeap(), frame.u.onHeap(), frame.v.onHeap()),
            )
            assertEquals("blue", camera.label())
        }

    @Test
    fun `packed frames start at the buffer's position`() =
        withCamera { camera ->
            val (width, height, offset) = Triple(40, 30, 12)
            val buffer = ByteBuffer.allocateDirect(offset + width * height * 4)
            repeat(offset) { buffer.put(0x55) }
            repeat(width * height) { buffer.put(byteArrayOf(-1, 0, 0, -1)) }
            buffer.position(offset)
            val plane = Plane(buffer, rowStride = width * 4, pixelStride = 4)
            camera.offer(PackedFrame(PackedFormat.RGBA, width, height, plane))
            assertEquals("red", camera.label())
            camera.offer(PackedFrame(PackedFormat.BGRA, width, height, plane))
            assertEquals("blue", camera.label())
            assertEquals(offset, buffer.position())
        }

    @Test
    fun `packed pixels of every order and width get their labels`() =
        withCamera { camera ->
            val (width, height) = 40 to 30
            val pixels =
                listOf(
                    Triple(PackedFormat.ARGB, listOf(9, 255, 0, 0), "red"),
                    Triple(PackedFormat.ARGB, listOf(9, 0, 0, 255), "blue"),
                    Triple(PackedFormat.RGB, listOf(255, 0, 0), "red"),
                    Triple(PackedFormat.BGR, listOf(255, 0, 0), "blue"),
                    Triple(PackedFormat.RGB565, listOf(0x00, 0xF8), "red"),
                    Triple(PackedFormat.RGB565, listOf(0x1F, 0x00), "blue"),
                    Triple(PackedFormat.YUYV, listOf(81, 90, 81, 240), "red"),
                )
            for ((format, pixel, expected) in pixels) {
                val size = if (format == PackedFormat.YUYV) 2 else pixel.size
                val buffer = ByteBuffer.allocateDirect(width * height * size)
                while (buffer.hasRemaining()) pixel.forEach { buffer.put(it.toByte()) }
                camera.offer(PackedFrame(format, width, height, Plane(buffer.flip(), width * size, size)))
                assertEquals(expected, camera.label(), "$format")
            }
        }

    @Test
    fun `grey frames are seen, and too narrow a row stride for 16 bits says that it is in bytes`() =
        withCamera { camera ->
            val bytes = ByteBuffer.allocateDirect(40 * 30)
            camera.offer(PackedFrame(PackedFormat.GRAY8, 40, 30, Plane(bytes, rowStride = 40)))
            assertIs<CameraResult.Classified>(camera.next())
            val error =
                assertFailsWith<NearsideException.InvalidInput> {
                    camera.offer(PackedFrame(PackedFormat.RGB565, 40, 30, Plane(bytes, 40, pixelStride = 2)))
                }
            assertContains(error.hint, "in bytes")
        }

    @Test
    fun `every matrix and siting is taken`() =
        withCamera { camera ->
            val frame = red.i420()
            for (matrix in YuvMatrix.entries) {
                for (siting in ChromaSiting.entries) {
                    val (width, height) = frame.width to frame.height
                    camera.offer(
                        YuvFrame(width, height, frame.y, frame.u, frame.v, matrix = matrix, chromaSiting = siting),
                    )
                    assertEquals("red", camera.label())
                }
            }
        }

    @Test
    fun `crop, rotation and timestamp are honoured`() =
        withCamera { camera ->
            // Left half red, right half blue.
            val halves = plain(Color.RED)
            halves.createGraphics().apply { color = Color.BLUE }.fillRect(32, 0, 32, 48)
            val frame = Yuv(halves).i420()
            val right = Rect(32, 0, 32, 48)
            camera.offer(
                YuvFrame(64, 48, frame.y, frame.u, frame.v, timestampNs = 42, rotation = Rotation.R90, crop = right),
            )
            val result = assertIs<CameraResult.Classified>(camera.next())
            assertEquals("blue", result.labels.first().name)
            assertEquals(42, result.timestampNs)
            assertEquals(0, result.frame)
        }

    @Test
    fun `a plane that is too short is an invalid input and counts as failed`() =
        withCamera { camera ->
            val frame = red.i420()
            val bytes = frame.y.buffer.duplicate()
            val short = Plane(bytes.limit(100), frame.y.rowStride)
            val error =
                assertFailsWith<NearsideException.InvalidInput> {
                    camera.offer(YuvFrame(frame.width, frame.height, short, frame.u, frame.v))
                }
            assertContains(error.detail, "100")
            assertEquals(1 to 1, camera.stats().run { offered.toInt() to failed.toInt() })
            camera.offer(frame)
            assertEquals("red", camera.label())
        }

    @Test
    fun `negative sizes and strides are invalid inputs`() =
        withCamera { camera ->
            val frame = red.i420()
            assertFailsWith<NearsideException.InvalidInput> {
                camera.offer(YuvFrame(-1, frame.height, frame.y, frame.u, frame.v))
            }
            assertFailsWith<NearsideException.InvalidInput> {
                camera.offer(YuvFrame(frame.width, frame.height, frame.y, Plane(frame.u.buffer, -8), frame.v))
            }
        }

    @Test
    fun `a frame that fails later arrives as a result and the stream goes on`(
        @TempDir folder: File,
    ) = waiting {
        Nearside.openModel(overflowing(folder)).use { model ->
            model.openCamera().use { camera ->
                camera.offer(Yuv(plain(Color.WHITE)).i420())
                val failed = assertIs<CameraResult.Failed>(camera.next())
                assertEquals(0, failed.frame)
                assertIs<NearsideException.InvalidModel>(failed.error)
                camera.offer(Yuv(plain(Color.WHITE)).i420())
                assertEquals(1, camera.next()?.frame)
            }
        }
    }

    @Test
    fun `the flow gives every frame that waited for room`() =
        withCamera(CameraPolicy.BLOCK_PRODUCER) { camera ->
            val results = async { camera.results.toList() }
            withContext(Dispatchers.IO) {
                repeat(20) { camera.offer((if (it % 2 == 0) red else blue).i420()) }
            }
            camera.finish()
            val names = results.await().map { it.label() }
            assertEquals(List(20) { if (it % 2 == 0) "red" else "blue" }, names)
            assertEquals(20, camera.stats().delivered)
        }

    @Test
    fun `a slow collector gets the latest frames, and all are accounted for`() =
        waiting {
            val model = Nearside.openModel(Models.efficientnet)
            val camera = model.openCamera()
            val collected =
                async {
                    camera.results
                        .onEach { delay(20) }
                        .toList()
                        .map { assertIs<CameraResult.Classified>(it).frame }
                }
            val frame = red.nv12()
            repeat(200) {
                camera.offer(frame)
                delay(1)
            }
            camera.finish()
            val frames = collected.await()
            camera.close()
            val stats = camera.stats()
            assertEquals(frames.sorted().distinct(), frames)
            assertEquals(199, frames.last(), "the latest frame is never given up")
            assertEquals(200, stats.offered)
            assertEquals(frames.size.toLong(), stats.delivered)
            assertTrue(stats.replaced > 0, "$stats")
            assertEquals(stats.offered, stats.delivered + stats.replaced + stats.failed)
            assertTrue(checkNotNull(stats.latency).endToEnd.p50Ms > 0)
            model.close()
        }

    @Test
    fun `results that nobody took count as replaced`() =
        withCamera { camera ->
            repeat(10) { camera.offer(red.i420()) }
            camera.close()
            val stats = camera.stats()
            assertEquals(10, stats.offered)
            assertEquals(10, stats.replaced)
        }

    @Test
    fun `a collector that stops early leaves the camera open`() =
        withCamera { camera ->
            camera.offer(red.i420())
            assertEquals(
                1,
                camera.results
                    .take(1)
                    .toList()
                    .size,
            )
            camera.offer(blue.i420())
            assertEquals("blue", camera.results.first().label())
        }

    @Test
    fun `a cancelled wait for a frame ends, and the next result goes to the next wait`() =
        withCamera { camera ->
            val waiting = launch { camera.next() }
            delay(50)
            waiting.cancelAndJoin()
            camera.offer(red.i420())
            assertEquals("red", camera.label())
        }

    @Test
    fun `closing ends the flow of those who wait`() =
        withCamera { camera ->
            val waiting = async { camera.results.toList() }
            delay(50)
            camera.close()
            assertEquals(emptyList(), waiting.await())
        }

    @Test
    fun `a camera can be closed twice and is closed then`() =
        withCamera { camera ->
            camera.offer(red.i420())
            camera.close()
            val stats = camera.stats()
            camera.close()
            assertEquals(stats, camera.stats())
            assertNull(camera.next())
            assertFailsWith<NearsideException.Closed> { camera.offer(red.i420()) }
        }

    @Test
    fun `a camera can be closed from its own results`() =
        withCamera { camera ->
            withContext(Dispatchers.Unconfined) {
                camera.offer(red.i420())
                camera.results.collect { camera.close() }
            }
            assertEquals(1, camera.stats().delivered)
        }

    @Test
    fun `closing lets go of a producer that waits for room`() =
        withCamera(CameraPolicy.BLOCK_PRODUCER) { camera ->
            val producing =
                async(Dispatchers.IO) {
                    assertFailsWith<NearsideException.Closed> { while (true) camera.offer(red.i420()) }
                }
            delay(100)
            camera.close()
            producing.await()
            val stats = camera.stats()
            assertEquals(stats.offered, stats.delivered + stats.replaced + stats.failed)
        }

    @Test
    fun `a camera outlives its model's handle`() =
        waiting {
            val model = Nearside.openModel(Models.tiny)
            model.openCamera().use { camera ->
                model.close()
                camera.offer(red.i420())
                assertEquals("red", camera.label())
            }
        }

    private fun withCamera(
        policy: CameraPolicy = CameraPolicy.KEEP_ONLY_LATEST,
        block: suspend CoroutineScope.(Camera) -> Unit,
    ) = waiting {
        Nearside.openModel(Models.tiny).use { model -> model.openCamera(policy, top = 2).use { block(it) } }
    }

    private suspend fun Camera.label(): String = next().label()

    private fun CameraResult?.label(): String = assertIs<CameraResult.Classified>(this).labels.first().name

    private fun Plane.onHeap(): Plane {
        val bytes = ByteArray(buffer.remaining()).also { buffer.duplicate().get(it) }
        return Plane(ByteBuffer.wrap(byteArrayOf(1, 2, 3) + bytes).position(3), rowStride, pixelStride)
    }

    /** The tiny package with a normalisation that makes its scores overflow on bright pictures. */
    private fun overflowing(folder: File): File {
        Models.tiny.copyRecursively(folder, overwrite = true)
        val manifest = File(folder, "manifest.json")
        val text = manifest.readText()
        val changed = text.replace(Regex("\"std\": \\[[^]]*]"), "\"std\": [1e-40, 1e-40, 1e-40]")
        check(text != changed) { "the manifest has no std" }
        manifest.writeText(changed)
        return folder
    }
}
