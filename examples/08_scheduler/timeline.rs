//! The requests of `08_scheduler`, step by step.

mod report;

use std::collections::BTreeMap;
use std::iter;
use std::time::{Duration, Instant};

use slowburn::engine::{Decision, EngineConfig, Entry, Policy, SequenceId};
use slowburn::generate::{Event, Generation};

use slowburn_examples::cli::Result;

use super::args::ScheduledRequest;
pub use report::timeline;

/// A run of requests, step by step.
pub struct Timeline<'a> {
    requests: &'a [ScheduledRequest],
    config: EngineConfig,
    start: Instant,
    /// The place of each sequence among the requests.
    place_of: BTreeMap<SequenceId, usize>,
    rows: Vec<Row>,
    steps: Vec<Step>,
    record: Vec<Entry>,
}

/// What happened to a request.
#[derive(Default)]
struct Row {
    /// The step before which it arrived, and when.
    arrived: Option<(usize, Duration)>,
    /// The step of each token, and when it was there.
    tokens: Vec<(usize, Duration)>,
    /// The tokens that were read so far, before preemption too, and how many were read again.
    read: usize,
    read_again: usize,
    generation: Option<Generation>,
}

struct Step {
    decisions: Vec<Decision>,
    marks: Vec<Mark>,
    end: Duration,
}

/// What a step did for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// It has not arrived, or has ended.
    Absent,
    Waiting,
    Prefill(usize),
    Decode,
    OverBudget,
    Deferred,
    Stalled,
    Preempted,
}

impl Mark {
    fn of(decision: &Decision) -> (SequenceId, Self) {
        match *decision {
            Decision::Admitted { id, .. } => (id, Self::Waiting),
            Decision::Prefill { id, tokens, .. } => (id, Self::Prefill(tokens)),
            Decision::Decode { id } | Decision::Draft { id, .. } => (id, Self::Decode),
            Decision::OverBudget { id } => (id, Self::OverBudget),
            Decision::Deferred { id } => (id, Self::Deferred),
            Decision::Stalled { id } => (id, Self::Stalled),
            // Not in a batch whose tokens are chosen in its steps.
            Decision::Choosing { id } | Decision::NoSlot { id } => (id, Self::Stalled),
            Decision::Preempted { id, .. } => (id, Self::Preempted),
        }
    }

    pub(super) fn tokens(self) -> usize {
        match self {
            Self::Prefill(tokens) => tokens,
            Self::Decode => 1,
            _ => 0,
        }
    }

    fn sits_out(self) -> bool {
        self.tokens() == 0 && self != Self::Absent
    }
}

impl<'a> Timeline<'a> {
    /// Starts the timer.
    pub fn start(requests: &'a [ScheduledRequest], config: EngineConfig) -> Self {
        Self {
            requests,
            config,
            start: Instant::now(),
            place_of: BTreeMap::new(),
            rows: requests.iter().map(|_| Row::default()).collect(),
            steps: Vec::new(),
            record: Vec::new(),
        }
    }

    /// Whether every request has ended.
    pub fn is_over(&self) -> bool {
        self.rows.iter().all(|row| row.generation.is_some())
    }

    /// The places of the requests that arrive before the next step. Where nothing is left to do,
    /// the next ones arrive at once.
    pub fn arriving(&self) -> Vec<usize> {
        let to_come = (0..self.rows.len()).filter(|&place| self.rows[place].arrived.is_none());
        let is_idle = self.rows.iter().all(|row| row.arrived.is_none() || row.generation.is_some());
        let arrives = |&place: &usize| self.requests[place].arrives;
        let next = to_come.clone().map(|place| arrives(&place)).min().unwrap_or(0);
        let now = if is_idle {
            next.max(self.steps.len())
        } else {
            self.steps.len()
        };
        to_come.filter(|place| arrives(place) <= now).collect()
    }

    /// Notes that the request at `place` is now this sequence.
    pub fn arrived(&mut self, place: usize, id: SequenceId) {
        self.place_of.insert(id, place);
        self.rows[place].arrived = Some((self.steps.len(), self.start.elapsed()));
    }

