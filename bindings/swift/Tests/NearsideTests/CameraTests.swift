import Foundation
import Nearside
import Testing

@Suite(.timeLimit(.minutes(1)))
struct CameraTests {
  private let red = Yuv(.red)
  private let blue = Yuv(.blue)

  @Test func paddedI420Nv12AndP010FramesGetTheirLabels() async throws {
    let camera = try await tinyCamera()
    let frames = [
      (red.i420(), "red"), (blue.i420(padding: 7), "blue"),
      (red.nv12(), "red"), (blue.nv12(padding: 3), "blue"),
      (red.p010(), "red"), (blue.p010(), "blue"),
    ]
    for (frame, expected) in frames {
      try camera.offer(frame)
      #expect(try await label(of: camera) == expected)
    }
  }

  @Test func framesInMemoryOfOthersAreReadInPlace() async throws {
    let camera = try await tinyCamera()
    let (width, height) = (40, 30)
    let pixels = [UInt8]((0..<width * height).flatMap { _ in [255, 0, 0, 255] as [UInt8] })
    for (format, expected) in [(PackedFormat.rgba, "red"), (.bgra, "blue")] {
      try pixels.withUnsafeBytes { bytes in
        let plane = Plane(unsafe: bytes, rowStride: width * 4, pixelStride: 4)
        try camera.offer(PackedFrame(format: format, width: width, height: height, plane: plane))
      }
      #expect(try await label(of: camera) == expected)
    }
  }

  @Test func packedPixelsOfEveryOrderAndWidthGetTheirLabels() async throws {
    let camera = try await tinyCamera()
    let (width, height) = (40, 30)
    let pixels: [(PackedFormat, [UInt8], String)] = [
      (.argb, [9, 255, 0, 0], "red"), (.argb, [9, 0, 0, 255], "blue"),
      (.rgb, [255, 0, 0], "red"), (.bgr, [255, 0, 0], "blue"),
      (.rgb565, [0x00, 0xF8], "red"), (.rgb565, [0x1F, 0x00], "blue"),
    ]
    for (format, pixel, expected) in pixels {
      let bytes = Data((0..<width * height).flatMap { _ in pixel })
      let plane = Plane(bytes, rowStride: width * pixel.count, pixelStride: pixel.count)
      try camera.offer(PackedFrame(format: format, width: width, height: height, plane: plane))
      #expect(try await label(of: camera) == expected, "\(format)")
    }
    let grey = Plane(Data(count: width * height), rowStride: width)
    try camera.offer(PackedFrame(format: .gray8, width: width, height: height, plane: grey))
    _ = try await classified(by: camera)
  }

  @Test func everyMatrixAndSitingIsTaken() async throws {
    let camera = try await tinyCamera()
    for matrix in [YuvMatrix.bt601, .bt709, .bt2020] {
      for siting in [ChromaSiting.center, .left] {
        let attributes = FrameAttributes(matrix: matrix, chromaSiting: siting)
        try camera.offer(red.i420(attributes: attributes))
        #expect(try await label(of: camera) == "red")
      }
    }
  }

  @Test func cropRotationAndTimestampAreHonoured() async throws {
    let camera = try await tinyCamera()
    // Left half red, right half blue.
    let row = (0..<64).flatMap { $0 < 32 ? [255, 0, 0] : [0, 0, 255] as [UInt8] }
    let pixels = Data((0..<48).flatMap { _ in row })
    let right = FrameAttributes(
      timestampNs: 42, rotation: .r90, crop: Rect(x: 32, y: 0, width: 32, height: 48))
    try camera.offer(
      PackedFrame(
        format: .rgb, width: 64, height: 48, plane: Plane(pixels, rowStride: 192, pixelStride: 3),
        attributes: right))
    let result = try await classified(by: camera)
    #expect(result.labels.first?.name == "blue")
    #expect(result.timestampNs == 42)
    #expect(result.frame == 0)
  }

  @Test func aPlaneThatIsTooShortIsAnInvalidInputAndCountsAsFailed() async throws {
    let camera = try await tinyCamera()
    var frame = red.i420()
    frame.y = Plane(frame.y.bytes.prefix(100), rowStride: frame.y.rowStride)
    let error = try #require(await failure { try camera.offer(frame) })
    #expect(error.isInvalidInput)
    #expect(error.detail.contains("100"))
    #expect(camera.stats.offered == 1)
    #expect(camera.stats.failed == 1)
    try camera.offer(red.i420())
    #expect(try await label(of: camera) == "red")
  }

  @Test func negativeAndHugeSizesAreInvalidInputs() async throws {
    let camera = try await tinyCamera()
    for width in [-1, Int.max] {
      var frame = red.i420()
      frame.width = width
      #expect(await failure { try camera.offer(frame) }?.isInvalidInput == true)
    }
  }

