import Foundation
import NearsideBindings

/// A session of a `TextModel`: what was said so far. Safe to use from any task. What is asked of it is done in order,
/// between what is asked of the model's other sessions. It is closed when its last reference goes, or by `close()`.
public final class TextSession: Sendable {
  private let native: NativeTextSession

  init(_ native: NativeTextSession) {
    self.native = native
  }

  /// An answer to `request`, which each loop over it starts anew. The last event is `.finished`.
  ///
  /// A slow loop makes the model wait, and other sessions with it; no event is lost. Cancelling the task, or leaving the
  /// loop early, stops the model before its next token, and the session goes on from what there is of the answer. A
  /// second answer that is asked for at the same time waits for the first.
  ///
  /// The loop throws `NearsideError.invalidInput` for what is wrong with the request, `.invalidModel` if the model's
  /// program fails, after which the session must be reset, `.closed`, and `CancellationError`.
  public func generate(_ request: GenerateRequest) -> TextEvents {
    TextEvents(session: native, request: request.native)
  }

  /// As `generate`, for what a user says next in a conversation.
  public func send(_ text: String, maxNewTokens: Int? = nil) -> TextEvents {
    let message = ChatMessage(role: "user", content: text)
    return generate(GenerateRequest(.turn(messages: [message]), maxNewTokens: maxNewTokens))
  }

  /// The messages so far, the answers among them, once all that was asked before is done.
  public func messages() async throws -> [ChatMessage] {
    try await cancellable { [native] in try await native.messages(cancellation: $0) }
  }

  /// Why it can't go on until it is reset, if an error has broken it off.
  public func poisoned() async throws -> String? {
    try await cancellable { [native] in try await native.poisoned(cancellation: $0) }
  }

  /// A session that goes on from here by itself.
  public func fork() async throws -> TextSession {
    try await cancellable { [native] in TextSession(try await native.fork(cancellation: $0)) }
  }

  /// Writes it to `url`, so that `TextModel.openSession` can go on without computing it again. The file is complete or,
  /// after an error, as it was.
  public func save(to url: URL) async throws {
    try await cancellable { [native] in try await native.save(path: url.path, cancellation: $0) }
  }

  /// Forgets everything but the system prompt.
  public func reset() async throws {
    try await cancellable { [native] in try await native.reset(cancellation: $0) }
  }

  /// Ends its answers with `NearsideError.closed` and frees what it holds. Closing again changes nothing.
  public func close() {
    native.shutDown()
  }
}

/// The events of an answer. Each loop over it is an answer of its own, which starts with the loop's first step.
public struct TextEvents: AsyncSequence, Sendable {
  public typealias Element = TextEvent

  let session: NativeTextSession
  let request: NativeGenerateRequest

  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(session: session, request: request)
  }

  public struct AsyncIterator: AsyncIteratorProtocol {
    private let session: NativeTextSession
    private let request: NativeGenerateRequest
    /// Its last reference going, with the loop, stops the work.
    private var answer: NativeTextGeneration?
    private var ready: ArraySlice<TextEvent> = []
    private var ended = false

    init(session: NativeTextSession, request: NativeGenerateRequest) {
      self.session = session
      self.request = request
    }

    public mutating func next() async throws -> TextEvent? {
      if ended { return nil }
      do {
        try Task.checkCancellation()
        if let event = ready.popFirst() { return event }
        let answer =
          try self.answer
          ?? translating { [session, request] in
            try session.generate(request: request)
          }
        self.answer = answer
        ready = try await cancellable { try await answer.next(cancellation: $0) }[...]
        if let event = ready.popFirst() { return event }
      } catch {
        end()
        throw error
      }
      end()
      return nil
    }

    private mutating func end() {
      ended = true
      answer?.cancel()
      answer = nil
      ready = []
    }
  }
}
