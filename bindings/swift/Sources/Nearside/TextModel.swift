import Foundation
import NearsideBindings

/// An opened language model with its inference thread. Safe to use from any task. It has one KV cache, on which its
/// sessions take turns. It is closed when its last reference and those of its sessions go, or by `close()`.
public final class TextModel: Sendable {
  /// What is known of it. Stays readable after closing.
  public let info: TextModelInfo

  /// How it samples unless a request says otherwise.
  public let defaults: SamplingOptions

  private let native: NativeTextModel

  private init(_ native: NativeTextModel) {
    self.native = native
    info = native.info()
    defaults = native.defaults()
  }

  /// Opens the package of a language model at `url`. Parameters and errors are those of `Model.open`; `draft` is the
  /// package of a smaller model with the same tokenizer, for `Speculation.draft`.
  public static func open(
    at url: URL, draft: URL? = nil, variant: String? = nil, threads: Int? = nil,
    minCoverage: Double? = nil, delegates: Set<String>? = nil, memoryBudgetBytes: Int? = nil,
    delegateOptions: [DelegateOption] = []
  ) async throws -> TextModel {
    let options = OpenOptions(
      variant: variant, threads: threads.map(Int32.init(clamping:)), minCoverage: minCoverage,
      delegates: delegates?.sorted(),
      memoryBudgetBytes: memoryBudgetBytes.map(Int64.init(clamping:)),
      delegateOptions: delegateOptions)
    return try await cancellable {
      TextModel(
        try await nativeOpenTextModel(
          path: url.path, draft: draft?.path, options: options, cancellation: $0))
    }
  }

  /// A session in which nothing was said yet, whose conversation begins with the `system` prompt if there is one.
  ///
  /// - Throws: `NearsideError.closed` if the model is closed.
  public func session(system: String? = nil) throws -> TextSession {
    TextSession(try translating { try native.session(system: system) })
  }

  /// Reads a session that `TextSession.save` wrote. Its `system` prompt is only of use if nothing was answered in it.
  ///
  /// - Throws: `NearsideError.invalidInput` if it can't be read, is damaged or of another model.
  public func openSession(at url: URL, system: String? = nil) async throws -> TextSession {
    try await cancellable { [native] in
      TextSession(
        try await native.openSession(path: url.path, system: system, cancellation: $0))
    }
  }

  /// Tells how hot the device is, for the statistics of answers that begin from now on.
  public func setThermalState(_ state: ThermalState?) async throws {
    try await cancellable { [native] in
      try await native.setThermalState(state: state, cancellation: $0)
    }
  }

  /// Closes its sessions, which ends their answers with `NearsideError.closed`, and waits for its thread, at most for the
  /// call of the program that is under way. Closing again changes nothing.
  public func close() {
    native.shutDown()
  }
}
