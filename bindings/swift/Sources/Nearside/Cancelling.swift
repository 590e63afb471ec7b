import NearsideBindings

/// Runs `call` so that cancelling the task ends it: the generated code does not do that by itself.
///
/// Throws `CancellationError` if the task was cancelled, else a `NearsideError`.
func cancellable<T: Sendable>(
  _ call: @Sendable (NativeCancellation) async throws -> T
) async throws -> T {
  let cancellation = NativeCancellation()
  return try await withTaskCancellationHandler {
    do {
      return try await call(cancellation)
    } catch NativeError.Cancelled where Task.isCancelled {
      throw CancellationError()
    } catch {
      throw NearsideError(error)
    }
  } onCancel: {
    cancellation.cancel()
  }
}
