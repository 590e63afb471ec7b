//! What was measured of a variant as it runs, against eager fp32: by task.

use super::present;
use serde::{Deserialize, Serialize};

/// How close a variant is to eager fp32.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Quality {
    /// Of a classifier.
    Classify(ClassifyQuality),
    /// Of embeddings.
    Embed(EmbedQuality),
    /// Of a language model.
    Generate(GenerateQuality),
    /// Of a model of images and language.
    Describe(DescribeQuality),
}

/// How close a classifier is to eager fp32, over real images.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassifyQuality {
    /// Images compared.
    pub images: u32,
    /// Share of them with the same best label.
    pub top1_agreement: f64,
    /// Root mean square error of the logits.
    pub logit_rmse: f64,
    /// Signal to quantisation noise of the logits, dB.
    pub logit_sqnr_db: f64,
    /// What had to be reached.
    pub gate: ClassifyGate,
}

/// The least quality with which an export succeeds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassifyGate {
    /// Share of images with the same best label.
    pub top1_agreement: f64,
}

/// How well embeddings find what people judged to be similar, beside those of eager fp32.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmbedQuality {
    /// Documents, each the query in turn.
    pub documents: u32,
    /// Normalised discounted cumulative gain of the ten most similar, 0 to 1.
    pub ndcg_at_10: f64,
    /// The same of eager fp32.
    pub ndcg_at_10_fp32: f64,
    /// Rank correlation of all similarities with the judgements, -1 to 1.
    pub spearman: f64,
    /// The same of eager fp32.
    pub spearman_fp32: f64,
    /// The least cosine of a document's embedding and its fp32 one.
    pub cosine_min: f64,
    /// Their mean.
    pub cosine_mean: f64,
    /// What had to be reached.
    pub gate: EmbedGate,
}

/// The least quality with which an export succeeds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmbedGate {
    /// How far `ndcg_at_10` may be below that of fp32.
    pub ndcg_at_10_drop: f64,
}

/// How close a language model's predictions are to those of eager fp32, on held-out text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GenerateQuality {
    /// Tokens of text.
    pub tokens: u32,
    /// e to the mean negative log likelihood of each next token.
    pub perplexity: f64,
    /// The same of eager fp32.
    pub perplexity_fp32: f64,
    /// Share of positions with the same most likely token.
    pub next_token_agreement: f64,
    /// Mean Kullback-Leibler divergence from the fp32 predictions, nats.
    pub kl_divergence: f64,
    /// The largest difference of a logit.
    pub logit_max_error: f64,
    /// Plain requests that were answered.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub prompts: Option<u32>,
    /// Answers that end in the same few tokens over and over, where those of fp32 do not.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub looping: Option<u32>,
    /// What had to be reached.
    pub gate: GenerateGate,
}

/// The least quality with which an export succeeds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GenerateGate {
    /// The most that `perplexity` / `perplexity_fp32` may be.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub perplexity_ratio: Option<f64>,
    /// The most that a logit may differ.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub logit_max_error: Option<f64>,
    /// The most answers that may loop.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub looping: Option<u32>,
    /// The most that the predictions may be from those of fp32, nats.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub kl_divergence: Option<f64>,
}

/// How close the methods of a model of images and language are to eager fp32, one after the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DescribeQuality {
    /// Images.
    pub images: u32,
    /// Tokens of text in all.
    pub tokens: u32,
    /// The largest difference of a logit.
    pub logit_max_error: f64,
    /// The largest difference of a value of an image's embeddings.
    pub embedding_max_error: f64,
    /// Share of positions with the same most likely token.
    pub next_token_agreement: f64,
    /// Mean Kullback-Leibler divergence from the fp32 predictions, nats.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub kl_divergence: Option<f64>,
    /// What had to be reached.
    pub gate: DescribeGate,
}

/// The least quality with which an export succeeds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DescribeGate {
    /// The most that a logit, or a value of an image's embeddings, may differ.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub logit_max_error: Option<f64>,
    /// The most that the mean divergence may be, nats.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub kl_divergence: Option<f64>,
}
