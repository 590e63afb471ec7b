package dev.nearside

import kotlin.test.Test
import kotlin.test.assertContains
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertNotEquals
import kotlin.test.assertNotNull
import kotlin.test.assertTrue

/** What an app demands of a model before it is loaded, and what it learns of its memory. */
class DemandTest {
    @Test
    fun `a model that is not wholly in delegates is refused with the operators outside`() =
        waiting {
            val error =
                assertFailsWith<NearsideException.BackendUnavailable> {
                    Nearside.openModel(Models.tiny, minCoverage = 1.0)
                }
            assertContains(error.detail, "aten::mean.out")
            assertTrue(error.hint.isNotEmpty())
        }

    @Test
    fun `a model in another delegate is refused with the operators outside`() =
        waiting {
            val error =
                assertFailsWith<NearsideException.BackendUnavailable> {
                    Nearside.openModel(Models.tiny, delegates = setOf("QnnBackend"))
                }
            for (said in listOf("XnnpackBackend", "QnnBackend", "aten::mean.out")) {
                assertContains(error.detail, said)
            }
        }

    @Test
    fun `a model that does not fit the budget is out of memory`() =
        waiting {
            val error =
                assertFailsWith<NearsideException.OutOfMemory> {
                    Nearside.openModel(Models.tiny, memoryBudgetBytes = 1024)
                }
            assertContains(error.detail, "1024")
        }

    @Test
    fun `demands that are met change nothing`() =
        waiting {
            val free = Nearside.openModel(Models.tiny).use { it.info }
            val met =
                Nearside
                    .openModel(
                        Models.tiny,
                        minCoverage = free.coverage,
                        delegates = setOf("QnnBackend", "XnnpackBackend"),
                        memoryBudgetBytes = free.memory.totalBytes,
                    ).use { it.info }
            assertEquals(free.copy(loadMs = 0.0), met.copy(loadMs = 0.0))
        }

    @Test
    fun `the first variant is chosen that meets the demands`() =
        waiting {
            val opened =
                listOf("xnnpack-fp32", "portable-fp32").map { name ->
                    Nearside.openModel(Models.variants, variant = name).use { it.info }
                }
            assertEquals(emptyList(), opened[1].delegates)
            assertNotEquals(opened[0].memory.totalBytes, opened[1].memory.totalBytes)
            assertEquals("xnnpack-fp32", Nearside.openModel(Models.variants).use { it.info.variant })
            val smaller = opened.minBy { it.memory.totalBytes }
            val chosen =
                Nearside
                    .openModel(Models.variants, memoryBudgetBytes = smaller.memory.totalBytes)
                    .use { it.info.variant }
            assertEquals(smaller.variant, chosen)
        }

    @Test
    fun `what no variant meets is refused with a reason for each`() =
        waiting {
            val error =
                assertFailsWith<NearsideException.BackendUnavailable> {
                    Nearside.openModel(Models.variants, minCoverage = 1.0)
                }
            for (said in listOf("xnnpack-fp32", "portable-fp32", "aten::mean.out", "aten::convolution.out")) {
                assertContains(error.detail, said)
            }
            assertFailsWith<NearsideException.OutOfMemory> {
                Nearside.openModel(Models.variants, memoryBudgetBytes = 1024)
            }
        }

    @Test
    fun `options of delegates are taken, and unknown ones refused`() =
        waiting {
            val sharing = DelegateOption("xnnpack", "workspace_sharing_mode", "per-model")
            Nearside.openModel(Models.tiny, delegateOptions = listOf(sharing)).close()
            for (wrong in listOf(
                sharing.copy(delegate = "nnapi"),
                sharing.copy(option = "speed"),
                sharing.copy(value = "much"),
            )) {
                assertFailsWith<NearsideException.InvalidInput> {
                    Nearside.openModel(Models.tiny, delegateOptions = listOf(wrong))
                }
            }
        }

    @Test
    fun `demands out of range are invalid inputs`() =
        waiting {
            for (coverage in listOf(-0.1, 1.1, Double.NaN)) {
                assertFailsWith<NearsideException.InvalidInput> {
                    Nearside.openModel(Models.tiny, minCoverage = coverage)
                }
            }
            for (budget in listOf(0L, -1L, Long.MIN_VALUE)) {
                assertFailsWith<NearsideException.InvalidInput> {
                    Nearside.openModel(Models.tiny, memoryBudgetBytes = budget)
                }
            }
            assertFailsWith<NearsideException.InvalidInput> {
                Nearside.openModel(Models.tiny, delegates = emptySet())
            }
        }

    @Test
    fun `a model says what it takes of memory`() =
        waiting {
            Nearside.openModel(Models.efficientnet).use { model ->
                val memory = model.info.memory
                assertTrue(memory.plannedBytes > 0 && memory.delegateBytes > 0, "$memory")
                val parts = memory.plannedBytes + memory.delegateBytes + memory.workspaceBytes
                assertTrue(memory.totalBytes >= parts, "$memory")
                // The whole program is mapped.
                assertTrue(memory.mappedBytes in 1..model.info.programBytes, "$memory ${model.info.programBytes}")
                val resident = assertNotNull(Nearside.residentMemory())
                assertTrue(resident.currentBytes >= memory.plannedBytes, "$resident $memory")
                assertTrue(resident.peakBytes >= resident.currentBytes - (1 shl 20), "$resident")
            }
        }
}
