//! What an app can ask of the choice of tokens.

use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// How the next token is chosen from the logits. The defaults change nothing: the model's own distribution, every token.
///
/// The steps run in this order, which is that of `transformers`:
///
/// 1. the mask of a constraint, if there is one;
/// 2. [`logit_bias`](Self::logit_bias);
/// 3. penalties: repetition, then frequency and presence;
/// 4. [`temperature`](Self::temperature);
/// 5. [`top_k`](Self::top_k), 6. [`top_p`](Self::top_p), 7. [`min_p`](Self::min_p), each on what the one before left;
/// 8. a token at random, by the probabilities of those that are left; with a temperature of 0 the most probable one.
///
/// All of it is true of the first token of an answer too.
///
/// ```
/// use nearside_language::SamplingOptions;
///
/// let options: SamplingOptions = serde_json::from_str(r#"{"temperature": 0.7, "top_p": 0.9, "seed": 1}"#)?;
/// options.validate()?;
/// assert!(SamplingOptions { top_p: 1.5, ..options }.validate().is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SamplingOptions {
    /// Logits are divided by it: below 1 the likely become likelier. 0 takes the largest logit, of equal ones the lowest
    /// id (greedy). From 0 on; 1 by default.
    pub temperature: f32,
    /// Only so many of the most probable tokens; of equal ones the lowest ids. 0, the default, is no limit.
    pub top_k: u32,
    /// Only the fewest most probable tokens that make up this much of the probability, one at least. Above 0, up to 1;
    /// 1, the default, keeps all.
    pub top_p: f32,
    /// Only tokens with at least this share of the most probable token's probability. From 0, the default, to 1.
    pub min_p: f32,
    /// As in `transformers` and CTRL (Keskar et al. 2019): the logit of a token that the window has, prompt included,
    /// is divided by it if positive, else multiplied. Above 0; 1, the default, does nothing.
    pub repetition_penalty: f32,
    /// As with OpenAI: taken from the logit of each token that was generated within the window. From -2 to 2; 0 by
    /// default.
    pub presence_penalty: f32,
    /// As with OpenAI: taken from a token's logit once for each time it was generated within the window. From -2 to 2;
    /// 0 by default.
    pub frequency_penalty: f32,
    /// How many of the last tokens the penalties look at: `Some(64)` is llama.cpp's default. `None`, the default, is all
    /// of them, as with `transformers`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub penalty_window: Option<u32>,
    /// Where the random numbers begin. The same seed, options and logits give the same tokens, on every platform and in
    /// later versions. `None`, the default, takes one from the system; [`Sampler::seed`](crate::Sampler::seed) tells it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Added to the logits of single tokens: minus infinity bans one. At most one entry a token. In JSON, where infinity
    /// can't be written, `null` bans.
    #[serde(with = "bias", skip_serializing_if = "Vec::is_empty")]
    pub logit_bias: Vec<(u32, f32)>,
}

impl Default for SamplingOptions {
    fn default() -> Self {
        Self {
            temperature: 1.0,
            top_k: 0,
            top_p: 1.0,
            min_p: 0.0,
            repetition_penalty: 1.0,
            presence_penalty: 0.0,
            frequency_penalty: 0.0,
            penalty_window: None,
            seed: None,
            logit_bias: Vec::new(),
        }
    }
}

impl SamplingOptions {
    /// The most probable token each time.
    pub fn greedy() -> Self {
        Self { temperature: 0.0, ..Self::default() }
    }

    /// Whether the largest logit is taken, so that no random number is drawn.
    pub fn is_greedy(&self) -> bool {
        self.temperature == 0.0
    }

    /// Whether tokens of the past matter.
    pub(super) fn has_penalties(&self) -> bool {
        self.penalty_window != Some(0)
            && (self.repetition_penalty != 1.0
                || self.presence_penalty != 0.0
                || self.frequency_penalty != 0.0)
    }

    /// Makes sure of what does not depend on a vocabulary.
    ///
    /// # Errors
    /// [`Error::Options`], with what is allowed.
    pub fn validate(&self) -> Result<()> {
        let check = |name: &str, value: f32, holds: bool, allowed: &str| {
            if holds { Ok(()) } else { Err(Error::Options(format!("{name} can't be {value}: {allowed}"))) }
        };
        let (t, p, m) = (self.temperature, self.top_p, self.min_p);
        check("temperature", t, t.is_finite() && t >= 0.0, "a number from 0 (greedy) on")?;
        check("top_p", p, p > 0.0 && p <= 1.0, "above 0 and up to 1 (off)")?;
        check("min_p", m, (0.0..=1.0).contains(&m), "from 0 (off) to 1")?;
        let r = self.repetition_penalty;
        check("repetition_penalty", r, r.is_finite() && r > 0.0, "above 0; 1 is off")?;
        for (name, value) in
            [("presence_penalty", self.presence_penalty), ("frequency_penalty", self.frequency_penalty)]
        {
            check(name, value, (-2.0..=2.0).contains(&value), "from -2 to 2; 0 is off")?;
        }
        for &(_, bias) in &self.logit_bias {
            let holds = bias < f32::INFINITY;
            check("logit_bias", bias, holds, "a number, or minus infinity to ban the token")?;
        }
        let mut tokens: Vec<u32> = self.logit_bias.iter().map(|&(token, _)| token).collect();
        tokens.sort_unstable();
        match tokens.windows(2).find(|pair| pair[0] == pair[1]) {
            None => Ok(()),
            Some(pair) => {
                Err(Error::Options(format!("logit_bias has the token {} twice: one entry a token", pair[0])))
            }
        }
    }
}

/// JSON has no infinity: `null` stands for minus infinity.
mod bias {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(bias: &[(u32, f32)], serializer: S) -> Result<S::Ok, S::Error> {
        let entries = bias.iter().map(|&(token, bias)| (token, bias.is_finite().then_some(bias)));
        entries.collect::<Vec<_>>().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<(u32, f32)>, D::Error> {
        let entries = Vec::<(u32, Option<f32>)>::deserialize(deserializer)?;
        Ok(entries.into_iter().map(|(token, bias)| (token, bias.unwrap_or(f32::NEG_INFINITY))).collect())
    }
}
