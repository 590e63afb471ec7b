import Foundation
import NearsideBindings

/// Why a call failed: one case a kind, each with what is wrong (`detail`) and what to do about it (`hint`).
public enum NearsideError: Error, Hashable, Sendable {
  /// The model package is missing, damaged or none.
  case invalidModel(detail: String, hint: String)
  /// The package is sound, but asks for what this build can't do.
  case incompatible(detail: String, hint: String)
  /// A delegate that the model needs is not linked or can't run on this device, or too little of the model runs in
  /// delegates.
  case backendUnavailable(detail: String, hint: String)
  /// Memory ran out, or the model takes more than it may.
  case outOfMemory(detail: String, hint: String)
  /// An argument, a photo or a frame is not usable.
  case invalidInput(detail: String, hint: String)
  /// Not used: a full context is an event and a reason of the end.
  case contextFull(detail: String, hint: String)
  /// The work was cancelled from inside. A cancelled task gets the usual `CancellationError` instead.
  case cancelled(detail: String, hint: String)
  /// The model, session or camera was closed.
  case closed(detail: String, hint: String)
  /// A defect: in Nearside, or in the model's program.
  case `internal`(detail: String, hint: String)

  /// What is wrong, with the names and numbers that matter.
  public var detail: String { parts.detail }

  /// What to do about it.
  public var hint: String { parts.hint }

  private var parts: (detail: String, hint: String) {
    switch self {
    case .invalidModel(let detail, let hint), .incompatible(let detail, let hint),
      .backendUnavailable(let detail, let hint), .outOfMemory(let detail, let hint),
      .invalidInput(let detail, let hint), .contextFull(let detail, let hint),
      .cancelled(let detail, let hint), .closed(let detail, let hint),
      .internal(let detail, let hint):
      (detail, hint)
    }
  }
}

extension NearsideError: LocalizedError {
  public var errorDescription: String? { detail }
  public var recoverySuggestion: String? { hint }
}

extension NearsideError {
  init(_ error: NativeError) {
    self =
      switch error {
      case .InvalidModel(let detail, let hint): .invalidModel(detail: detail, hint: hint)
      case .Incompatible(let detail, let hint): .incompatible(detail: detail, hint: hint)
      case .BackendUnavailable(let detail, let hint):
        .backendUnavailable(detail: detail, hint: hint)
      case .OutOfMemory(let detail, let hint): .outOfMemory(detail: detail, hint: hint)
      case .InvalidInput(let detail, let hint): .invalidInput(detail: detail, hint: hint)
      case .ContextFull(let detail, let hint): .contextFull(detail: detail, hint: hint)
      case .Cancelled(let detail, let hint): .cancelled(detail: detail, hint: hint)
      case .Closed(let detail, let hint): .closed(detail: detail, hint: hint)
      case .Internal(let detail, let hint): .internal(detail: detail, hint: hint)
      }
  }

  /// Whatever the generated code throws.
  init(_ error: any Error) {
    switch error {
    case let error as NativeError:
      self.init(error)
    default:
      // A Rust panic, which UniFFI caught. The library stays usable.
      self = .internal(
        detail: "an internal error: \(error)",
        hint: "please report it with the input that caused it")
    }
  }
}

/// Runs `call` and turns what the generated code throws into a `NearsideError`.
func translating<T>(_ call: () throws -> T) throws -> T {
  do {
    return try call()
  } catch {
    throw NearsideError(error)
  }
}

/// Refuses what the generated code would end the process on: it counts bytes in 32 bits.
func requireCountable(_ bytes: Data...) throws {
  for bytes in bytes where bytes.count > Int32.max {
    throw NearsideError.invalidInput(
      detail: "\(bytes.count) bytes were given in one piece",
      hint: "give at most \(Int32.max): a photo's file, or a plane of a frame")
  }
}
