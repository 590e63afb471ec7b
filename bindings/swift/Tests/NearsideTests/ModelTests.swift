import Foundation
import Nearside
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ModelTests {
  @Test func anOpenedModelSaysWhatItIs() async throws {
    let model = try await Model.open(at: Models.tiny)
    #expect(model.info.name == "tiny-classifier")
    #expect(model.info.variant == "xnnpack-fp32")
    #expect(model.info.delegates == ["XnnpackBackend"])
    #expect(model.info.inputWidth == 32)
    #expect(model.info.inputHeight == 32)
    #expect(model.info.classes == 4)
    #expect(model.info.loadMs > 0)
  }

  @Test func theBestLabelsComeFirstWithProbabilitiesAndTimes() async throws {
    let model = try await Model.open(at: Models.tiny)
    let photo = try await Photo.decode(bmp(.green))
    let result = try await model.classify(photo, top: 4)
    #expect(result.labels.first?.name == "green")
    #expect(result.labels.first?.index == 1)
    #expect(Set(result.labels.map(\.name)) == ["red", "green", "blue", "grey"])
    #expect(result.labels.map(\.score) == result.labels.map(\.score).sorted(by: >))
    #expect(abs(result.labels.map(\.score).reduce(0, +) - 1) < 1e-3)
    #expect(result.timings.preprocessMs > 0)
    #expect(result.timings.inferenceMs > 0)
  }

  @Test func asManyLabelsComeAsWereAskedFor() async throws {
    let model = try await Model.open(at: Models.tiny)
    #expect(try await model.classify(try await Photo.decode(bmp(.red)), top: 2).labels.count == 2)
  }

  @Test func noLabelsAtAllIsAnInvalidInput() async throws {
    let model = try await Model.open(at: Models.tiny)
    let photo = try await Photo.decode(bmp(.red))
    for top in [0, -1] {
      #expect(await failure { try await model.classify(photo, top: top) }?.isInvalidInput == true)
      #expect(await failure { try model.openCamera(top: top) }?.isInvalidInput == true)
    }
  }

  @Test func manyPhotosAtOnceAllGetTheirOwnLabels() async throws {
    let model = try await Model.open(at: Models.tiny)
    var photos: [(photo: Photo, name: String)] = []
    for (color, name) in [(Color.red, "red"), (.green, "green"), (.blue, "blue"), (.grey, "grey")] {
      photos.append((try await Photo.decode(bmp(color)), name))
    }
    try await withThrowingTaskGroup(of: (String?, String).self) { [photos] group in
      for index in 0..<200 {
        let (photo, name) = photos[index % photos.count]
        group.addTask { (try await model.classify(photo, top: 1).labels.first?.name, name) }
      }
      for try await (found, expected) in group {
        #expect(found == expected)
      }
    }
  }

  @Test func aMissingPackageIsNamed() async throws {
    let nowhere = URL(fileURLWithPath: "nowhere.nearside")
    let error = try #require(await failure { try await Model.open(at: nowhere) })
    #expect(error.isInvalidModel)
    #expect(error.detail.contains("nowhere.nearside"))
    #expect(!error.hint.isEmpty)
    #expect(error.localizedDescription == error.detail)
  }

  @Test func aManifestThatIsPlainTextIsRefused() async throws {
    try await withTemporaryFolder { folder in
      let manifest = folder.appendingPathComponent("manifest.json")
      try Data("This is no manifest.".utf8).write(to: manifest)
      let error = try #require(await failure { try await Model.open(at: folder) })
      #expect(error.isInvalidModel)
      #expect(error.detail.contains("manifest.json"))
    }
  }

  @Test func aProgramThatWasChangedIsRefused() async throws {
    let change = { (package: URL) in
      let program = package.appendingPathComponent("xnnpack-fp32.pte")
      var bytes = try Data(contentsOf: program)
      bytes[bytes.count / 2] ^= 1
      try bytes.write(to: program)
    }
    try await withChangedPackage(change) { package in
      #expect(await failure { try await Model.open(at: package) }?.isInvalidModel == true)
    }
  }

  @Test func aVariantThatIsNotThereIsAnInvalidInputThatListsTheOthers() async throws {
    let opening = await failure { try await Model.open(at: Models.tiny, variant: "coreml") }
    let error = try #require(opening)
    #expect(error.isInvalidInput)
    #expect(error.detail.contains("xnnpack-fp32"))
  }

  @Test func aModelCanBeClosedTwiceAndIsClosedThen() async throws {
    let model = try await Model.open(at: Models.tiny)
    let photo = try await Photo.decode(bmp(.red))
    model.close()
    model.close()
    #expect(await failure { try await model.classify(photo) }?.isClosed == true)
    #expect(await failure { try model.openCamera() }?.isClosed == true)
    #expect(model.info.name == "tiny-classifier")
  }

  @Test func closingEndsWhatWaits() async throws {
    let model = try await Model.open(at: Models.efficientnet)
    let photo = try await Photo.decode(bmp(.red))
    let waiting = (0..<30).map { _ in Task { try await model.classify(photo) } }
    _ = try await waiting[0].value
    model.close()
    var closed = 0
    for task in waiting {
      if case .failure(let error) = await task.result {
        #expect((error as? NearsideError)?.isClosed == true, "\(error)")
        closed += 1
      }
    }
    #expect(closed > 0, "30 photos were done before the model was closed")
  }

  @Test func aCancelledTaskStopsWaitingAndTheModelGoesOn() async throws {
    let model = try await Model.open(at: Models.efficientnet)
    let photo = try await Photo.decode(bmp(.red))
    let first = Task { try await model.classify(photo, top: 1) }
    let others = (0..<40).map { _ in Task { try await model.classify(photo) } }
    let labels = try await first.value.labels
    for task in others { task.cancel() }
    var cancelled = 0
    for task in others {
      if case .failure(let error) = await task.result {
        #expect(error is CancellationError, "\(error)")
        cancelled += 1
      }
    }
    #expect(cancelled > 0, "40 photos were done before they were cancelled")
    #expect(try await model.classify(photo, top: 1).labels == labels)
  }

  @Test func openingCanBeCancelled() async throws {
    let opening = Task { try await Model.open(at: Models.efficientnet) }
    opening.cancel()
    await #expect(throws: CancellationError.self) { try await opening.value }
  }
}
