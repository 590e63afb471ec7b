import Foundation
import Nearside
import Testing

/// What an app demands of a model before it is loaded, and what it learns of its memory.
@Suite(.timeLimit(.minutes(1)))
struct DemandTests {
  @Test func aModelThatIsNotWhollyInDelegatesIsRefusedWithTheOperatorsOutside() async throws {
    let opening = await failure { try await Model.open(at: Models.tiny, minCoverage: 1) }
    let error = try #require(opening)
    #expect(error.isBackendUnavailable)
    #expect(error.detail.contains("aten::mean.out"))
    #expect(!error.hint.isEmpty)
  }

  @Test func aModelInAnotherDelegateIsRefusedWithTheOperatorsOutside() async throws {
    let opening = await failure { try await Model.open(at: Models.tiny, delegates: ["QnnBackend"]) }
    let error = try #require(opening)
    #expect(error.isBackendUnavailable)
    for said in ["XnnpackBackend", "QnnBackend", "aten::mean.out"] {
      #expect(error.detail.contains(said))
    }
  }

  @Test func aModelThatDoesNotFitTheBudgetIsOutOfMemory() async throws {
    let opening = await failure { try await Model.open(at: Models.tiny, memoryBudgetBytes: 1024) }
    let error = try #require(opening)
    #expect(error.isOutOfMemory)
    #expect(error.detail.contains("1024"))
  }

  @Test func demandsThatAreMetChangeNothing() async throws {
    let free = try await Model.open(at: Models.tiny).info
    let met = try await Model.open(
      at: Models.tiny, minCoverage: free.coverage, delegates: ["QnnBackend", "XnnpackBackend"],
      memoryBudgetBytes: Int(free.memory.totalBytes)
    ).info
    #expect(met.variant == free.variant)
    #expect(met.coverage == free.coverage)
    #expect(met.memory == free.memory)
  }

  @Test func theFirstVariantIsChosenThatMeetsTheDemands() async throws {
    let xnnpack = try await Model.open(at: Models.variants, variant: "xnnpack-fp32").info
    let portable = try await Model.open(at: Models.variants, variant: "portable-fp32").info
    #expect(portable.delegates.isEmpty)
    #expect(xnnpack.memory.totalBytes != portable.memory.totalBytes)
    #expect(try await Model.open(at: Models.variants).info.variant == "xnnpack-fp32")
    let smaller = xnnpack.memory.totalBytes < portable.memory.totalBytes ? xnnpack : portable
    let chosen = try await Model.open(
      at: Models.variants, memoryBudgetBytes: Int(smaller.memory.totalBytes))
    #expect(chosen.info.variant == smaller.variant)
  }

  @Test func whatNoVariantMeetsIsRefusedWithAReasonForEach() async throws {
    let opening = await failure { try await Model.open(at: Models.variants, minCoverage: 1) }
    let error = try #require(opening)
    #expect(error.isBackendUnavailable)
    for said in ["xnnpack-fp32", "portable-fp32", "aten::mean.out", "aten::convolution.out"] {
      #expect(error.detail.contains(said))
    }
    let small = await failure { try await Model.open(at: Models.variants, memoryBudgetBytes: 1024) }
    #expect(small?.isOutOfMemory == true)
  }

  @Test func optionsOfDelegatesAreTakenAndUnknownOnesRefused() async throws {
    let sharing = DelegateOption(
      delegate: "xnnpack", option: "workspace_sharing_mode", value: "per-model")
    let model = try await Model.open(at: Models.tiny, delegateOptions: [sharing])
    model.close()
    let wrong = [
      ("nnapi", "speed", "1"), ("xnnpack", "speed", "1"), ("xnnpack", sharing.option, "much"),
    ]
    for (delegate, option, value) in wrong {
      let chosen = DelegateOption(delegate: delegate, option: option, value: value)
      let opening = await failure {
        try await Model.open(at: Models.tiny, delegateOptions: [chosen])
      }
      #expect(opening?.isInvalidInput == true)
    }
  }

  @Test func demandsOutOfRangeAreInvalidInputs() async throws {
    for coverage in [-0.1, 1.1, .nan] {
      let opening = await failure { try await Model.open(at: Models.tiny, minCoverage: coverage) }
      #expect(opening?.isInvalidInput == true)
    }
    for budget in [0, -1, Int.min] {
      let opening = await failure {
        try await Model.open(at: Models.tiny, memoryBudgetBytes: budget)
      }
      #expect(opening?.isInvalidInput == true)
    }
    let nowhere = await failure { try await Model.open(at: Models.tiny, delegates: []) }
    #expect(nowhere?.isInvalidInput == true)
  }

  @Test func aModelSaysWhatItTakesOfMemory() async throws {
    let model = try await Model.open(at: Models.efficientnet)
    let memory = model.info.memory
    #expect(memory.plannedBytes > 0)
    #expect(memory.delegateBytes > 0)
    #expect(memory.totalBytes >= memory.plannedBytes + memory.delegateBytes + memory.workspaceBytes)
    // The whole program is mapped.
    #expect((1...model.info.programBytes).contains(memory.mappedBytes))
    let resident = try #require(ResidentMemory.now())
    #expect(resident.currentBytes >= memory.plannedBytes)
    #expect(resident.peakBytes >= resident.currentBytes - 1 << 20)
  }
}
