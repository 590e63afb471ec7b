import Foundation
import Nearside
import Testing

/// A pretrained network on pictures of things that it knows.
@Suite(.timeLimit(.minutes(1)))
struct RealMediaTests {
  @Test func aCupOfCoffeeIsAnEspressoFromAFileAndFromItsBytes() async throws {
    let model = try await Model.open(at: Models.efficientnet)
    let file = Models.media("coffee.jpg")
    let opened = try await model.classify(try await Photo.open(at: file)).labels
    let decoded = try await model.classify(try await Photo.decode(Data(contentsOf: file))).labels
    #expect(opened.first?.name.contains("espresso") == true)
    #expect(opened == decoded)
  }

  @Test func aTabbyCatIsOne() async throws {
    let model = try await Model.open(at: Models.efficientnet)
    let photo = try await Photo.open(at: Models.media("chelsea.jpg"))
    #expect(try await model.classify(photo).labels.first?.name.contains("cat") == true)
  }

  @Test func aCorruptJpegIsAnInvalidInput() async throws {
    let bytes = try Data(contentsOf: Models.media("coffee.jpg"))
    let part = bytes.prefix(bytes.count / 3)
    let error = try #require(await failure { try await Photo.decode(part) })
    #expect(error.isInvalidInput)
    #expect(error.detail.contains("JPEG"))
  }

  @Test func everyFrameOfTheClipGetsALabel() async throws {
    let clip = try Clip(contentsOf: Models.media("clip.y4m"))
    let model = try await Model.open(at: Models.efficientnet)
    let camera = try model.openCamera(policy: .blockProducer, top: 1)
    let results = Task {
      var results: [FrameClassification] = []
      for await case .classified(let result) in camera.results { results.append(result) }
      return results
    }
    try await onAThread {
      for frame in clip.frames { try camera.offer(frame) }
    }
    camera.finish()
    let classified = await results.value
    #expect(classified.map(\.timestampNs) == clip.frames.map(\.attributes.timestampNs))
    #expect(classified.allSatisfy { $0.labels.count == 1 && $0.timings.inferenceMs > 0 })
    let stats = camera.close()
    #expect(stats.offered == Int64(clip.frames.count))
    #expect(stats.delivered == stats.offered)
  }
}

/// A YUV4MPEG2 file in 4:2:0, read whole: a line of text, then `FRAME` and the planes for each frame.
struct Clip {
  let frames: [YuvFrame]

  struct Malformed: Error {}

  init(contentsOf url: URL) throws {
    let file = try Data(contentsOf: url)
    guard let headerEnd = file.firstIndex(of: 0x0A) else { throw Malformed() }
    let header = String(decoding: file[..<headerEnd], as: UTF8.self).split(separator: " ")
    func number(_ tag: Character) throws -> Int {
      guard let field = header.dropFirst().first(where: { $0.first == tag }),
        let value = Int(field.dropFirst().prefix(while: \.isNumber))
      else { throw Malformed() }
      return value
    }
    guard header.first == "YUV4MPEG2", header.contains(where: { $0.hasPrefix("C420") }) else {
      throw Malformed()
    }
    let (width, height, rate) = (try number("W"), try number("H"), try number("F"))
    let chromaWidth = (width + 1) / 2
    let (luma, chroma) = (width * height, chromaWidth * ((height + 1) / 2))
    var frames: [YuvFrame] = []
    var rest = file[(headerEnd + 1)...]
    while let lineEnd = rest.firstIndex(of: 0x0A) {
      let planes = rest[(lineEnd + 1)...]
      guard rest.starts(with: Data("FRAME".utf8)), planes.count >= luma + 2 * chroma else {
        throw Malformed()
      }
      let u = planes.dropFirst(luma)
      let v = u.dropFirst(chroma)
      frames.append(
        YuvFrame(
          width: width, height: height,
          y: Plane(planes.prefix(luma), rowStride: width),
          u: Plane(u.prefix(chroma), rowStride: chromaWidth),
          v: Plane(v.prefix(chroma), rowStride: chromaWidth),
          attributes: FrameAttributes(
            timestampNs: Int64(frames.count) * 1_000_000_000 / Int64(rate))))
      rest = v.dropFirst(chroma)
    }
    self.frames = frames
  }
}
