import Foundation
import Nearside
import Testing

/// Answers of a language model, as asynchronous sequences.
@Suite(.timeLimit(.minutes(1)))
struct TextTests {
  private func sixteen(_ change: (inout GenerateRequest) -> Void = { _ in }) -> GenerateRequest {
    var request = GenerateRequest(
      .text(text: "Once upon a time"), maxNewTokens: 16, ignoreEnd: true)
    change(&request)
    return request
  }

  /// Far more tokens than can wait to be taken.
  private var long: GenerateRequest {
    sixteen {
      $0.maxNewTokens = 400
      $0.whenFull = .shift
    }
  }

  private struct Answer {
    var streamed = ""
    var tokens = 0
    var events: [TextEvent] = []
    var reason: FinishReason?
    var text: String?
    var statistics: TextStatistics?

    mutating func add(_ event: TextEvent) {
      events.append(event)
      switch event {
      case .token(let text, let id):
        streamed += text
        tokens += id == nil ? 0 : 1
      case .finished(let reason, let text, let statistics):
        (self.reason, self.text, self.statistics) = (reason, text, statistics)
      default: break
      }
    }
  }

  private func answer(_ events: TextEvents) async throws -> Answer {
    var answer = Answer()
    for try await event in events { answer.add(event) }
    return answer
  }

  private func expected(_ model: TextModel) async throws -> String? {
    try await answer(model.session().generate(sixteen())).text
  }

  @Test func tokensComeOneByOneAndMakeUpTheAnswer() async throws {
    let model = try await TextModel.open(at: Models.llama)
    let events = try model.session().generate(sixteen())
    let first = try await answer(events)
    #expect(first.reason == .maxTokens)
    #expect(first.tokens == 16)
    #expect(first.streamed == first.text)
    #expect(try await answer(events).text == first.text)
  }

  @Test func charactersThatAreSplitOverTokensComeWhole() async throws {
    let model = try await TextModel.open(at: Models.llama)
    let request = sixteen {
      $0.maxNewTokens = 60
      $0.grammar = .regex(pattern: "(日本語🙂){3}")
    }
    let found = try await answer(model.session().generate(request))
    #expect(found.streamed == String(repeating: "日本語🙂", count: 3))
    #expect(found.reason == .grammarEnd)
    #expect(found.tokens > 12)
  }

  @Test func aSessionGoesOnCorrectlyWhereverItWasCancelled() async throws {
    let model = try await TextModel.open(at: Models.llama)
    let expected = try await expected(model)
    var request = long
    request.prompt = .text(text: String(repeating: "a long prompt ", count: 5))
    for _ in 0..<30 {
      let session = try model.session()
      let task = Task { [request] in
        for try await _ in session.generate(request) {}
      }
      try await Task.sleep(nanoseconds: .random(in: 0..<12_000_000))
      task.cancel()
      if case .failure(let error) = await task.result {
        #expect(error is CancellationError, "\(error)")
      }
      #expect(try await answer(session.generate(sixteen())).text == expected)
    }
  }

  @Test func aLoopThatIsLeftEarlyStopsTheModel() async throws {
    let model = try await TextModel.open(at: Models.llama)
    let session = try model.session()
    for try await _ in session.generate(long) { break }
    #expect(try await answer(session.generate(sixteen())).text == expected(model))
  }

  @Test func aSlowLoopSlowsTheModelAndLosesNothing() async throws {
    let model = try await TextModel.open(at: Models.llama)
    let expected = try await answer(model.session().generate(long)).text
    var slow = Answer()
    for try await event in try model.session().generate(long) {
      if slow.events.isEmpty { try await Task.sleep(nanoseconds: 300_000_000) }
      slow.add(event)
    }
    #expect(slow.streamed == expected)
    #expect(slow.text == expected)
    #expect(try #require(slow.statistics).waitedMs > 50)
  }

  @Test func cancellingGetsThroughWhileTheQueueIsFull() async throws {
    let model = try await TextModel.open(at: Models.llama)
    let blocked = Task { [long] in
      for try await _ in try model.session().generate(long) {
        try await Task.sleep(nanoseconds: 60_000_000_000)
      }
    }
    try await Task.sleep(nanoseconds: 200_000_000)
    blocked.cancel()
    #expect(try await answer(model.session().generate(sixteen())).reason == .maxTokens)
  }

