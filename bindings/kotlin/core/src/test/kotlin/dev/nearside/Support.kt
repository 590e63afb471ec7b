package dev.nearside

import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import java.awt.Color
import java.awt.image.BufferedImage
import java.io.ByteArrayOutputStream
import java.io.File
import java.nio.ByteBuffer
import javax.imageio.ImageIO
import kotlin.time.Duration.Companion.seconds

/** The packages and photos of `models/`, which the build names in a system property. */
object Models {
    private val folder = File(checkNotNull(System.getProperty("nearside.models")) { "run the tests with Maven" })

    /** Tells red, green, blue and grey apart: 32x32, a kilobyte of weights. */
    val tiny = File(folder, "fixtures/tiny-classifier.nearside")

    /** The same as two variants, `xnnpack-fp32` and `portable-fp32`, with their weights in data files. */
    val variants = File(folder, "fixtures/tiny-variants.nearside")

    /** A pretrained network of a thousand classes. */
    val efficientnet = File(folder, "efficientnet-lite0.nearside")

    /** A language model with random weights, 320 tokens and a context of 96. */
    val llama = File(folder, "fixtures/tiny-llama.nearside")

    fun media(name: String) = File(folder, "media/$name")
}

/** Runs [block], and fails rather than hang. */
fun waiting(block: suspend CoroutineScope.() -> Unit) = runBlocking { withTimeout(60.seconds) { block() } }

/** A picture of one colour, as the bytes of a PNG file. */
fun png(
    color: Color,
    width: Int = 64,
    height: Int = 48,
): ByteArray = encoded(plain(color, width, height), "png")

fun plain(
    color: Color,
    width: Int = 64,
    height: Int = 48,
): BufferedImage =
    BufferedImage(width, height, BufferedImage.TYPE_INT_RGB).also { image ->
        image.createGraphics().apply {
            this.color = color
            fillRect(0, 0, width, height)
            dispose()
        }
    }

fun encoded(
    image: BufferedImage,
    format: String,
): ByteArray = ByteArrayOutputStream().also { ImageIO.write(image, format, it) }.toByteArray()

/** A direct buffer of these bytes. */
fun direct(bytes: ByteArray): ByteBuffer = ByteBuffer.allocateDirect(bytes.size).put(bytes).flip()
