package dev.nearside

import java.io.File

/** Where everything starts: `Nearside.openModel(…)`. */
object Nearside {
    /**
     * Opens the model package (a folder `NAME.nearside`) at [path]: checks it, loads a variant and runs it once. Works on
     * a background thread; cancelling the coroutine gives up waiting, and what was loaded is freed.
     *
     * What is demanded is checked before anything is loaded. Where it leaves a choice, the first variant is taken that can
     * run here and meets it; an error lists the operators that stayed outside delegates, and names every variant that was
     * passed over.
     *
     * @param variant the variant to load; the first that can run here and meets the demands if null.
     * @param threads threads for kernels, for the whole process: can only change while no model is open. If null, one a
     *   performance core, but one core at least is left to the app.
     * @param minCoverage the least share of operator calls that must run in delegates, 0 to 1; any if null. Compared with
     *   [ModelInfo.coverage] as the program tells it: one whose delegates do not tell what is in them meets no demand
     *   above 0, unless nothing is left outside.
     * @param delegates ids of the delegates that the model may use, such as `XnnpackBackend`: it must use one of them, and
     *   no other. Any, or none, if null.
     * @param memoryBudgetBytes the most memory that this model may take, whatever else the process holds: its
     *   [MemoryInfo.totalBytes]. No limit if null.
     * @param delegateOptions options of delegates, such as
     *   `DelegateOption("xnnpack", "workspace_sharing_mode", "per-model")`. Those of delegates that the model does not use
     *   are ignored.
     * @throws NearsideException.InvalidModel if the package is missing, damaged or none.
     * @throws NearsideException.Incompatible if it asks for what this build can't do.
     * @throws NearsideException.BackendUnavailable if a delegate that it needs is not here, or if it does not run in
     *   delegates as far as was demanded.
     * @throws NearsideException.OutOfMemory if it does not fit into memory, or not into [memoryBudgetBytes].
     * @throws NearsideException.InvalidInput if [variant] or [threads] can't be had, or an argument or option is unknown or out
     *   of range.
     */
    suspend fun openModel(
        path: String,
        variant: String? = null,
        threads: Int? = null,
        minCoverage: Double? = null,
        delegates: Set<String>? = null,
        memoryBudgetBytes: Long? = null,
        delegateOptions: List<DelegateOption> = emptyList(),
    ): Model =
        translatingAsync {
            val allowed = delegates?.sorted()
            val options =
                OpenOptions(variant, threads, minCoverage, allowed, memoryBudgetBytes, delegateOptions)
            Model(nativeOpenModel(path, options, null))
        }

    /** As above, for a [File]. */
    suspend fun openModel(
        path: File,
        variant: String? = null,
        threads: Int? = null,
        minCoverage: Double? = null,
        delegates: Set<String>? = null,
        memoryBudgetBytes: Long? = null,
        delegateOptions: List<DelegateOption> = emptyList(),
    ): Model = openModel(path.path, variant, threads, minCoverage, delegates, memoryBudgetBytes, delegateOptions)

    /**
     * Opens the package of a language model at [path]. Parameters and errors are those of [openModel].
     *
     * @param draft the package of a smaller model with the same tokenizer, for [Speculation.Draft].
     */
    suspend fun openTextModel(
        path: File,
        draft: File? = null,
        variant: String? = null,
        threads: Int? = null,
        minCoverage: Double? = null,
        delegates: Set<String>? = null,
        memoryBudgetBytes: Long? = null,
        delegateOptions: List<DelegateOption> = emptyList(),
    ): TextModel =
        translatingAsync {
            val allowed = delegates?.sorted()
            val options =
                OpenOptions(variant, threads, minCoverage, allowed, memoryBudgetBytes, delegateOptions)
            TextModel(nativeOpenTextModel(path.path, draft?.path, options, null))
        }

    /**
     * What the system says of this process's memory: resident now, and the most since it started. Null where it does not
     * tell. What a model takes is in [ModelInfo.memory].
     */
    fun residentMemory(): ResidentMemory? = nativeResidentMemory()
}
