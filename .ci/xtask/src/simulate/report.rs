//! What came out of a run.

use serde::Serialize;
use slowburn::engine::{Scheduler, SequenceId};
use slowburn::kv::{Memory, PrefixStats};

use super::percentiles::{Percentiles, percentile, sorted};
use super::recorder::Recorder;
use super::setup::Setup;

/// What came out of a run. Times are in seconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    pub policy: String,
    pub prefix_cache: bool,
    pub max_running: usize,
    pub token_budget: usize,
    pub block_size: usize,
    pub kv_blocks: usize,
    pub requests: usize,
    pub finished: usize,
    /// Requests that all blocks together could not hold.
    pub refused: usize,
    pub steps: usize,
    pub output_tokens: usize,
    /// From the start to the last token.
    pub seconds: f64,
    /// Output tokens per second.
    pub throughput: f64,
    pub time_to_first_token: Percentiles,
    pub inter_token: Percentiles,
    pub end_to_end: Percentiles,
    /// How often a request lost its blocks.
    pub preemptions: usize,
    /// Prompt tokens of the requests that were not refused.
    pub prompt_tokens: usize,
    /// How many of them came from the prefix cache.
    pub cached_tokens: usize,
    pub prefix_hits: u64,
    pub prefix_lookups: u64,
    pub prefix_evictions: u64,
    /// The most blocks that requests held at once.
    pub peak_blocks: usize,
    /// The curves of a chart.
    #[serde(skip)]
    pub curves: Curves,
}

/// The percentiles of a run from 1 to 99, in seconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Curves {
    pub time_to_first_token: Vec<f64>,
    pub inter_token: Vec<f64>,
}

/// What a run counts on the way.
#[derive(Debug, Default)]
pub struct Counts {
    pub refused: usize,
    pub steps: usize,
    pub prompt_tokens: usize,
    pub cached_tokens: usize,
    pub preemptions: usize,
    pub peak_blocks: usize,
    pub prefix: PrefixStats,
}

impl Counts {
    /// The counts of two replicas together.
    pub fn add(self, other: Self) -> Self {
        Self {
            refused: self.refused + other.refused,
            steps: self.steps + other.steps,
            prompt_tokens: self.prompt_tokens + other.prompt_tokens,
            cached_tokens: self.cached_tokens + other.cached_tokens,
            preemptions: self.preemptions + other.preemptions,
            peak_blocks: self.peak_blocks.max(other.peak_blocks),
            prefix: self.prefix + other.prefix,
        }
    }

    /// Counts a sequence that is about to leave.
    pub fn leave<M: Memory>(&mut self, scheduler: &Scheduler<M>, id: SequenceId) {
        self.cached_tokens += scheduler.cached_tokens(id);
        self.preemptions += scheduler.preemptions(id);
    }
}

impl Report {
    pub fn new(setup: &Setup, requests: usize, recorder: Recorder, counts: &Counts) -> Self {
        let Recorder {
            time_to_first_token, inter_token, end_to_end, tokens, end, ..
        } = recorder;
        let [time_to_first_token, inter_token, end_to_end] =
            [time_to_first_token, inter_token, end_to_end].map(sorted);
        Self {
            policy: setup.config.policy.to_string(),
            prefix_cache: setup.config.prefix_cache,
            max_running: setup.config.max_running,
            token_budget: setup.config.token_budget,
            block_size: setup.block_size,
            kv_blocks: setup.blocks(),
            requests,
            finished: end_to_end.len(),
            refused: counts.refused,
            steps: counts.steps,
            output_tokens: tokens,
            seconds: end,
            throughput: tokens as f64 / end,
            curves: Curves {
                time_to_first_token: curve(&time_to_first_token),
                inter_token: curve(&inter_token),
            },
            time_to_first_token: Percentiles::of(&time_to_first_token),
            inter_token: Percentiles::of(&inter_token),
            end_to_end: Percentiles::of(&end_to_end),
            preemptions: counts.preemptions,
            prompt_tokens: counts.prompt_tokens,
            cached_tokens: counts.cached_tokens,
            prefix_hits: counts.prefix.hits,
            prefix_lookups: counts.prefix.lookups,
            prefix_evictions: counts.prefix.evictions,
            peak_blocks: counts.peak_blocks,
        }
    }

    /// The share of prompt tokens that came from the prefix cache.
    pub fn cached_share(&self) -> f64 {
        self.cached_tokens as f64 / self.prompt_tokens.max(1) as f64
    }
}

fn curve(values: &[f64]) -> Vec<f64> {
    let percents = if values.is_empty() { 0..0 } else { 1..100 };
    percents.map(|percent| percentile(values, f64::from(percent))).collect()
}
