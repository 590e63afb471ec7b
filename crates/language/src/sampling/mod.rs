//! From logits to a token.
//!
//! A file a step, in the order of [`SamplingOptions`]. All logits are read in one pass that applies the mask, checks them
//! and keeps the largest of each block of 64; what follows looks only into blocks whose largest says that it must.
//! Nothing is ever sorted. Probabilities come from an exponential function of our own and are summed as whole numbers or
//! in a fixed order, so that the same seed gives the same tokens on every platform.

mod bias;
mod candidates;
mod draw;
mod exponential;
mod mask;
mod min_p;
mod options;
mod penalties;
mod random;
mod sampler;
mod scan;
mod top_k;
mod top_p;

pub use mask::TokenMask;
pub use options::SamplingOptions;
pub use sampler::Sampler;
