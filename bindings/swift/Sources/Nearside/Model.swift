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
  /// What is demanded is checked before anything is loaded. Where it leaves a choice, the first variant is taken that
  /// can run here and meets it; an error lists the operators that stayed outside delegates, and names every variant that
  /// was passed over.
  ///
  /// - Parameters:
  ///   - variant: The variant to load; the first that can run here and meets the demands if nil.
  ///   - threads: Threads for kernels, for the whole process: can only change while no model is open. If nil, one a
  ///     performance core, but one core at least is left to the app.
  ///   - minCoverage: The least share of operator calls that must run in delegates, 0 to 1; any if nil. Compared with
  ///     `ModelInfo.coverage` as the program tells it: one whose delegates do not tell what is in them meets no demand
  ///     above 0, unless nothing is left outside.
  ///   - delegates: Ids of the delegates that the model may use, such as `XnnpackBackend`: it must use one of them, and
  ///     no other. Any, or none, if nil.
  ///   - memoryBudgetBytes: The most memory that this model may take, whatever else the process holds: its
  ///     `MemoryInfo.totalBytes`. No limit if nil.
  ///   - delegateOptions: Options of delegates, such as `DelegateOption(delegate: "xnnpack",
  ///     option: "workspace_sharing_mode", value: "per-model")`. Those of delegates that the model does not use are
  ///     ignored.
  /// - Throws: `NearsideError.invalidModel` if the package is missing, damaged or none; `.incompatible` or
  ///   `.backendUnavailable` if it can't run in this build, or not in delegates as far as was demanded; `.outOfMemory` if
  ///   it does not fit into memory, or not into the budget; `.invalidInput` if `variant` or `threads` can't be had, or an
  ///   argument is out of range; `CancellationError`.
  public static func open(
    at url: URL, variant: String? = nil, threads: Int? = nil, minCoverage: Double? = nil,
    delegates: Set<String>? = nil, memoryBudgetBytes: Int? = nil,
    delegateOptions: [DelegateOption] = []
  ) async throws -> Model {
    let options = OpenOptions(
      variant: variant, threads: threads.map(Int32.init(clamping:)), minCoverage: minCoverage,
      delegates: delegates?.sorted(),
      memoryBudgetBytes: memoryBudgetBytes.map(Int64.init(clamping:)),
      delegateOptions: delegateOptions)
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