    /// Notes what a step decided, and what came of it.
    ///
    /// # Errors
    /// That of a sequence that has failed.
    pub fn step(&mut self, record: Vec<Entry>, events: Vec<(SequenceId, Event)>) -> Result<()> {
        let (step, end) = (self.steps.len(), self.start.elapsed());
        let is_there = |row: &Row| row.arrived.is_some() && row.generation.is_none();
        let mut marks: Vec<Mark> = (self.rows.iter())
            .map(|row| {
                if is_there(row) {
                    Mark::Waiting
                } else {
                    Mark::Absent
                }
            })
            .collect();
        let mut decisions = Vec::new();
        for entry in &record {
            if let Entry::Step { decisions: these } = entry {
                decisions.extend(these);
            }
        }
        // A later decision about a sequence replaces an earlier one.
        for (id, mark) in decisions.iter().map(Mark::of) {
            if let Some(&place) = self.place_of.get(&id) {
                marks[place] = mark;
            }
        }
        self.count_tokens(&decisions, &marks);
        for (id, event) in events {
            let Some(&place) = self.place_of.get(&id) else {
                continue;
            };
            let row = &mut self.rows[place];
            match event {
                Event::Token(_) => row.tokens.push((step, end)),
                Event::Finished(generation) => row.generation = Some(generation),
                Event::Failed(error) => return Err(error.into()),
            }
        }
        // What has ended without any part in the step was not waiting.
        for (row, mark) in self.rows.iter().zip(&mut marks) {
            if row.generation.is_some() && *mark == Mark::Waiting {
                *mark = Mark::Absent;
            }
        }
        self.steps.push(Step { decisions, marks, end });
        self.record.extend(record);
        Ok(())
    }

    fn count_tokens(&mut self, decisions: &[Decision], marks: &[Mark]) {
        for decision in decisions {
            let (id, mark) = Mark::of(decision);
            let Some(&place) = self.place_of.get(&id).filter(|place| marks[**place] == mark) else {
                continue; // it was preempted after all
            };
            let row = &mut self.rows[place];
            match *decision {
                Decision::Prefill { start, tokens, .. } => {
                    let end = start + tokens;
                    row.read_again += end.min(row.read).saturating_sub(start);
                    row.read = row.read.max(end);
                }
                Decision::Decode { .. } => row.read += 1,
                _ => {}
            }
        }
    }

    /// The record of all steps.
    pub fn record(&self) -> &[Entry] {
        &self.record
    }

    /// The time of all steps.
    pub fn time(&self) -> Duration {
        self.steps.last().map_or(Duration::ZERO, |step| step.end)
    }

    pub(super) fn policy(&self) -> Policy {
        self.config.policy
    }

    pub(super) fn count_of_steps(&self) -> usize {
        self.steps.len()
    }

    /// The token budget, where the policy has one.
    #[cfg(feature = "plot")]
    pub(super) fn budget(&self) -> Option<usize> {
        (self.config.policy == Policy::ChunkedPrefill).then_some(self.config.token_budget)
    }

    /// The seconds at which each step ended, and what it did for each request.
    #[cfg(feature = "plot")]
    pub(super) fn steps(&self) -> impl Iterator<Item = (f64, &[Mark])> {
        self.steps.iter().map(|step| (step.end.as_secs_f64(), &step.marks[..]))
    }

    pub(super) fn generations(&self) -> impl Iterator<Item = &Generation> {
        self.rows.iter().filter_map(|row| row.generation.as_ref())
    }

    /// The time to first token of each request that has one.
    pub(super) fn ttfts(&self) -> Vec<Duration> {
        self.rows.iter().filter_map(Row::ttft).map(|(_, time)| time).collect()
    }

    /// The times between two tokens of a request, of all requests.
    pub(super) fn gaps(&self) -> Vec<Duration> {
        self.rows.iter().flat_map(Row::gaps).collect()
    }

    /// The times of the steps that read a prompt.
    pub(super) fn prefill_steps(&self) -> Vec<Duration> {
        let starts = iter::once(Duration::ZERO).chain(self.steps.iter().map(|step| step.end));
        let with_start = starts.zip(&self.steps);
        let reads = |step: &Step| step.marks.iter().any(|mark| matches!(mark, Mark::Prefill(_)));
        with_start
            .filter(|(_, step)| reads(step))
            .map(|(start, step)| step.end.saturating_sub(start))
            .collect()
    }

    /// The number of steps in which a request that was there computed nothing.
    fn waited(&self, place: usize) -> usize {
        self.steps.iter().filter(|step| step.marks[place].sits_out()).count()
    }
}

impl Row {
    /// The steps and the time from arrival to the first token.
    fn ttft(&self) -> Option<(usize, Duration)> {
        let ((arrived, since), (step, at)) = (self.arrived?, *self.tokens.first()?);
        Some((step + 1 - arrived, at.saturating_sub(since)))
    }

    fn gaps(&self) -> impl Iterator<Item = Duration> {
        self.tokens.windows(2).map(|pair| pair[1].1.saturating_sub(pair[0].1))
    }
}

pub(super) fn milliseconds(time: Duration) -> f64 {
    1e3 * time.as_secs_f64()
}
