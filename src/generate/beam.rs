//! Beam search: searches for the most likely text instead of sampling one.

use super::FinishReason;
use super::score::check_finite;
use super::sequence_state::TokenLimit;
use crate::error::{RequestError, Result};
use crate::kv::KvCache;
use crate::model::{Input, Model};
use crate::sampling::logprobs;

/// The parameters of a beam search.
#[derive(Debug, Clone, PartialEq)]
pub struct BeamOptions {
    /// The number of beams, at most [`MAX_WIDTH`](Self::MAX_WIDTH). A width of 1 is greedy
    /// decoding.
    pub width: usize,
    /// The most tokens to generate.
    pub max_tokens: usize,
    /// Texts are ranked by `logprob / length^length_penalty`: 0 favours short texts, because every
    /// token lowers `logprob`, and larger values favour longer ones.
    pub length_penalty: f32,
    /// Continue after an end-of-sequence token, which is then kept like any other.
    pub ignore_eos: bool,
}

impl Default for BeamOptions {
    fn default() -> Self {
        Self {
            width: 4,
            max_tokens: 64,
            length_penalty: 1.0,
            ignore_eos: false,
        }
    }
}

/// A text that the search found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hypothesis {
    /// The new tokens, without the end-of-sequence token.
    pub ids: Vec<u32>,
    /// The log-probability of `ids` after the prompt, including that of the end-of-sequence token.
    pub logprob: f64,
    /// The value by which texts are ranked.
    pub score: f64,
    /// Why it ended.
    pub finish_reason: FinishReason,
}

/// A text that the search still extends.
struct Beam {
    ids: Vec<u32>,
    logprob: f64,
    /// The keys and values of the prompt and of `ids`.
    cache: KvCache,
    /// The logits of the next token: `[vocab]`.
    logits: Vec<f32>,
}

/// A beam with one more token.
struct Candidate {
    beam: usize,
    id: u32,
    logprob: f64,
}

/// Returns the texts with the highest scores that it finds, best first; no more than `width`.
///
/// At every step each beam is extended by its most likely tokens, and the `width` most likely of
/// all these texts become the next beams. The others are dropped for good, so the search may miss
/// the best text. The rules are those of transformers with `early_stopping="never"`.
///
/// # Errors
/// A width of 0 or above [`BeamOptions::MAX_WIDTH`], a length penalty that is not finite, a prompt
/// that [`Model::check_prompt`] rejects, unusable logits.
pub fn beam(model: &Model, prompt: &[u32], options: &BeamOptions) -> Result<Vec<Hypothesis>> {
    options.validate()?;
    let search = Search::new(model, prompt, options)?;
    let mut finished = Vec::new();
    let mut beams = match search.limit.left {
        0 => Vec::new(),
        _ => vec![search.first_beam(prompt)?],
    };
    for length in 1..=search.limit.left {
        let (ended, going_on) = search.candidates(&beams)?;
        for candidate in ended {
            let ids = beams[candidate.beam].ids.clone();
            finished.push(search.hypothesis(ids, candidate.logprob, length, FinishReason::Eos));
        }
        keep_best(&mut finished, options.width);
        if length == search.limit.left {
            for candidate in going_on {
                let ids = with(&beams[candidate.beam].ids, candidate.id);
                finished.push(search.hypothesis(
                    ids,
                    candidate.logprob,
                    length,
                    search.limit.reason(),
                ));
            }
            break;
        }
        if search.cannot_improve(&finished, &going_on, length) {
            break;
        }
        beams = search.advance(&beams, &going_on)?;
    }
    keep_best(&mut finished, options.width);
    Ok(finished)
}

impl BeamOptions {
    /// The largest width. Every beam has a KV cache of its own, so a search takes up to as much
    /// memory as `width` generations.
    pub const MAX_WIDTH: usize = 1024;

    fn validate(&self) -> Result<()> {
        let parameter = |name, value: String, allowed| {
            Err(RequestError::Parameter { name, value, allowed }.into())
        };
        if !(1..=Self::MAX_WIDTH).contains(&self.width) {
            let allowed = "1 to 1024 (1 is greedy; every beam has a KV cache of its own)";
            return parameter("beam width", self.width.to_string(), allowed);
        }
        if !self.length_penalty.is_finite() {
            return parameter("length_penalty", self.length_penalty.to_string(), "a finite number");
        }
        Ok(())
    }
}

/// The constants of one search.
struct Search<'a> {
    model: &'a Model,
    options: &'a BeamOptions,
    end_ids: &'a [u32],
    capacity: usize,
    limit: TokenLimit,
}

