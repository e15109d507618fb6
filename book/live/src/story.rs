//! *First light*: a beginning, and a story that arrives token by token.

use serde::{Deserialize, Serialize};
use slowburn::generate::{Batch, Event, FinishReason, Options};
use slowburn::pretrained::Pretrained;
use slowburn::tokenizer::IncrementalDecoder;

use crate::widget::{Beginning, Result, Widget, in_json};

pub struct Story {
    pretrained: &'static Pretrained,
    running: Option<Running>,
}

/// A story in progress.
struct Running {
    /// A batch of one sequence: unlike the loops of `generate`, it can be left between two steps.
    batch: Batch<'static>,
    decoder: IncrementalDecoder<'static>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Request {
    /// Reads a prompt, in place of the story before.
    Begin(Beginning),
    /// Writes so many tokens more, or fewer where the story ends.
    Next { tokens: usize },
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Begun { prompt_tokens: usize },
    More(More),
}

#[derive(Default, Serialize)]
struct More {
    ids: Vec<u32>,
    text: String,
    /// Why the story has ended, if it has.
    end: Option<FinishReason>,
}

impl Story {
    pub fn new(pretrained: &'static Pretrained) -> Self {
        Self { pretrained, running: None }
    }

    fn begin(&mut self, prompt: &str, options: &Options) -> Result<Answer> {
        // Where a prompt is refused, nothing is left of the story before; and the blocks of both need
        // not fit.
        self.running = None;
        let ids = self.pretrained.prompt_ids(prompt)?;
        let mut batch = Batch::new(&self.pretrained.model);
        batch.join(&ids, options)?;
        let decoder = IncrementalDecoder::after(&self.pretrained.tokenizer, &ids);
        self.running = Some(Running { batch, decoder });
        Ok(Answer::Begun { prompt_tokens: ids.len() })
    }

    fn next(&mut self, tokens: usize) -> Result<Answer> {
        let Some(mut running) = self.running.take() else {
            return Err("no story has begun".into());
        };
        let mut more = More::default();
        while more.ids.len() < tokens {
            for (_, event) in running.batch.step() {
                match event {
                    Event::Token(token) => {
                        more.ids.push(token.token_id);
                        more.text += &running.decoder.push(token.token_id)?;
                    }
                    Event::Finished(generation) => {
                        more.text += &running.decoder.finish()?;
                        more.end = Some(generation.finish_reason);
                        return Ok(Answer::More(more));
                    }
                    Event::Failed(error) => return Err(error.into()),
                }
            }
        }
        self.running = Some(running);
        Ok(Answer::More(more))
    }
}

impl Widget for Story {
    fn answer(&mut self, request: &str) -> Result<String> {
        in_json(request, |request| match request {
            Request::Begin(text) => self.begin(&text.prompt, &text.options()),
            Request::Next { tokens } => self.next(tokens),
        })
    }
}
