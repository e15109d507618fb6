//! *13*: a text with guesses from itself, pass by pass.

use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use slowburn::generate::{Batch, Event, Options};
use slowburn::pretrained::Pretrained;
use slowburn::sampling::SamplingParams;
use slowburn::speculation::{Draft, DraftLength, PromptLookup, Speculator, Text};

use crate::widget::{Result, Token, Widget, in_json};

/// The most tokens that are guessed in a step.
const MOST: usize = 8;

pub struct Guess {
    pretrained: &'static Pretrained,
    running: Option<Running>,
}

/// A text in progress, and what was guessed in the last step.
struct Running {
    batch: Batch<'static>,
    guessed: Arc<Mutex<Vec<u32>>>,
}

/// Prompt lookup that keeps what it proposes.
struct Watched {
    lookup: PromptLookup,
    guessed: Arc<Mutex<Vec<u32>>>,
}

impl Draft for Watched {
    fn propose(&mut self, text: &Text<'_>, most: usize) -> slowburn::Result<Vec<u32>> {
        let tokens = self.lookup.propose(text, most)?;
        *self.guessed.lock().unwrap_or_else(PoisonError::into_inner) = tokens.clone();
        Ok(tokens)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Request {
    /// Reads a prompt, in place of the text before.
    Begin {
        prompt: String,
        sampling: SamplingParams,
    },
    /// One pass.
    Step,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Begun { prompt: Vec<Token> },
    Step(Step),
}

#[derive(Default, Serialize)]
struct Step {
    guessed: Vec<Token>,
    /// What the text gained: the guesses that were right, and one token more.
    tokens: Vec<Token>,
    has_ended: bool,
}

impl Guess {
    pub fn new(pretrained: &'static Pretrained) -> Self {
        Self { pretrained, running: None }
    }

    fn begin(&mut self, prompt: &str, sampling: SamplingParams) -> Result<Answer> {
        // Where a prompt is refused, nothing is left of the text before.
        self.running = None;
        let model = &self.pretrained.model;
        let ids = self.pretrained.prompt_ids(prompt)?;
        let max_tokens = model.config().context_length;
        let mut batch = Batch::new(model);
        let id = batch.join(&ids, &Options { max_tokens, sampling, ..Options::default() })?;
        let guessed = Arc::default();
        let watched = Watched {
            lookup: PromptLookup::default(),
            guessed: Arc::clone(&guessed),
        };
        batch.speculate(id, Speculator::new(watched, DraftLength::adaptive(MOST)));
        self.running = Some(Running { batch, guessed });
        Ok(Answer::Begun { prompt: Token::all(self.pretrained, &ids) })
    }

    fn step(&mut self) -> Result<Answer> {
        let Running { batch, guessed } = self.running.as_mut().ok_or("no text has begun")?;
        let mut step = Step::default();
        for (_, event) in batch.step() {
            match event {
                Event::Token(token) => {
                    step.tokens.push(Token::new(self.pretrained, token.token_id));
                }
                Event::Finished(_) => step.has_ended = true,
                Event::Failed(error) => return Err(error.into()),
            }
        }
        let guessed = mem::take(&mut *guessed.lock().unwrap_or_else(PoisonError::into_inner));
        step.guessed = Token::all(self.pretrained, &guessed);
        if step.has_ended {
            self.running = None;
        }
        Ok(Answer::Step(step))
    }
}

impl Widget for Guess {
    fn answer(&mut self, request: &str) -> Result<String> {
        in_json(request, |request| match request {
            Request::Begin { prompt, sampling } => self.begin(&prompt, sampling),
            Request::Step => self.step(),
        })
    }
}
