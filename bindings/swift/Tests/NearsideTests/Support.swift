import Foundation
import Nearside
import Testing

/// The packages and photos of `models/`.
enum Models {
  private static let folder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent()
    .appendingPathComponent("../../../../models")
    .standardizedFileURL

  /// Tells red, green, blue and grey apart: 32x32, a kilobyte of weights.
  static let tiny = folder.appendingPathComponent("fixtures/tiny-classifier.nearside")

  /// The same as two variants, `xnnpack-fp32` and `portable-fp32`, with their weights in data files.
  static let variants = folder.appendingPathComponent("fixtures/tiny-variants.nearside")

  /// A pretrained network of a thousand classes.
  static let efficientnet = folder.appendingPathComponent("efficientnet-lite0.nearside")

  /// A language model with random weights, 320 tokens and a context of 96.
  static let llama = folder.appendingPathComponent("fixtures/tiny-llama.nearside")

  static func media(_ name: String) -> URL {
    folder.appendingPathComponent("media/\(name)")
  }
}

/// A folder that is removed after `body`.
func withTemporaryFolder<T>(_ body: (URL) async throws -> T) async throws -> T {
  let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  return try await body(folder)
}

/// The tiny package, copied and changed by `change`.
func withChangedPackage<T>(
  _ change: (URL) throws -> Void, _ body: (URL) async throws -> T
) async throws -> T {
  try await withTemporaryFolder { folder in
    let package = folder.appendingPathComponent("changed.nearside")
    try FileManager.default.copyItem(at: Models.tiny, to: package)
    try change(package)
    return try await body(package)
  }
}

struct Color {
  let red, green, blue: UInt8

  static let red = Color(red: 255, green: 0, blue: 0)
  static let green = Color(red: 0, green: 255, blue: 0)
  static let blue = Color(red: 0, green: 0, blue: 255)
  static let grey = Color(red: 128, green: 128, blue: 128)
  static let white = Color(red: 255, green: 255, blue: 255)
}

/// A picture of one colour, as the bytes of a 24-bit BMP file.
func bmp(_ color: Color, width: Int = 64, height: Int = 48) -> Data {
  let rowStride = (width * 3 + 3) / 4 * 4
  var file = Data("BM".utf8)
  func append(_ value: Int, bytes: Int) {
    for byte in 0..<bytes {
      file.append(UInt8(truncatingIfNeeded: value >> (8 * byte)))
    }
  }
  // File header: size, reserved, offset of the pixels. Picture header: its size, width, height, planes, bits, then six
  // fields that may be zero.
  for value in [54 + rowStride * height, 0, 54, 40, width, height] { append(value, bytes: 4) }
  for value in [1, 24] { append(value, bytes: 2) }
  for _ in 0..<6 { append(0, bytes: 4) }
  for _ in 0..<height {
    for _ in 0..<width { file.append(contentsOf: [color.blue, color.green, color.red]) }
    file.append(contentsOf: [UInt8](repeating: 0, count: rowStride - width * 3))
  }
  return file
}

/// What `call` throws. Nothing, or anything but a `NearsideError`, fails the test.
func failure<T>(of call: () async throws -> T) async -> NearsideError? {
  do {
    _ = try await call()
    Issue.record("nothing was thrown")
  } catch let error as NearsideError {
    return error
  } catch {
    Issue.record(error)
  }
  return nil
}

extension NearsideError {
  var isInvalidModel: Bool {
    if case .invalidModel = self { true } else { false }
  }

  var isBackendUnavailable: Bool {
    if case .backendUnavailable = self { true } else { false }
  }

  var isOutOfMemory: Bool {
    if case .outOfMemory = self { true } else { false }
  }

  var isInvalidInput: Bool {
    if case .invalidInput = self { true } else { false }
  }

  var isClosed: Bool {
    if case .closed = self { true } else { false }
  }
}

/// Runs blocking work on a thread of its own: Swift's pool must not wait.
func onAThread(_ work: @escaping @Sendable () throws -> Void) async throws {
  try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
    Thread.detachNewThread {
      done.resume(with: Result(catching: work))
    }
  }
}
