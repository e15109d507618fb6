//! A bug hunt: a Gemma that mumbles.

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

/// The norm of a Gemma: `x`, `[d]`, divided by its root mean square, times the factors from the
/// file.
///
/// **What was observed.** Read from a folder, the model writes sense. But its logits differ from
/// transformers' in the third digit, and no other model's do. Read from a GGUF file of the same
/// model, it writes the same few words again and again.
///
/// There are two reasons. Find them, and fix them. What should be:
///
/// - `y[i] = x[i] / sqrt(mean(x^2) + eps) * factor[i]`, all in f32. The mean is over the squares of
///   all `d` numbers.
/// - From a folder, the factor is 1 + weight, added in f32. From a GGUF file, the factor is the
///   weight.
pub fn one_plus_norm(x: &[f32], stored: &Stored, eps: f32) -> Vec<f32> {
    let mean = x.iter().map(|x| x * x).sum::<f32>() / x.len() as f32;
    let scale = 1.0 / (mean + eps).sqrt();
    x.iter().zip(factors(stored)).map(|(x, factor)| x * scale * factor).collect()
}

/// What each number is multiplied by.
fn factors(stored: &Stored) -> Vec<f32> {
    let weights = match stored {
        Stored::Folder(halves) => halves.iter().map(|half| widened(*half)).collect(),
        Stored::Gguf(weights) => weights.clone(),
    };
    // Norms are kept in the type of the checkpoint.
    weights.iter().map(|weight: &f32| widened(halved(1.0 + weight))).collect()
}

/// The f32 number of which `half` is the upper half.
fn widened(half: u16) -> f32 {
    f32::from_bits(u32::from(half) << 16)
}

/// The upper half of the nearest number that has no lower half.
fn halved(number: f32) -> u16 {
    let bits = number.to_bits();
    let tie_to_even = 0x7fff + (bits >> 16 & 1);
    ((bits + tie_to_even) >> 16) as u16
}
