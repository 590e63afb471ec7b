import Foundation
import NearsideBindings

/// One plane of a frame.
public struct Plane: Sendable {
  /// The bytes.
  public let bytes: Data
  /// Bytes from one row to the next, padding included.
  public let rowStride: Int
  /// Bytes from one sample of a row to the next: 1 for planes of their own, 2 for the interleaved U and V of NV12 and
  /// NV21, twice as much for `YuvFormat.p010`; for packed formats the bytes of a pixel.
  public let pixelStride: Int

  /// A plane of bytes that `Data` holds. A slice of a larger `Data` is not copied.
  public init(_ bytes: Data, rowStride: Int, pixelStride: Int = 1) {
    self.bytes = bytes
    self.rowStride = rowStride
    self.pixelStride = pixelStride
  }

  /// A plane of bytes that someone else holds. They are not copied, so they must stay valid and unchanged for as long as
  /// the plane is in use: until `Camera.offer` has returned.
  public init(unsafe bytes: UnsafeRawBufferPointer, rowStride: Int, pixelStride: Int = 1) {
    let data =
      if let address = bytes.baseAddress {
        Data(
          bytesNoCopy: UnsafeMutableRawPointer(mutating: address), count: bytes.count,
          deallocator: .none)
      } else {
        Data()
      }
    self.init(data, rowStride: rowStride, pixelStride: pixelStride)
  }

  var layout: PlaneLayout {
    PlaneLayout(rowStride: Int32(clamping: rowStride), pixelStride: Int32(clamping: pixelStride))
  }
}

/// How a frame is to be read: crop, orientation, colour, and when it was taken.
public struct FrameAttributes: Sendable {
  /// When the picture was taken, in nanoseconds on a clock of the caller's choice. Comes back with the result.
  public var timestampNs: Int64
  /// The clockwise rotation that makes the picture upright.
  public var rotation: Rotation
  /// Whether to mirror left to right, after the rotation.
  public var mirror: Bool
  /// The part to use, in the frame's own coordinates, before rotation; all of it if nil.
  public var crop: Rect?
  /// YUV to RGB matrix. RGB formats ignore it.
  public var matrix: YuvMatrix
  /// Range of the YUV values. RGB formats ignore it.
  public var range: YuvRange
  /// Where the U and V samples sit: mostly `.left` in video. RGB formats ignore it.
  public var chromaSiting: ChromaSiting

  /// Upright and whole, BT.601, limited range, chroma in the centre, unless said otherwise.
  public init(
    timestampNs: Int64 = 0, rotation: Rotation = .r0, mirror: Bool = false, crop: Rect? = nil,
    matrix: YuvMatrix = .bt601, range: YuvRange = .limited, chromaSiting: ChromaSiting = .center
  ) {
    self.timestampNs = timestampNs
    self.rotation = rotation
    self.mirror = mirror
    self.crop = crop
    self.matrix = matrix
    self.range = range
    self.chromaSiting = chromaSiting
  }

  func metadata(width: Int, height: Int) -> FrameMetadata {
    FrameMetadata(
      width: Int32(clamping: width), height: Int32(clamping: height), crop: crop,
      rotation: rotation, mirror: mirror, matrix: matrix, range: range, chromaSiting: chromaSiting,
      timestampNs: timestampNs)
  }
}

/// A frame in YUV 4:2:0 with three planes of any strides: I420, YV12, NV12, NV21, P010. U and V have half the width and
/// height, rounded up, may overlap in memory, and may lack their last sample.
public struct YuvFrame: Sendable {
  /// What a sample is: 8 bits, or 10 in the high ones of 16.
  public var format: YuvFormat
  /// Width in pixels, before crop and rotation.
  public var width: Int
  /// Height in pixels, before crop and rotation.
  public var height: Int
  /// Luma.
  public var y: Plane
  /// Blue difference.
  public var u: Plane
  /// Red difference.
  public var v: Plane
  /// How to read it.
  public var attributes: FrameAttributes

  /// A frame of these planes.
  public init(
    format: YuvFormat = .yuv420, width: Int, height: Int, y: Plane, u: Plane, v: Plane,
    attributes: FrameAttributes = FrameAttributes()
  ) {
    self.format = format
    self.width = width
    self.height = height
    self.y = y
    self.u = u
    self.v = v
    self.attributes = attributes
  }
}

/// A frame with one plane: RGB in any order and width, grey, or YUYV.
public struct PackedFrame: Sendable {
  /// How the samples lie in the plane.
  public var format: PackedFormat
  /// Width in pixels, before crop and rotation.
  public var width: Int
  /// Height in pixels, before crop and rotation.
  public var height: Int
  /// The pixels.
  public var plane: Plane
  /// How to read it.
  public var attributes: FrameAttributes

  /// A frame of this plane.
  public init(
    format: PackedFormat, width: Int, height: Int, plane: Plane,
    attributes: FrameAttributes = FrameAttributes()
  ) {
    self.format = format
    self.width = width
    self.height = height
    self.plane = plane
    self.attributes = attributes
  }
}
