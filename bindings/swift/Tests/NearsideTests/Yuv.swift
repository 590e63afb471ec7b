import Foundation
import Nearside

/// A picture of one colour in YUV: BT.601, limited range.
struct Yuv {
  let width: Int
  let height: Int
  private let y, u, v: UInt8

  /// What lies between the rows.
  private let rubbish: UInt8 = 0xAA

  init(_ color: Color, width: Int = 61, height: Int = 47) {
    let (red, green, blue) = (
      Double(color.red) / 255, Double(color.green) / 255, Double(color.blue) / 255
    )
    self.width = width
    self.height = height
    y = UInt8((16 + 65.481 * red + 128.553 * green + 24.966 * blue).rounded())
    u = UInt8((128 - 37.797 * red - 74.203 * green + 112.0 * blue).rounded())
    v = UInt8((128 + 112.0 * red - 93.786 * green - 18.214 * blue).rounded())
  }

  private var chromaWidth: Int { (width + 1) / 2 }
  private var chromaHeight: Int { (height + 1) / 2 }

  /// I420, each row followed by `padding` bytes of rubbish.
  func i420(padding: Int = 0, attributes: FrameAttributes = FrameAttributes()) -> YuvFrame {
    func plane(_ value: UInt8, _ columns: Int, _ rows: Int) -> Plane {
      let row =
        [UInt8](repeating: value, count: columns) + [UInt8](repeating: rubbish, count: padding)
      return Plane(Data((0..<rows).flatMap { _ in row }), rowStride: row.count)
    }
    return YuvFrame(
      width: width, height: height,
      y: plane(y, width, height),
      u: plane(u, chromaWidth, chromaHeight),
      v: plane(v, chromaWidth, chromaHeight),
      attributes: attributes)
  }

  /// P010 as `x420` pixel buffers hold it: samples of two bytes, the value in the high bits, rubbish in the low six.
  func p010() -> YuvFrame {
    func wide(_ samples: [UInt8]) -> [UInt8] { samples.flatMap { [0x2A, $0] } }
    let luma = wide([UInt8](repeating: y, count: width * height))
    let pairs = (0..<chromaWidth * chromaHeight).flatMap { _ in [u, v] }
    let chroma = Data(wide(pairs))
    let stride = 4 * chromaWidth
    return YuvFrame(
      format: .p010, width: width, height: height,
      y: Plane(Data(luma), rowStride: 2 * width, pixelStride: 2),
      u: Plane(chroma.dropLast(2), rowStride: stride, pixelStride: 4),
      v: Plane(chroma.dropFirst(2), rowStride: stride, pixelStride: 4))
  }

  /// NV12 in one allocation: slices of the same memory, each of which ends with its last sample, short of a whole row.
  func nv12(padding: Int = 0) -> YuvFrame {
    let stride = 2 * chromaWidth + padding
    let rest = [UInt8](repeating: rubbish, count: padding)
    let luma = [UInt8](repeating: y, count: width)
    let lumaRow = luma + [UInt8](repeating: rubbish, count: stride - width)
    let chromaRow = (0..<chromaWidth).flatMap { _ in [u, v] } + rest
    let whole = Data(
      (0..<height).flatMap { _ in lumaRow } + (0..<chromaHeight).flatMap { _ in chromaRow })
    let start = stride * height
    let chromaBytes = stride * (chromaHeight - 1) + 2 * chromaWidth - 1
    return YuvFrame(
      width: width, height: height,
      y: Plane(whole[..<start], rowStride: stride),
      u: Plane(whole[start..<start + chromaBytes], rowStride: stride, pixelStride: 2),
      v: Plane(whole[(start + 1)..<(start + 1 + chromaBytes)], rowStride: stride, pixelStride: 2))
  }
}
