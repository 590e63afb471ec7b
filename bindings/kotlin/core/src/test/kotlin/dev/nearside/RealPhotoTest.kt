package dev.nearside

import javax.imageio.ImageIO
import kotlin.test.Test
import kotlin.test.assertContains
import kotlin.test.assertEquals
import kotlin.test.assertIs

/** A pretrained network on photos of things that it knows. */
class RealPhotoTest {
    @Test
    fun `a cup of coffee is an espresso, from a file and from its bytes`() =
        waiting {
            Nearside.openModel(Models.efficientnet).use { model ->
                val file = Models.media("coffee.jpg")
                val opened = Photo.open(file).use { model.classify(it).labels }
                val decoded = Photo.decode(file.readBytes()).use { model.classify(it).labels }
                assertContains(opened.first().name, "espresso")
                assertEquals(opened, decoded)
            }
        }

    @Test
    fun `a tabby cat is one`() =
        waiting {
            Nearside.openModel(Models.efficientnet).use { model ->
                val labels = Photo.open(Models.media("chelsea.jpg")).use { model.classify(it, top = 3).labels }
                assertContains(labels.first().name, "cat")
            }
        }

    @Test
    fun `the same photo as camera frames gives the same label with nearly the same score`() =
        waiting {
            Nearside.openModel(Models.efficientnet).use { model ->
                val file = Models.media("coffee.jpg")
                val expected = Photo.open(file).use { model.classify(it, top = 1).labels.single() }
                val yuv = Yuv(ImageIO.read(file))
                model.openCamera(top = 1).use { camera ->
                    for (frame in listOf(yuv.i420(), yuv.i420(padding = 13), yuv.nv12(), yuv.nv12(padding = 32))) {
                        camera.offer(frame)
                        val label = assertIs<CameraResult.Classified>(camera.next()).labels.single()
                        assertEquals(expected.name, label.name)
                        assertEquals(expected.score, label.score, 0.02f)
                    }
                }
            }
        }
}
