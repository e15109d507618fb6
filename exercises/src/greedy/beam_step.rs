//! One step of a beam search.

/// A text that the search follows, or a text that has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Beam {
    /// The prompt and the new tokens, without the end token.
    pub ids: Vec<u32>,
    /// The log-probability of all new tokens together, including the end token.
    pub log_probability: f32,
}

/// What a step makes of the beams. Both lists have their most likely text first.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The beams for the next step.
    pub going_on: Vec<Beam>,
    /// The texts that ended in this step. They are set aside.
    pub ended: Vec<Beam>,
}

/// Greedy never takes back a token, even if a less likely one would have led to a more likely text.
/// A beam search follows several texts at once. You write one step of it: continue all beams by one
/// token, and keep the most likely texts.
///
/// `model` takes the ids of a text and gives the log-probabilities of the next token, `[vocab]`.
/// The log-probability of a text is the sum over its tokens. You ask the model once about each
/// beam.
///
/// - Each beam is continued with every token. All these texts are ranked together, the most likely
///   one first. Of equally likely texts, the one from the earlier beam comes first, and from one
///   beam the one with the lower token id. `beams` may be in any order, and no two are the same
///   text.
/// - A token with the log-probability -inf cannot come, so its text is not ranked.
/// - With the token `end` a text ends. You don't append that token to the ids, but its
///   log-probability counts. The text is set aside if it is among the `width` best of all, and
///   forgotten otherwise.
/// - Of the texts that do not end, the `width` best go on. So texts that end take no place from
///   them. If there are fewer, all go on. `width` is at least 1.
///
/// ```text
/// tokens x (0) and y (1), the end token 2, width 2, probabilities instead of their logarithms:
///
/// beams    x 0.6    y 0.4
/// after x:  x 0.4   y 0.3    end 0.3     ->  xx 0.24   xy 0.18   x, ended 0.18
/// after y:  x 0.5   y 0.05   end 0.45    ->  yx 0.20   yy 0.02   y, ended 0.18
///
/// going on   xx 0.24   yx 0.20        ended   none: 0.18 is not among the 2 best
/// ```
pub fn beam_step(
    model: &dyn Fn(&[u32]) -> Vec<f32>,
    beams: &[Beam],
    end: u32,
    width: usize,
) -> Step {
    todo!()
}
