package dev.nearside

/**
 * What is asked of a session.
 *
 * @property prompt what the answer follows.
 * @property maxNewTokens the most tokens of the answer; as many as there is room for if null.
 * @property sampling how tokens are chosen; [TextModel.defaults] if null.
 * @property stop texts that end the answer. They are no part of it.
 * @property grammar what the answer must look like.
 * @property showSpecial whether special tokens are shown.
 * @property ignoreEnd whether the answer goes on after tokens that would end it: for measurements.
 * @property whenFull what happens when the context is full.
 * @property speculation how tokens are guessed, so that several can be computed at once.
 */
data class GenerateRequest(
    val prompt: Prompt,
    val maxNewTokens: Int? = null,
    val sampling: SamplingOptions? = null,
    val stop: List<String> = emptyList(),
    val grammar: Grammar? = null,
    val showSpecial: Boolean = false,
    val ignoreEnd: Boolean = false,
    val whenFull: WhenFull = WhenFull.STOP,
    val speculation: Speculation = Speculation.Off,
) {
    internal fun native() =
        NativeGenerateRequest(
            prompt,
            maxNewTokens,
            sampling,
            stop,
            grammar,
            showSpecial,
            ignoreEnd,
            whenFull,
            speculation,
        )
}
