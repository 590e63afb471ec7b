package dev.nearside

import java.io.File

/** Where everything starts: `Nearside.openModel(…)`. */
object Nearside {
    /**
     * Opens the model package (a folder `NAME.nearside`) at [path]: checks it, loads a variant and runs it once. Works on
     * a background thread; cancelling the coroutine gives up waiting, and what was loaded is freed.
     *
     * @param variant the variant to load; the first that can run here if null.
     * @param threads threads for kernels, for the whole process: can only change while no model is open. If null, one a
     *   performance core, but one core at least is left to the app.
     * @throws NearsideException.InvalidModel if the package is missing, damaged or none.
     * @throws NearsideException.Incompatible if it asks for what this build can't do.
     * @throws NearsideException.BackendUnavailable if a delegate that it needs is not here.
     * @throws NearsideException.OutOfMemory if it does not fit.
     * @throws NearsideException.InvalidInput if [variant] or [threads] can't be had.
     */
    suspend fun openModel(
        path: String,
        variant: String? = null,
        threads: Int? = null,
    ): Model = translatingAsync { Model(nativeOpenModel(path, OpenOptions(variant, threads), null)) }

    /** As above, for a [File]. */
    suspend fun openModel(
        path: File,
        variant: String? = null,
        threads: Int? = null,
    ): Model = openModel(path.path, variant, threads)
}
