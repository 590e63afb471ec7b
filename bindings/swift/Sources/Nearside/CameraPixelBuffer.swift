#if canImport(CoreVideo)
  import Foundation

  @preconcurrency import CoreVideo

  extension Camera {
    /// Offers a pixel buffer as a capture session gives it: bi-planar YUV 4:2:0 of 8 bits, or 32-bit BGRA. Its bytes are
    /// copied once before this returns. Matrix and range are those of the buffer; what `attributes` says of them is
    /// ignored for YUV.
    ///
    /// - Throws: `NearsideError.invalidInput` for any other pixel format; otherwise as for frames.
    @discardableResult
    public func offer(
      _ pixelBuffer: CVPixelBuffer, attributes: FrameAttributes = FrameAttributes()
    ) throws -> Int64 {
      let format = CVPixelBufferGetPixelFormatType(pixelBuffer)
      let locked = CVPixelBufferLockBaseAddress(pixelBuffer, .readOnly)
      guard locked == kCVReturnSuccess else {
        throw NearsideError.invalidInput(
          detail: "the pixel buffer can't be locked for reading (CVReturn \(locked))",
          hint: "offer it before it goes back to its pool")
      }
      defer { CVPixelBufferUnlockBaseAddress(pixelBuffer, .readOnly) }
      switch format {
      case kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange:
        return try offer(biplanar(pixelBuffer, range: .limited, attributes: attributes))
      case kCVPixelFormatType_420YpCbCr8BiPlanarFullRange:
        return try offer(biplanar(pixelBuffer, range: .full, attributes: attributes))
      case kCVPixelFormatType_32BGRA:
        return try offer(bgra(pixelBuffer, attributes: attributes))
      default:
        throw NearsideError.invalidInput(
          detail: "the pixel buffer has the format 0x\(String(format, radix: 16))",
          hint: "ask the capture output for 420YpCbCr8BiPlanarFullRange or 32BGRA")
      }
    }
  }

  private func biplanar(
    _ buffer: CVPixelBuffer, range: YuvRange, attributes: FrameAttributes
  ) -> YuvFrame {
    var attributes = attributes
    attributes.matrix = matrix(of: buffer)
    attributes.range = range
    let chroma = planeBytes(buffer, 1)
    let chromaStride = CVPixelBufferGetBytesPerRowOfPlane(buffer, 1)
    return YuvFrame(
      width: CVPixelBufferGetWidth(buffer), height: CVPixelBufferGetHeight(buffer),
      y: Plane(
        unsafe: planeBytes(buffer, 0), rowStride: CVPixelBufferGetBytesPerRowOfPlane(buffer, 0)),
      u: Plane(unsafe: chroma, rowStride: chromaStride, pixelStride: 2),
      v: Plane(
        unsafe: UnsafeRawBufferPointer(rebasing: chroma.dropFirst()), rowStride: chromaStride,
        pixelStride: 2),
      attributes: attributes)
  }

  private func bgra(_ buffer: CVPixelBuffer, attributes: FrameAttributes) -> PackedFrame {
    let height = CVPixelBufferGetHeight(buffer)
    let rowStride = CVPixelBufferGetBytesPerRow(buffer)
    let bytes = UnsafeRawBufferPointer(
      start: CVPixelBufferGetBaseAddress(buffer), count: rowStride * height)
    return PackedFrame(
      format: .bgra, width: CVPixelBufferGetWidth(buffer), height: height,
      plane: Plane(unsafe: bytes, rowStride: rowStride, pixelStride: 4), attributes: attributes)
  }

  private func planeBytes(_ buffer: CVPixelBuffer, _ plane: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      start: CVPixelBufferGetBaseAddressOfPlane(buffer, plane),
      count: CVPixelBufferGetBytesPerRowOfPlane(buffer, plane)
        * CVPixelBufferGetHeightOfPlane(buffer, plane))
  }

  /// Capture sessions attach the matrix; BT.601 is what they use where they don't.
  private func matrix(of buffer: CVPixelBuffer) -> YuvMatrix {
    let attached = CVBufferCopyAttachment(buffer, kCVImageBufferYCbCrMatrixKey, nil)
    let name = attached as? String
    return name == kCVImageBufferYCbCrMatrix_ITU_R_709_2 as String ? .bt709 : .bt601
  }
#endif
