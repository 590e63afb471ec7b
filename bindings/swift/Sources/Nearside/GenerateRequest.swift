import NearsideBindings

/// What is asked of a session.
public struct GenerateRequest: Sendable {
  /// What the answer follows.
  public var prompt: Prompt
  /// The most tokens of the answer; as many as there is room for if nil.
  public var maxNewTokens: Int?
  /// How tokens are chosen; `TextModel.defaults` if nil.
  public var sampling: SamplingOptions?
  /// Texts that end the answer. They are no part of it.
  public var stop: [String]
  /// What the answer must look like.
  public var grammar: Grammar?
  /// Whether special tokens are shown.
  public var showSpecial: Bool
  /// Whether the answer goes on after tokens that would end it: for measurements.
  public var ignoreEnd: Bool
  /// What happens when the context is full.
  public var whenFull: WhenFull
  /// How tokens are guessed, so that several can be computed at once.
  public var speculation: Speculation

  public init(
    _ prompt: Prompt, maxNewTokens: Int? = nil, sampling: SamplingOptions? = nil,
    stop: [String] = [], grammar: Grammar? = nil, showSpecial: Bool = false,
    ignoreEnd: Bool = false, whenFull: WhenFull = .stop, speculation: Speculation = .off
  ) {
    self.prompt = prompt
    self.maxNewTokens = maxNewTokens
    self.sampling = sampling
    self.stop = stop
    self.grammar = grammar
    self.showSpecial = showSpecial
    self.ignoreEnd = ignoreEnd
    self.whenFull = whenFull
    self.speculation = speculation
  }

  var native: NativeGenerateRequest {
    NativeGenerateRequest(
      prompt: prompt, maxNewTokens: maxNewTokens.map(Int32.init(clamping:)), sampling: sampling,
      stop: stop, grammar: grammar, showSpecial: showSpecial, ignoreEnd: ignoreEnd,
      whenFull: whenFull, speculation: speculation)
  }
}
