import NearsideBindings

/// A camera pipeline over an opened model: frames go in by `offer`, results come out of `results`. Safe to use from any
/// task. It is closed when its last reference goes, or by `close()`, and keeps the model until then.
public final class Camera: Sendable {
  private let native: NativeCamera

  init(_ native: NativeCamera) {
    self.native = native
  }

  /// The results, until the camera is closed or finished. With `.keepOnlyLatest`, a loop that is slower than the frames
  /// sees the latest ones. Leaving the loop early leaves the camera open.
  public var results: CameraResults {
    CameraResults(camera: self)
  }

  /// Waits for the next result. Nil after the last one, or if the task is cancelled: that may take a result with it that
  /// was ready at the same time.
  public func next() async -> CameraResult? {
    let cancellation = NativeCancellation()
    return await withTaskCancellationHandler {
      await native.next(cancellation: cancellation).map(CameraResult.init)
    } onCancel: {
      cancellation.cancel()
    }
  }

  /// Offers a frame, whose planes are copied once before this returns, and gives its number, 0 for the first.
  ///
  /// Returns at once with `.keepOnlyLatest`. With `.blockProducer` it blocks the thread while there is no room: call it
  /// from a thread of your own then, neither the main one nor one of Swift's concurrency pool.
  ///
  /// - Throws: `NearsideError.invalidInput` if the planes do not fit the frame, which counts as failed; `.closed` if the
  ///   camera is closed or finished.
  @discardableResult
  public func offer(_ frame: YuvFrame) throws -> Int64 {
    try requireCountable(frame.y.bytes, frame.u.bytes, frame.v.bytes)
    let metadata = frame.attributes.metadata(width: frame.width, height: frame.height)
    let layout = YuvLayout(y: frame.y.layout, u: frame.u.layout, v: frame.v.layout)
    return try translating {
      try native.offerYuv(
        metadata: metadata, format: frame.format, layout: layout, y: frame.y.bytes,
        u: frame.u.bytes, v: frame.v.bytes)
    }
  }

  /// As above, for a frame with one plane.
  @discardableResult
  public func offer(_ frame: PackedFrame) throws -> Int64 {
    try requireCountable(frame.plane.bytes)
    let metadata = frame.attributes.metadata(width: frame.width, height: frame.height)
    return try translating {
      try native.offerPacked(
        metadata: metadata, format: frame.format, layout: frame.plane.layout,
        bytes: frame.plane.bytes)
    }
  }

  /// What became of the frames so far; after closing, of all.
  public var stats: CameraStats {
    native.stats()
  }

  /// Takes no more frames. Those on their way are finished, and `results` ends after them.
  public func finish() {
    native.finish()
  }

  /// Takes no more frames, waits for those on their way, and discards the results that nobody has taken (they count as
  /// replaced). `results` ends. Gives what became of all frames. Closing again changes nothing.
  @discardableResult
  public func close() -> CameraStats {
    native.shutDown()
  }
}
