//! A replica in virtual time: a scheduler, and the step that it is in.

use anyhow::Result;
use slowburn::engine::{Chunk, Event, Scheduler, SequenceId};
use slowburn::model::Logits;

use super::cost::StepCost;
use super::recorder::Recorder;
use super::report::Counts;
use super::request::Request;
use super::setup::Setup;
use super::work::Work;

/// What a replica computes at present.
struct Step {
    /// When it ends.
    end: f64,
    chunks: Vec<Chunk>,
}

/// A replica, and what it has counted.
pub struct Replica {
    scheduler: Scheduler,
    step: Option<Step>,
    pub counts: Counts,
    /// Requests that have arrived and not finished.
    pub open: usize,
    /// Tokens that it has written.
    pub tokens: usize,
}

impl Replica {
    pub fn new(setup: &Setup) -> Self {
        Self {
            scheduler: setup.scheduler(),
            step: None,
            counts: Counts::default(),
            open: 0,
            tokens: 0,
        }
    }

    /// A request has arrived. The scheduler refuses one that would not fit whatever else runs.
    pub fn arrive(&mut self, request: &Request, vocab: usize) {
        let arrive = Event::Arrive {
            id: SequenceId(request.index as u64),
            prompt: request.prompt_ids(vocab),
            max_tokens: request.output,
            chunk: usize::MAX,
            prompt_logits: false,
        };
        match self.scheduler.handle(arrive) {
            Ok(()) => {
                self.counts.prompt_tokens += request.prompt;
                self.open += 1;
            }
            Err(_) => self.counts.refused += 1,
        }
    }

    /// When its step ends, if it is in one.
    pub fn end(&self) -> Option<f64> {
        self.step.as_ref().map(|step| step.end)
    }

    /// How many requests its scheduler has.
    pub fn len(&self) -> usize {
        self.scheduler.len()
    }

    /// Starts a step at `now`, if it is in none and there is something to do.
    pub fn start(&mut self, now: f64, cost: &StepCost, requests: &[Request]) {
        if self.step.is_some() {
            return;
        }
        let chunks = self.scheduler.plan().chunks;
        if chunks.is_empty() {
            return;
        }
        let prompt = |chunk: &Chunk| requests[chunk.id.0 as usize].prompt;
        let end = now + cost.of(&Work::of(&chunks, prompt));
        self.counts.steps += 1;
        self.counts.peak_blocks = self.counts.peak_blocks.max(self.scheduler.blocks().owned());
        self.step = Some(Step { end, chunks });
    }

    /// Ends the step that ends at `now`: its tokens come out.
    pub fn finish(
        &mut self,
        now: f64,
        requests: &[Request],
        vocab: usize,
        recorder: &mut Recorder,
    ) -> Result<()> {
        let Some(Step { chunks, .. }) = self.step.take_if(|step| step.end <= now) else {
            return Ok(());
        };
        self.scheduler.complete(&chunks);
        for chunk in chunks.iter().filter(|chunk| chunk.logits == Logits::Last) {
            let (id, request) = (chunk.id, &requests[chunk.id.0 as usize]);
            let tokens = recorder.token(request, now);
            self.tokens += 1;
            if tokens < request.output {
                let token = request.output_id(tokens, vocab);
                self.scheduler.handle(Event::Token { id, token })?;
            } else {
                self.counts.leave(&self.scheduler, id);
                self.scheduler.handle(Event::Leave { id })?;
                self.open -= 1;
            }
        }
        Ok(())
    }

    /// What it has counted, the blocks of its prefix cache among them.
    pub fn into_counts(self) -> Counts {
        Counts {
            prefix: self.scheduler.blocks().prefix_stats(),
            ..self.counts
        }
    }
}
