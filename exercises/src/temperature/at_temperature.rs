//! The distribution at a temperature.

/// Why a temperature is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidTemperature {
    /// It is below 0: the worst token would be the likeliest.
    Negative,
    /// It is NaN, infinity or minus infinity.
    NotFinite,
}

/// One number decides how daring a model is. What is the probability of each token at a
/// temperature? The softmax of `logit / temperature`, and then the catches at both ends.
///
/// `logits` is `[vocab]`; you return `[vocab]`. At least one logit is finite, none is NaN or +inf,
/// and a logit of -inf has the probability 0. The finite ones lie between -1e38 and 1e38, and there
/// are at most 1,000.
///
/// - The temperature 0 is greedy: the token with the greatest logit has the probability 1, all
///   others have 0. Of equals it is the one with the lowest id. -0.0 is 0 too.
/// - Every temperature above 0 is taken as it is, however tiny or huge: there must be no NaN,
///   equals share, and if two logits are as far apart as the temperature, the second has 0.2689.
/// - Tokens may be so unlikely that their probability at the temperature 1 is 0 in an `f64`. A high
///   temperature brings them back.
/// - A probability may be off by 0.00001.
/// - A temperature below 0, or one that is not finite, is an error. Minus infinity is below 0 too:
///   its error is `NotFinite`.
///
/// Two questions to answer before you write. What becomes of the best token's probability when the
/// temperature is above 1? And when it is below 1? The tests know, and so does the answer.
///
/// ```text
/// at_temperature(&[2.0, 1.5, 1.0, 0.5], 1.0)    -> [0.455, 0.276, 0.167, 0.102]
/// at_temperature(&[2.0, 1.5, 1.0, 0.5], 2.0)    -> [0.350, 0.273, 0.212, 0.165]
/// at_temperature(&[2.0, 1.5, 1.0, 0.5], 0.0)    -> [1.0, 0.0, 0.0, 0.0]
/// at_temperature(&[2.0, 1.5, 1.0, 0.5], -1.0)   -> Err(InvalidTemperature::Negative)
/// ```
pub fn at_temperature(logits: &[f32], temperature: f32) -> Result<Vec<f32>, InvalidTemperature> {
    todo!()
}
