import NearsideBindings

/// What became of a frame.
public enum CameraResult: Sendable {
  /// It was classified.
  case classified(FrameClassification)
  /// It could not be. `frame` is its number (0 for the first that was offered), `timestampNs` what it was offered with.
  /// The stream goes on.
  case failed(frame: Int64, timestampNs: Int64, error: NearsideError)

  init(_ result: NativeCameraResult) {
    self =
      switch result {
      case .classified(let classification):
        .classified(classification)
      case .failed(let frame, let timestampNs, let error):
        .failed(frame: frame, timestampNs: timestampNs, error: NearsideError(error))
      }
  }
}

/// The results of a camera as they come. Ends when the camera is closed or finished, or the task is cancelled.
public struct CameraResults: AsyncSequence, Sendable {
  public typealias Element = CameraResult

  let camera: Camera

  public func makeAsyncIterator() -> Iterator {
    Iterator(camera: camera)
  }

  /// Waits for one result after the other. Several iterators of a camera share its results.
  public struct Iterator: AsyncIteratorProtocol {
    let camera: Camera

    public func next() async -> CameraResult? {
      await camera.next()
    }
  }
}
