//! From tokens to text that can be shown at once, and the strings that end it.

mod stop;
mod text_stream;

pub use text_stream::{Piece, StreamOptions, TextStream};
