//! The 1 is added once, and in f32.
//!
//! Why: there were two ways to store the factor, and one line for both. A GGUF file holds the sum
//! already, so the factors were 2 and not 1, in each norm of each layer. And near 1, bf16 numbers
//! are 1/128 apart, or 1/256 below it: the sum was rounded to these. The weight itself is small,
//! and bf16 has its digits. That is why it is stored without the 1.
//!
//! What it costs: the norms in f32, some thousand numbers.
//!
//! A common wrong turn: looking for the first bug in the kernels. A relative error of a half of
//! 1/128 in every layer comes from a type with 8 bits, and only one such type was in the way.

/// The weights of a norm, as a file has them.
#[derive(Debug, Clone, PartialEq)]
pub enum Stored {
    /// A folder from the Hugging Face Hub: the upper halves of f32 numbers, which is bf16. They are
    /// around 0: the norm multiplies by 1 + weight.
    Folder(Vec<u16>),
    /// A GGUF file, in f32. The converter has added the 1 already: the norm multiplies by the
    /// weight.
    Gguf(Vec<f32>),
}

/// The norm of a Gemma: `x`, `[d]`, divided by its root mean square, times the factors from the file.
pub fn one_plus_norm(x: &[f32], stored: &Stored, eps: f32) -> Vec<f32> {
    let mean = x.iter().map(|x| x * x).sum::<f32>() / x.len() as f32;
    let scale = 1.0 / (mean + eps).sqrt();
    x.iter().zip(factors(stored)).map(|(x, factor)| x * scale * factor).collect()
}

/// What each number is multiplied by.
fn factors(stored: &Stored) -> Vec<f32> {
    match stored {
        Stored::Folder(halves) => halves.iter().map(|half| 1.0 + widened(*half)).collect(),
        Stored::Gguf(weights) => weights.clone(),
    }
}

/// The f32 number of which `half` is the upper half.
fn widened(half: u16) -> f32 {
    f32::from_bits(u32::from(half) << 16)
}
