import Foundation
import NearsideBindings

/// A decoded photo: 8-bit RGB and upright by its EXIF orientation. It can be classified any number of times.
public final class Photo: Sendable {
  let native: NativePhoto

  private init(_ native: NativePhoto) {
    self.native = native
  }

  /// Width in pixels, upright.
  public var width: Int { Int(native.width()) }

  /// Height in pixels, upright.
  public var height: Int { Int(native.height()) }

  /// Decodes the bytes of a JPEG, PNG, WebP, GIF or BMP file, which are read in place, off the caller's actor.
  ///
  /// - Throws: `NearsideError.invalidInput` if they are no such file, damaged or too large.
  public static func decode(_ bytes: Data) async throws -> Photo {
    try requireCountable(bytes)
    return Photo(try translating { try nativeDecodePhoto(bytes: bytes) })
  }

  /// Reads and decodes an image file on a thread of the library.
  ///
  /// - Throws: `NearsideError.invalidInput` if it can't be read, is no such file, damaged or too large;
  ///   `CancellationError`.
  public static func open(at url: URL) async throws -> Photo {
    try await cancellable {
      Photo(try await nativeOpenPhoto(path: url.path, cancellation: $0))
    }
  }
}
