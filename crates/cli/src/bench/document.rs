//! What `nearside bench` found.

use serde::Serialize;
use std::fmt::Write;

#[derive(Serialize)]
pub(super) struct Document {
    /// From the verified package to the first finished run.
    pub(super) load_s: f64,
    pub(super) threads: usize,
    pub(super) prefill: Option<Prefilled>,
    pub(super) decode: Vec<Decoded>,
    /// The share of everything but the model's program in the time of all that was generated, 0 to 1.
    pub(super) own_share: f64,
    /// Resident memory before the model was opened; `None` where the system does not tell.
    pub(super) before_bytes: Option<u64>,
    pub(super) peak_bytes: Option<u64>,
    /// The program, and what is in the KV cache after the first of the contexts.
    pub(super) bytes_per_token: u64,
    /// Of this machine, with as many threads.
    pub(super) read_bytes_per_s: f64,
}

#[derive(Serialize)]
pub(super) struct Prefilled {
    pub(super) tokens: usize,
    pub(super) s: f64,
}

/// Tokens that were generated after `context` others.
#[derive(Serialize)]
pub(super) struct Decoded {
    pub(super) context: usize,
    pub(super) tokens: usize,
    pub(super) s: f64,
}

impl Document {
    pub(super) fn text(&self) -> String {
        let mut text = format!("load        {:8.1} ms, {} threads\n", self.load_s * 1e3, self.threads);
        if let Some(Prefilled { tokens, s }) = self.prefill {
            let _ = writeln!(text, "prefill     {:8.1} tokens/s ({tokens} tokens)", tokens as f64 / s);
        }
        for Decoded { context, tokens, s } in &self.decode {
            let rate = *tokens as f64 / s;
            let _ = writeln!(text, "decode      {rate:8.1} tokens/s ({tokens} tokens after {context})");
        }
        let limit = self.read_bytes_per_s / self.bytes_per_token as f64;
        let _ = writeln!(text, "memory      {limit:8.1} tokens/s would be its limit");
        let _ = writeln!(text, "own loop    {:8.2} % of the time", self.own_share * 100.0);
        if let Some(peak) = self.peak_bytes {
            let _ = writeln!(text, "peak RSS    {:8.1} MB", peak as f64 / 1e6);
        }
        text
    }
}
