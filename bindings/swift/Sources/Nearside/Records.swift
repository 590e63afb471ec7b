// The records and enumerations that come as UniFFI generates them from the Rust types of the same names.

import NearsideBindings

/// Where the U and V samples sit among the columns of Y.
public typealias ChromaSiting = NearsideBindings.ChromaSiting
/// What happens to frames that come faster than they can be classified.
public typealias CameraPolicy = NearsideBindings.CameraPolicy
/// What became of a camera's frames.
public typealias CameraStats = NearsideBindings.CameraStats
/// The labels of a photo.
public typealias Classification = NearsideBindings.Classification
/// An option of a delegate.
public typealias DelegateOption = NearsideBindings.DelegateOption
/// The labels of a camera frame.
public typealias FrameClassification = NearsideBindings.FrameClassification
/// Where a frame's time went.
public typealias FrameTimings = NearsideBindings.FrameTimings
/// Where the time of one photo went.
public typealias ImageTimings = NearsideBindings.ImageTimings
/// Latencies of a camera's frames by stage.
public typealias Latency = NearsideBindings.Latency
/// What an opened model takes of memory, computed from its files.
public typealias MemoryInfo = NearsideBindings.MemoryInfo
/// What is known of an opened model.
public typealias ModelInfo = NearsideBindings.ModelInfo
/// The layout of a frame with one plane.
public typealias PackedFormat = NearsideBindings.PackedFormat
/// Percentiles of a latency in milliseconds.
public typealias Percentiles = NearsideBindings.Percentiles
/// A rectangle in pixels.
public typealias Rect = NearsideBindings.Rect
/// Resident memory of the whole process, in bytes.
public typealias ResidentMemory = NearsideBindings.ResidentMemory
/// The clockwise rotation that makes a picture upright.
public typealias Rotation = NearsideBindings.Rotation
/// A class and how much the model believes in it.
public typealias ScoredLabel = NearsideBindings.ScoredLabel
/// What the samples of a YUV 4:2:0 frame are.
public typealias YuvFormat = NearsideBindings.YuvFormat
/// The YUV to RGB matrix.
public typealias YuvMatrix = NearsideBindings.YuvMatrix
/// The range of YUV values.
public typealias YuvRange = NearsideBindings.YuvRange
/// A message of a conversation.
public typealias ChatMessage = NearsideBindings.ChatMessage
/// What was dropped to make room in the context.
public typealias DroppedText = NearsideBindings.DroppedText
/// Why an answer ended.
public typealias FinishReason = NearsideBindings.FinishReason
/// What an answer must look like.
public typealias Grammar = NearsideBindings.Grammar
/// What an answer follows.
public typealias Prompt = NearsideBindings.Prompt
/// How tokens are chosen.
public typealias SamplingOptions = NearsideBindings.SamplingOptions
/// How tokens are guessed.
public typealias Speculation = NearsideBindings.Speculation
/// What an answer tells while it is generated.
public typealias TextEvent = NearsideBindings.TextEvent
/// What is known of an opened text model.
public typealias TextModelInfo = NearsideBindings.TextModelInfo
/// What an answer took.
public typealias TextStatistics = NearsideBindings.TextStatistics
/// How hot the device is.
public typealias ThermalState = NearsideBindings.ThermalState
/// What is added to the logit of a token.
public typealias TokenBias = NearsideBindings.TokenBias
/// Times from one token to the next, in milliseconds.
public typealias TokenIntervals = NearsideBindings.TokenIntervals
/// A call of a tool in a message.
public typealias ToolCall = NearsideBindings.ToolCall
/// A tool that the model may call.
public typealias ToolDefinition = NearsideBindings.ToolDefinition
/// What happens when the context is full.
public typealias WhenFull = NearsideBindings.WhenFull
