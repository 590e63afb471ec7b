import Foundation
import Nearside
import Testing

@Suite(.timeLimit(.minutes(1)))
struct PhotoTests {
  @Test func aPhotoHasItsSize() async throws {
    let photo = try await Photo.decode(bmp(.red, width: 30, height: 20))
    #expect(photo.width == 30)
    #expect(photo.height == 20)
  }

  @Test func bytesASliceAndAFileOfTheSamePhotoGiveTheSameLabels() async throws {
    try await withTemporaryFolder { folder in
      let bytes = bmp(Color(red: 200, green: 30, blue: 40))
      let file = folder.appendingPathComponent("red.bmp")
      try bytes.write(to: file)
      let padded = Data(repeating: 7, count: 100) + bytes
      let model = try await Model.open(at: Models.tiny)
      let expected = try await model.classify(try await Photo.decode(bytes)).labels
      #expect(expected.first?.name == "red")
      for photo in [try await Photo.decode(padded[100...]), try await Photo.open(at: file)] {
        #expect(try await model.classify(photo).labels == expected)
      }
    }
  }

  @Test func moreBytesThanTheBridgeCanCountAreAnInvalidInput() async throws {
    let count = Int(Int32.max) + 1
    // Address space only: never touched.
    let memory = mmap(nil, count, PROT_NONE, MAP_PRIVATE | MAP_ANON | MAP_NORESERVE, -1, 0)
    let address = try #require(memory)
    try #require(address != MAP_FAILED)
    defer { munmap(address, count) }
    let bytes = Data(bytesNoCopy: address, count: count, deallocator: .none)
    #expect(await failure { try await Photo.decode(bytes) }?.isInvalidInput == true)
  }

  @Test func textNoBytesAndAMissingFileAreInvalidInputs() async throws {
    for bytes in [Data("no photo".utf8), Data()] {
      #expect(await failure { try await Photo.decode(bytes) }?.isInvalidInput == true)
    }
    let missing = URL(fileURLWithPath: "missing.jpg")
    let error = try #require(await failure { try await Photo.open(at: missing) })
    #expect(error.isInvalidInput)
    #expect(error.detail.contains("missing.jpg"))
  }
}