  @Test func theStatisticsAreExactAndHaveTimes() async throws {
    let model = try await TextModel.open(at: Models.llama)
    let found = try await answer(model.session().generate(sixteen()))
    let statistics = try #require(found.statistics)
    #expect(statistics.generatedTokens == 16)
    #expect(statistics.promptTokens == statistics.reusedTokens + statistics.prefilledTokens)
    #expect(try #require(statistics.timeToFirstTokenMs) > 0)
    #expect(try #require(statistics.prefillTokensPerSecond) > 0)
    #expect(try #require(statistics.decodeTokensPerSecond) > 0)
  }

  @Test func aFullContextIsAnEventAndTheReasonOfTheEnd() async throws {
    let model = try await TextModel.open(at: Models.llama)
    let found = try await answer(model.session().generate(sixteen { $0.maxNewTokens = nil }))
    let full = found.events.filter { if case .contextFull = $0 { true } else { false } }
    #expect(full.count == 1)
    #expect(found.reason == .contextFull)
  }

  @Test func aConversationKeepsItsMessagesAfterTheSystemPrompt() async throws {
    let model = try await TextModel.open(at: Models.llama)
    let session = try model.session(system: "Be brief.")
    _ = try await answer(session.send("Hello", maxNewTokens: 8))
    #expect(try await session.messages().map(\.role) == ["system", "user", "assistant"])
    try await session.reset()
    #expect(try await session.messages().isEmpty)
  }

  @Test func forksAndSavedSessionsGoOnAsTheSessionDoes() async throws {
    let model = try await TextModel.open(at: Models.llama)
    let session = try model.session()
    _ = try await answer(session.generate(sixteen()))
    let fork = try await session.fork()
    try await withTemporaryFolder { folder in
      let file = folder.appendingPathComponent("a.session")
      try await session.save(to: file)
      let next = GenerateRequest(.continue, maxNewTokens: 8, ignoreEnd: true)
      let expected = try await answer(session.generate(next)).text
      #expect(try await answer(fork.generate(next)).text == expected)
      #expect(try await answer(model.openSession(at: file).generate(next)).text == expected)
      try Data("no session".utf8).write(to: file)
      #expect(await failure { try await model.openSession(at: file) }?.isInvalidInput == true)
    }
  }

  @Test func sessionsTakeTurnsOnAModel() async throws {
    let model = try await TextModel.open(at: Models.llama)
    let expected = try await expected(model)
    let tasks = (0..<8).map { _ in
      Task { try await answer(model.session().generate(sixteen())).text }
    }
    for task in tasks { #expect(try await task.value == expected) }
  }

  @Test func closingTheModelEndsItsAnswersAsClosed() async throws {
    let model = try await TextModel.open(at: Models.llama)
    let session = try model.session()
    let slow = Task { [long] in
      for try await _ in session.generate(long) { try await Task.sleep(nanoseconds: 20_000_000) }
    }
    try await Task.sleep(nanoseconds: 100_000_000)
    model.close()
    #expect(await failure { try await slow.value }?.isClosed == true)
    #expect(await failure { try await session.messages() }?.isClosed == true)
    #expect(await failure { try model.session() }?.isClosed == true)
  }

  @Test func whatIsWrongIsSaidWithAKind() async throws {
    let nowhere = URL(fileURLWithPath: "nowhere.nearside")
    #expect(await failure { try await TextModel.open(at: nowhere) }?.isInvalidModel == true)
    #expect(await failure { try await TextModel.open(at: Models.tiny) }?.isInvalidInput == true)
    let model = try await TextModel.open(at: Models.llama)
    let session = try model.session()
    let wrong = [
      sixteen { $0.sampling = SamplingOptions(temperature: -1) },
      sixteen { $0.maxNewTokens = -1 },
      sixteen { $0.grammar = .jsonSchema(schema: "{") },
      sixteen { $0.grammar = .regex(pattern: "(") },
      sixteen { $0.speculation = .draft(tokens: 4) },
    ]
    for request in wrong {
      #expect(await failure { try await answer(session.generate(request)) }?.isInvalidInput == true)
    }
  }
}
