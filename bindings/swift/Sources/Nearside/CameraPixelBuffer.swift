#if canImport(CoreVideo)
  import Foundation

  @preconcurrency import CoreVideo

  extension Camera {
    /// Offers a pixel buffer as a capture session or a decoder gives it: YUV 4:2:0 of 8 or 10 bits, YUV 4:2:2 (`yuvs`),
    /// RGB of 16, 24 or 32 bits, or grey. Its bytes are copied once before this returns. Range, matrix and chroma siting
    /// are those of the buffer; what `attributes` says of range and matrix is ignored for YUV, and what it says of the
    /// siting is used where the buffer does not tell.
    ///
    /// - Throws: `NearsideError.invalidInput` for any other pixel format; otherwise as for frames.
    @discardableResult
    public func offer(
      _ pixelBuffer: CVPixelBuffer, attributes: FrameAttributes = FrameAttributes()
    ) throws -> Int64 {
      let format = CVPixelBufferGetPixelFormatType(pixelBuffer)
      guard let layout = PixelBufferLayout(format) else {
        throw NearsideError.invalidInput(
          detail: "the pixel buffer has the format 0x\(String(format, radix: 16))",
          hint: "ask the capture output for 420YpCbCr8BiPlanarFullRange or 32BGRA")
      }
      let locked = CVPixelBufferLockBaseAddress(pixelBuffer, .readOnly)
      guard locked == kCVReturnSuccess else {
        throw NearsideError.invalidInput(
          detail: "the pixel buffer can't be locked for reading (CVReturn \(locked))",
          hint: "offer it before it goes back to its pool")
      }
      defer { CVPixelBufferUnlockBaseAddress(pixelBuffer, .readOnly) }
      switch layout {
      case .biplanar(let samples, let range):
        let attributes = colour(of: pixelBuffer, range: range, otherwise: attributes)
        return try offer(biplanar(pixelBuffer, samples, attributes: attributes))
      case .planar(let range):
        let attributes = colour(of: pixelBuffer, range: range, otherwise: attributes)
        return try offer(planar(pixelBuffer, attributes: attributes))
      case .packedYuv(let range):
        let attributes = colour(of: pixelBuffer, range: range, otherwise: attributes)
        return try offer(packed(pixelBuffer, .yuyv, pixelStride: 2, attributes: attributes))
      case .packed(let format, let pixelStride):
        return try offer(
          packed(pixelBuffer, format, pixelStride: pixelStride, attributes: attributes))
      }
    }
  }

  /// How the pixel formats of CoreVideo that can be read lie in memory.
  private enum PixelBufferLayout {
    case biplanar(YuvFormat, YuvRange)
    case planar(YuvRange)
    case packedYuv(YuvRange)
    case packed(PackedFormat, pixelStride: Int)

    init?(_ format: OSType) {
      switch format {
      case kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange: self = .biplanar(.yuv420, .limited)
      case kCVPixelFormatType_420YpCbCr8BiPlanarFullRange: self = .biplanar(.yuv420, .full)
      case kCVPixelFormatType_420YpCbCr10BiPlanarVideoRange: self = .biplanar(.p010, .limited)
      case kCVPixelFormatType_420YpCbCr10BiPlanarFullRange: self = .biplanar(.p010, .full)
      case kCVPixelFormatType_420YpCbCr8Planar: self = .planar(.limited)
      case kCVPixelFormatType_420YpCbCr8PlanarFullRange: self = .planar(.full)
      case kCVPixelFormatType_422YpCbCr8_yuvs: self = .packedYuv(.limited)
      case kCVPixelFormatType_422YpCbCr8FullRange: self = .packedYuv(.full)
      case kCVPixelFormatType_32BGRA: self = .packed(.bgra, pixelStride: 4)
      case kCVPixelFormatType_32RGBA: self = .packed(.rgba, pixelStride: 4)
      case kCVPixelFormatType_32ARGB: self = .packed(.argb, pixelStride: 4)
      case kCVPixelFormatType_24RGB: self = .packed(.rgb, pixelStride: 3)
      case kCVPixelFormatType_24BGR: self = .packed(.bgr, pixelStride: 3)
      case kCVPixelFormatType_16LE565: self = .packed(.rgb565, pixelStride: 2)
      case kCVPixelFormatType_OneComponent8: self = .packed(.gray8, pixelStride: 1)
      default: return nil
      }
    }
  }

  private func biplanar(
    _ buffer: CVPixelBuffer, _ format: YuvFormat, attributes: FrameAttributes
  ) -> YuvFrame {
    let sampleBytes = format == .p010 ? 2 : 1
    let chroma = planeBytes(buffer, 1)
    let chromaStride = CVPixelBufferGetBytesPerRowOfPlane(buffer, 1)
    return YuvFrame(
      format: format,
      width: CVPixelBufferGetWidth(buffer), height: CVPixelBufferGetHeight(buffer),
      y: plane(buffer, 0, pixelStride: sampleBytes),
      u: Plane(unsafe: chroma, rowStride: chromaStride, pixelStride: 2 * sampleBytes),
      v: Plane(
        unsafe: UnsafeRawBufferPointer(rebasing: chroma.dropFirst(sampleBytes)),
        rowStride: chromaStride, pixelStride: 2 * sampleBytes),
      attributes: attributes)
  }

  private func planar(_ buffer: CVPixelBuffer, attributes: FrameAttributes) -> YuvFrame {
    YuvFrame(
      width: CVPixelBufferGetWidth(buffer), height: CVPixelBufferGetHeight(buffer),
      y: plane(buffer, 0, pixelStride: 1),
      u: plane(buffer, 1, pixelStride: 1),
      v: plane(buffer, 2, pixelStride: 1),
      attributes: attributes)
  }

  private func packed(
    _ buffer: CVPixelBuffer, _ format: PackedFormat, pixelStride: Int, attributes: FrameAttributes
  ) -> PackedFrame {
    let height = CVPixelBufferGetHeight(buffer)
    let rowStride = CVPixelBufferGetBytesPerRow(buffer)
    let bytes = UnsafeRawBufferPointer(
      start: CVPixelBufferGetBaseAddress(buffer), count: rowStride * height)
    return PackedFrame(
      format: format, width: CVPixelBufferGetWidth(buffer), height: height,
      plane: Plane(unsafe: bytes, rowStride: rowStride, pixelStride: pixelStride),
      attributes: attributes)
  }

  private func plane(_ buffer: CVPixelBuffer, _ index: Int, pixelStride: Int) -> Plane {
    Plane(
      unsafe: planeBytes(buffer, index),
      rowStride: CVPixelBufferGetBytesPerRowOfPlane(buffer, index), pixelStride: pixelStride)
  }

  private func planeBytes(_ buffer: CVPixelBuffer, _ plane: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      start: CVPixelBufferGetBaseAddressOfPlane(buffer, plane),
      count: CVPixelBufferGetBytesPerRowOfPlane(buffer, plane)
        * CVPixelBufferGetHeightOfPlane(buffer, plane))
  }

  /// `attributes` with the colour that the buffer carries.
  private func colour(
    of buffer: CVPixelBuffer, range: YuvRange, otherwise attributes: FrameAttributes
  ) -> FrameAttributes {
    var attributes = attributes
    attributes.range = range
    attributes.matrix = matrix(of: buffer)
    attributes.chromaSiting = chromaSiting(of: buffer) ?? attributes.chromaSiting
    return attributes
  }

  /// Capture sessions attach the matrix; BT.601 is what they use where they don't.
  private func matrix(of buffer: CVPixelBuffer) -> YuvMatrix {
    let attached = attachment(kCVImageBufferYCbCrMatrixKey, of: buffer)
    if attached == kCVImageBufferYCbCrMatrix_ITU_R_709_2 as String { return .bt709 }
    if attached == kCVImageBufferYCbCrMatrix_ITU_R_2020 as String { return .bt2020 }
    return .bt601
  }

  /// The horizontal siting, if the buffer tells; the rows of chroma are taken to lie between those of luma.
  private func chromaSiting(of buffer: CVPixelBuffer) -> ChromaSiting? {
    guard let attached = attachment(kCVImageBufferChromaLocationTopFieldKey, of: buffer) else {
      return nil
    }
    let left = [
      kCVImageBufferChromaLocation_Left, kCVImageBufferChromaLocation_TopLeft,
      kCVImageBufferChromaLocation_BottomLeft, kCVImageBufferChromaLocation_DV420,
    ]
    return left.contains { $0 as String == attached } ? .left : .center
  }

  private func attachment(_ key: CFString, of buffer: CVPixelBuffer) -> String? {
    CVBufferCopyAttachment(buffer, key, nil) as? String
  }
#endif