impl<'a> Search<'a> {
    fn new(model: &'a Model, prompt: &[u32], options: &'a BeamOptions) -> Result<Self> {
        let limit = TokenLimit::new(model, prompt, options.max_tokens)?;
        let end_ids = if options.ignore_eos {
            &[]
        } else {
            model.config().eos_token_ids.as_slice()
        };
        let capacity = prompt.len() + limit.left;
        Ok(Self { model, options, end_ids, capacity, limit })
    }

    fn first_beam(&self, prompt: &[u32]) -> Result<Beam> {
        let mut cache = self.model.new_cache(self.capacity)?;
        let logits = next_logits(self.model, &mut cache, prompt)?;
        Ok(Beam { ids: Vec::new(), logprob: 0.0, cache, logits })
    }

    /// The most likely one-token continuations of all beams: those that end their text, and the
    /// `width` best of the others.
    fn candidates(&self, beams: &[Beam]) -> Result<(Vec<Candidate>, Vec<Candidate>)> {
        let width = self.options.width;
        let mut all = Vec::new();
        for (beam, Beam { ids, logprob, logits, .. }) in beams.iter().enumerate() {
            check_finite(logits, ids.len())?;
            let likely = logprobs(logits, 0, width + self.end_ids.len()).top;
            all.extend(likely.into_iter().map(|(id, token_logprob)| Candidate {
                beam,
                id,
                logprob: logprob + f64::from(token_logprob),
            }));
        }
        all.sort_by(|a, b| b.logprob.total_cmp(&a.logprob));

        let (mut ended, mut going_on) = (Vec::new(), Vec::new());
        for (rank, candidate) in all.into_iter().enumerate() {
            if self.end_ids.contains(&candidate.id) {
                // As in transformers, an end counts only among the `width` most likely.
                if rank < width {
                    ended.push(candidate);
                }
            } else if going_on.len() < width {
                going_on.push(candidate);
            }
        }
        Ok((ended, going_on))
    }

    /// Runs the model over the new token of each candidate, on a fork of its beam's KV cache. Forks
    /// share all blocks but those that are written to; on a device without blocks the whole cache is
    /// copied. This is the memory cost of beam search.
    fn advance(&self, beams: &[Beam], candidates: &[Candidate]) -> Result<Vec<Beam>> {
        let step = |candidate: &Candidate| {
            let parent = &beams[candidate.beam];
            let mut cache = parent.cache.fork()?;
            let logits = next_logits(self.model, &mut cache, &[candidate.id])?;
            let ids = with(&parent.ids, candidate.id);
            Ok(Beam { ids, logprob: candidate.logprob, cache, logits })
        };
        candidates.iter().map(step).collect()
    }

    /// Whether no continuation can rank above the worst finished text.
    fn cannot_improve(&self, finished: &[Hypothesis], live: &[Candidate], length: usize) -> bool {
        let Some(best) = live.first() else {
            return true;
        };
        if finished.len() < self.options.width {
            return false;
        }
        let worst = finished.last().map_or(f64::NEG_INFINITY, |hypothesis| hypothesis.score);
        // More tokens can only lower `logprob`. With a penalty above 0, a longer text divides it by
        // more, so the best case is full length at the current `logprob`.
        let length = if self.options.length_penalty > 0.0 {
            self.limit.left
        } else {
            length
        };
        worst >= self.score(best.logprob, length)
    }

    /// `length` counts the end-of-sequence token.
    fn hypothesis(
        &self,
        ids: Vec<u32>,
        logprob: f64,
        length: usize,
        finish_reason: FinishReason,
    ) -> Hypothesis {
        Hypothesis {
            ids,
            logprob,
            score: self.score(logprob, length),
            finish_reason,
        }
    }

    fn score(&self, logprob: f64, length: usize) -> f64 {
        logprob / (length as f64).powf(f64::from(self.options.length_penalty))
    }
}

fn keep_best(finished: &mut Vec<Hypothesis>, width: usize) {
    finished.sort_by(|a, b| b.score.total_cmp(&a.score));
    finished.truncate(width);
}

fn with(ids: &[u32], id: u32) -> Vec<u32> {
    let mut ids = ids.to_vec();
    ids.push(id);
    ids
}

/// Runs the model over `tokens`, and returns the logits of the next token, `[vocab]`.
fn next_logits(model: &Model, cache: &mut KvCache, tokens: &[u32]) -> Result<Vec<f32>> {
    let rows = model.forward(&mut [Input::after(cache, tokens)])?;
    Ok(rows.into_iter().next().unwrap_or_default())
}
