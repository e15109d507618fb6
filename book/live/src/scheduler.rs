//! *06*, *09* and *10*: the scheduler, one step at a time.

use serde::{Deserialize, Serialize};
use slowburn::device::{self, DeviceChoice, Precision};
use slowburn::engine::{EngineConfig, Policy, SequenceId};
use slowburn::generate::{Batch, Event, Options};
use slowburn::pretrained::Pretrained;
use slowburn::sampling::SamplingParams;

use crate::widget::{Result, Widget, in_json};

pub struct Scheduler {
    gguf: &'static [u8],
    run: Option<Run>,
}

/// Requests in progress.
struct Run {
    pretrained: &'static Pretrained,
    batch: Batch<'static>,
    steps: usize,
    sequences: Vec<Sequence>,
}

struct Sequence {
    id: SequenceId,
    prompt: usize,
    ids: Vec<u32>,
    has_ended: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Request {
    /// An engine without requests.
    Begin {
        /// The blocks of 32 tokens that all requests share.
        blocks: usize,
        token_budget: usize,
        policy: Policy,
        prefix_cache: bool,
    },
    /// A request arrives.
    Add {
        prompt: String,
        max_tokens: usize,
        seed: u64,
    },
    Step,
}

#[derive(Serialize)]
struct Answer {
    steps: usize,
    sequences: Vec<Shown>,
    /// How many sequences hold each block.
    owners: Vec<usize>,
    /// Blocks without an owner that the prefix cache keeps.
    cached: usize,
    /// What the last step decided and why.
    decisions: Vec<String>,
    /// The tokens that the last step computed.
    tokens: usize,
    preemptions: u64,
    prefix_hits: u64,
    has_work: bool,
}

#[derive(Serialize)]
struct Shown {
    id: u64,
    prompt: usize,
    /// Its tokens, the prompt included, and those of them whose keys and values are kept.
    length: usize,
    kept: usize,
    /// The positions that the last step computed.
    computed: Option<[usize; 2]>,
    /// The numbers of its blocks.
    blocks: Vec<usize>,
    text: String,
    preemptions: usize,
    has_ended: bool,
}

impl Scheduler {
    pub fn new(gguf: &'static [u8]) -> Self {
        Self { gguf, run: None }
    }

    fn begin(&mut self, blocks: usize, config: EngineConfig) -> Result<()> {
        // The model of the run before, if any, with another budget: a model that is leaked twice
        // would cost its weights twice.
        let pretrained = match self.run.take() {
            Some(run) if run.batch.scheduler().blocks().max_blocks() == blocks => run.pretrained,
            _ => {
                let device = device::open(DeviceChoice::Cpu)?;
                let mut pretrained =
                    Pretrained::from_gguf(self.gguf, "the weights", &device, Precision::F32)?;
                let bytes = blocks * pretrained.model.kv_pool().block_bytes();
                pretrained.model = pretrained.model.with_kv_cache_bytes(bytes);
                Box::leak(Box::new(pretrained))
            }
        };
        let batch = Batch::with_config(&pretrained.model, config);
        self.run = Some(Run { pretrained, batch, steps: 0, sequences: Vec::new() });
        Ok(())
    }
}

impl Run {
    fn add(&mut self, prompt: &str, options: &Options) -> Result<()> {
        let ids = self.pretrained.prompt_ids(prompt)?;
        let id = self.batch.join(&ids, options)?;
        self.sequences.push(Sequence { id, prompt: ids.len(), ids, has_ended: false });
        Ok(())
    }

    fn step(&mut self) -> Result<()> {
        self.steps += 1;
        for (id, event) in self.batch.step() {
            let Some(sequence) = self.sequences.iter_mut().find(|sequence| sequence.id == id)
            else {
                continue;
            };
            match event {
                Event::Token(token) => sequence.ids.push(token.token_id),
                Event::Finished(_) => sequence.has_ended = true,
                Event::Failed(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn shown(&self) -> Result<Answer> {
        let (plan, scheduler) = (self.batch.plan(), self.batch.scheduler());
        let manager = scheduler.blocks();
        let show = |sequence: &Sequence| -> Result<Shown> {
            let table = scheduler.table(sequence.id);
            let chunk = plan.chunks.iter().find(|chunk| chunk.id == sequence.id);
            let blocks = table.map_or(&[][..], |table| table.blocks());
            Ok(Shown {
                id: sequence.id.0,
                prompt: sequence.prompt,
                length: sequence.ids.len(),
                kept: table.map_or(0, |table| table.length()),
                computed: chunk.map(|chunk| [chunk.positions.start, chunk.positions.end]),
                blocks: blocks
                    .iter()
                    .map(|block| Ok(block.id().to_string().parse()?))
                    .collect::<Result<_>>()?,
                text: self.pretrained.tokenizer.decode(&sequence.ids)?,
                preemptions: scheduler.preemptions(sequence.id),
                has_ended: sequence.has_ended,
            })
        };
        let sequences: Vec<Shown> = self.sequences.iter().map(show).collect::<Result<_>>()?;
        let mut owners = vec![0; manager.max_blocks()];
        for block in sequences.iter().flat_map(|sequence| &sequence.blocks) {
            if let Some(owners) = owners.get_mut(*block) {
                *owners += 1;
            }
        }
        Ok(Answer {
            steps: self.steps,
            sequences,
            owners,
            cached: manager.counts().cached,
            decisions: plan.decisions.iter().map(ToString::to_string).collect(),
            tokens: plan.tokens(),
            preemptions: scheduler.stats().preemptions,
            prefix_hits: manager.prefix_stats().hits,
            has_work: self.batch.has_work(),
        })
    }
}

impl Widget for Scheduler {
    fn answer(&mut self, request: &str) -> Result<String> {
        in_json(request, |request| {
            if let Request::Begin { blocks, token_budget, policy, prefix_cache } = request {
                self.begin(
                    blocks,
                    EngineConfig {
                        policy,
                        token_budget,
                        prefix_cache,
                        ..EngineConfig::default()
                    },
                )?;
            } else {
                let run = self.run.as_mut().ok_or("no engine has begun")?;
                match request {
                    Request::Add { prompt, max_tokens, seed } => {
                        let sampling = SamplingParams {
                            temperature: 0.8,
                            top_p: Some(0.95),
                            seed,
                            ..SamplingParams::default()
                        };
                        let options = Options { max_tokens, sampling, ..Options::default() };
                        run.add(&prompt, &options)?;
                    }
                    _ => run.step()?,
                }
            }
            self.run.as_ref().ok_or("no engine has begun")?.shown()
        })
    }
}
