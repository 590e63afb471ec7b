//! Text and tokens: tokenizers, chat templates, sampling, stop rules and the decode loop.
