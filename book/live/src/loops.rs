//! *00* and *05*: the naive loop and the cached loop, step by step.

use serde::{Deserialize, Serialize};
use slowburn::kv::KvCache;
use slowburn::model::Input;
use slowburn::pretrained::Pretrained;
use slowburn::sampling::{Sampler, SamplingParams};

use crate::widget::{Result, Token, Widget, in_json};

pub struct Loops {
    pretrained: &'static Pretrained,
    naive: Option<Loop>,
    cached: Option<Loop>,
}

/// A loop between two steps.
struct Loop {
    ids: Vec<u32>,
    prompt: usize,
    sampler: Sampler,
    /// The naive loop has none.
    cache: Option<KvCache>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Request {
    /// Both loops begin with this prompt.
    Begin {
        prompt: String,
        sampling: SamplingParams,
    },
    /// One step of the naive loop.
    Naive,
    /// One step of the cached loop.
    Cached,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Begun { prompt: Vec<Token>, context: usize },
    Step(Step),
}

#[derive(Serialize)]
struct Step {
    /// The rows that went through the network.
    computed: usize,
    /// The earlier rows whose keys and values came from the cache.
    read: usize,
    token: Token,
    /// Whether the model ended the text with this token, or the context is full.
    has_ended: bool,
}

impl Loop {
    fn step(&mut self, pretrained: &Pretrained) -> Result<Step> {
        let model = &pretrained.model;
        let read = self.cache.as_ref().map_or(0, KvCache::length);
        let new = &self.ids[read..];
        let computed = new.len();
        let input = match &mut self.cache {
            Some(cache) => Input::after(cache, new),
            None => Input::whole(new),
        };
        let logits = model.forward(&mut [input])?.remove(0);
        let (prompt, output) = self.ids.split_at(self.prompt);
        let id = self.sampler.sample(&logits, prompt, output)?;
        self.ids.push(id);
        let is_full = self.ids.len() > model.config().context_length;
        Ok(Step {
            computed,
            read,
            token: Token::new(pretrained, id),
            has_ended: is_full || model.config().eos_token_ids.contains(&id),
        })
    }
}

impl Loops {
    pub fn new(pretrained: &'static Pretrained) -> Self {
        Self { pretrained, naive: None, cached: None }
    }

    fn begin(&mut self, prompt: &str, sampling: &SamplingParams) -> Result<Answer> {
        // Where a prompt is refused, nothing is left of the loops before.
        *self = Self::new(self.pretrained);
        let model = &self.pretrained.model;
        let ids = self.pretrained.prompt_ids(prompt)?;
        model.check_prompt(&ids)?;
        let context = model.config().context_length;
        let with = |cache| -> Result<Loop> {
            let sampler = Sampler::new(sampling)?;
            Ok(Loop { ids: ids.clone(), prompt: ids.len(), sampler, cache })
        };
        (self.naive, self.cached) =
            (Some(with(None)?), Some(with(Some(model.new_cache(context)?))?));
        Ok(Answer::Begun { prompt: Token::all(self.pretrained, &ids), context })
    }
}

impl Widget for Loops {
    fn answer(&mut self, request: &str) -> Result<String> {
        in_json(request, |request| {
            let of = match request {
                Request::Begin { prompt, sampling } => return self.begin(&prompt, &sampling),
                Request::Naive => &mut self.naive,
                Request::Cached => &mut self.cached,
            };
            let of = of.as_mut().ok_or("no loop has begun")?;
            Ok(Answer::Step(of.step(self.pretrained)?))
        })
    }
}
