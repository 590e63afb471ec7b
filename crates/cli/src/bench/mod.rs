//! `nearside bench`: how fast a language model runs on this machine.

mod bandwidth;
mod document;

use crate::args::BenchArgs;
use crate::error::Result;
use crate::stdout;
use document::{Decoded, Document, Prefilled};
use nearside_pipeline::TextModel;
use nearside_pipeline::language::{Prompt, Request, Statistics};
use nearside_pipeline::runtime::memory::resident;

/// Tokens that are computed before anything is measured.
const WARM_UP: (usize, usize) = (32, 4);

pub(crate) fn bench(args: &BenchArgs) -> Result<()> {
    let before = resident().map(|resident| resident.current_bytes);
    let model = TextModel::open(&args.package, args.load.open_options(args.variant.as_deref())?)?;
    let mut tokens = Tokens { next: 1, count: model.info().vocab_size };
    run(&model, tokens.take(WARM_UP.0), WARM_UP.1)?;
    let mut prefill = None;
    if args.prefill > 0 {
        let took = run(&model, tokens.take(args.prefill), 1)?;
        prefill = Some(Prefilled { tokens: took.prefilled_tokens, s: took.prefill.as_secs_f64() });
    }
    let mut decode = Vec::new();
    let (mut own, mut all) = (0.0, 0.0);
    for &context in &args.at {
        // The first token comes with the prompt's logits.
        let took = run(&model, tokens.take(context), args.decode + 1)?;
        own += took.own.as_secs_f64();
        all += (took.own + took.model).as_secs_f64();
        let tokens = took.generated_tokens.saturating_sub(1);
        decode.push(Decoded { context, tokens, s: took.decode.as_secs_f64() });
    }
    // Before the memory for the bandwidth is taken.
    let peak = resident().map(|resident| resident.peak_bytes);
    let info = model.info();
    let at = args.at.first().copied().unwrap_or_default() as u64;
    let cached = info.memory.state_bytes * at / info.context_length.max(1) as u64;
    let document = Document {
        load_s: info.load.as_secs_f64(),
        threads: info.threads,
        prefill,
        decode,
        own_share: if all > 0.0 { own / all } else { 0.0 },
        before_bytes: before,
        peak_bytes: peak,
        bytes_per_token: info.program_bytes + cached,
        read_bytes_per_s: bandwidth::of(info.program_bytes as usize, info.threads),
    };
    if args.json { stdout::line(&document) } else { stdout::write(&document.text()) }
}

/// Has the model read `prompt` in a session of its own and generate `count` tokens, greedily, over any end of the text.
fn run(model: &TextModel, prompt: Vec<u32>, count: usize) -> Result<Statistics> {
    let request =
        Request { max_new_tokens: Some(count), ignore_end: true, ..Request::new(Prompt::Tokens(prompt)) };
    Ok(model.generate(request)?.wait()?.statistics)
}

/// Tokens that are the same in every run: a multiplicative congruential generator (Park and Miller, 1988).
struct Tokens {
    next: u64,
    count: usize,
}

impl Tokens {
    fn take(&mut self, count: usize) -> Vec<u32> {
        let mut token = || {
            self.next = self.next * 48_271 % 2_147_483_647;
            (self.next % self.count.max(1) as u64) as u32
        };
        (0..count).map(|_| token()).collect()
    }
}
