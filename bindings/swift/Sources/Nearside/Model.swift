import Foundation
import NearsideBindings

/// An opened model package with its inference thread. Safe to use from any task.
///
/// It is closed when its last reference goes, or by `close()`.
public final class Model: Sendable {
  /// What is known of it. Stays readable after closing.
  public let info: ModelInfo

  private let native: NativeModel

  private init(_ native: NativeModel) {
    self.native = native
    info = native.info()
  }

  /// Opens the model package (a folder `NAME.nearside`) at `url`: checks it, loads a variant and runs it once.
  ///
  /// Works on a thread of the library. Cancelling the task gives up waiting, and what was loaded is freed.
  ///
  /// - Parameters:
  ///   - variant: The variant to load; the first that can run here if nil.
  ///   - threads: Threads for kernels, for the whole process: can only change while no model is open. If nil, one a
  ///     performance core, but one core at least is left to the app.
  /// - Throws: `NearsideError.invalidModel` if the package is missing, damaged or none; `.incompatible` or
  ///   `.backendUnavailable` if it can't run in this build; `.outOfMemory`; `.invalidInput` if `variant` or `threads`
  ///   can't be had; `CancellationError`.
  public static func open(
    at url: URL, variant: String? = nil, threads: Int? = nil
  ) async throws -> Model {
    let options = OpenOptions(variant: variant, threads: threads.map(Int32.init(clamping:)))
    return try await cancellable {
      Model(try await nativeOpenModel(path: url.path, options: options, cancellation: $0))
    }
  }

  /// Gives the `top` best labels of `photo`, best first, or all if there are fewer. Cancelling the task cancels the
  /// work unless it has reached the model.
  ///
  /// - Throws: `NearsideError.invalidInput` if `top` is not positive; `.closed` if the model is closed, before or
  ///   meanwhile; `CancellationError`.
  public func classify(_ photo: Photo, top: Int = 5) async throws -> Classification {
    let top = Int32(clamping: top)
    return try await cancellable { [native] in
      try await native.classify(photo: photo.native, top: top, cancellation: $0)
    }
  }

  /// Opens a camera pipeline that gives the `top` best labels a frame. It keeps the model's threads and memory until it
  /// is closed itself.
  ///
  /// - Throws: `NearsideError.invalidInput` if `top` is not positive; `.closed` if the model is closed.
  public func openCamera(
    policy: CameraPolicy = .keepOnlyLatest, top: Int = 5
  ) throws -> Camera {
    let config = CameraConfig(policy: policy, top: Int32(clamping: top))
    return Camera(try translating { try native.openCamera(config: config) })
  }

  /// Takes no more work, ends what waits with `NearsideError.closed`, and waits for the threads to end: at most for the
  /// run that is under way. Closing again changes nothing. Open cameras go on until they are closed.
  public func close() {
    native.shutDown()
  }
}
