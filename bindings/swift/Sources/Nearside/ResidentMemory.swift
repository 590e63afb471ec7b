import NearsideBindings

extension ResidentMemory {
  /// What the system says of this process's memory: resident now, and the most since it started. Nil where it does not
  /// tell. What a model takes is in `ModelInfo.memory`.
  public static func now() -> ResidentMemory? {
    nativeResidentMemory()
  }
}