  @Test func aFrameThatFailsLaterArrivesAsAResultAndTheStreamGoesOn() async throws {
    // A normalisation that makes the scores overflow on bright pictures.
    let change = { (package: URL) in
      let manifest = package.appendingPathComponent("manifest.json")
      let text = try String(contentsOf: manifest, encoding: .utf8)
      let changed = text.replacing(
        try Regex(#""std": \[[^\]]*\]"#), with: #""std": [1e-40, 1e-40, 1e-40]"#)
      #expect(changed != text)
      try Data(changed.utf8).write(to: manifest)
    }
    try await withChangedPackage(change) { package in
      let camera = try await Model.open(at: package).openCamera()
      for number in 0..<2 {
        try camera.offer(Yuv(.white).i420())
        guard case .failed(let frame, _, .invalidModel) = await camera.next() else {
          Issue.record("frame \(number) did not fail")
          return
        }
        #expect(frame == number)
      }
    }
  }

  @Test func theSequenceGivesEveryFrameThatWaitedForRoom() async throws {
    let camera = try await tinyCamera(.blockProducer)
    let names = Task {
      var names: [String?] = []
      for await case .classified(let result) in camera.results {
        names.append(result.labels.first?.name)
      }
      return names
    }
    try await onAThread {
      for number in 0..<20 {
        try camera.offer((number % 2 == 0 ? red : blue).i420())
      }
    }
    camera.finish()
    #expect(await names.value == (0..<20).map { $0 % 2 == 0 ? "red" : "blue" })
    #expect(camera.stats.delivered == 20)
  }

  @Test func aSlowLoopGetsTheLatestFramesAndAllAreAccountedFor() async throws {
    let camera = try await Model.open(at: Models.efficientnet).openCamera()
    let collected = Task {
      var frames: [Int64] = []
      for await case .classified(let result) in camera.results {
        frames.append(result.frame)
        try await Task.sleep(for: .milliseconds(20))
      }
      return frames
    }
    let frame = red.nv12()
    for _ in 0..<200 {
      try camera.offer(frame)
      try await Task.sleep(for: .milliseconds(1))
    }
    camera.finish()
    let frames = try await collected.value
    let stats = camera.close()
    #expect(frames == Array(Set(frames)).sorted())
    #expect(frames.last == 199, "the latest frame is never given up")
    #expect(stats.offered == 200)
    #expect(stats.delivered == Int64(frames.count))
    #expect(stats.replaced > 0)
    #expect(stats.offered == stats.delivered + stats.replaced + stats.failed)
    #expect(try #require(stats.latency).endToEnd.p50Ms > 0)
  }

  @Test func resultsThatNobodyTookCountAsReplaced() async throws {
    let camera = try await tinyCamera()
    for _ in 0..<10 {
      try camera.offer(red.i420())
    }
    let stats = camera.close()
    #expect(stats.offered == 10)
    #expect(stats.replaced == 10)
  }

  @Test func aLoopThatIsLeftEarlyLeavesTheCameraOpen() async throws {
    let camera = try await tinyCamera()
    try camera.offer(red.i420())
    for await _ in camera.results {
      break
    }
    try camera.offer(blue.i420())
    #expect(try await label(of: camera) == "blue")
  }

  @Test func aCancelledWaitForAFrameEndsAndTheNextResultGoesToTheNextWait() async throws {
    let camera = try await tinyCamera()
    let waiting = Task { await camera.next() }
    try await Task.sleep(for: .milliseconds(50))
    waiting.cancel()
    #expect(await waiting.value == nil, "nobody offered a frame")
    try camera.offer(red.i420())
    #expect(try await label(of: camera) == "red")
  }

  @Test func closingEndsTheSequenceOfThoseWhoWait() async throws {
    let camera = try await tinyCamera()
    let waiting = Task {
      var count = 0
      for await _ in camera.results { count += 1 }
      return count
    }
    try await Task.sleep(for: .milliseconds(50))
    camera.close()
    #expect(await waiting.value == 0)
  }

  @Test func aCameraCanBeClosedTwiceAndIsClosedThen() async throws {
    let camera = try await tinyCamera()
    try camera.offer(red.i420())
    let stats = camera.close()
    #expect(camera.close() == stats)
    #expect(camera.stats == stats)
    #expect(await camera.next() == nil)
    #expect(await failure { try camera.offer(red.i420()) }?.isClosed == true)
  }

  @Test func closingLetsGoOfAProducerThatWaitsForRoom() async throws {
    let camera = try await tinyCamera(.blockProducer)
    let producing = Task {
      await failure { try await onAThread { while true { try camera.offer(red.i420()) } } }
    }
    try await Task.sleep(for: .milliseconds(100))
    let stats = camera.close()
    #expect(await producing.value?.isClosed == true)
    #expect(stats.offered == stats.delivered + stats.replaced + stats.failed)
  }

  @Test func aCameraOutlivesItsModel() async throws {
    let camera = try await tinyCamera()
    try camera.offer(red.i420())
    #expect(try await label(of: camera) == "red")
  }

  private func tinyCamera(_ policy: CameraPolicy = .keepOnlyLatest) async throws -> Camera {
    let model = try await Model.open(at: Models.tiny)
    return try model.openCamera(policy: policy, top: 2)
  }

  private func label(of camera: Camera) async throws -> String? {
    try await classified(by: camera).labels.first?.name
  }

  private func classified(by camera: Camera) async throws -> FrameClassification {
    guard case .classified(let result) = try #require(await camera.next()) else {
      throw UnexpectedResult()
    }
    return result
  }
}

struct UnexpectedResult: Error {}
