//! *The model*: the way of one token through the network, with the numbers at each stop.

use serde::{Deserialize, Serialize};
use slowburn::model::LayerTrace;
use slowburn::pretrained::Pretrained;
use slowburn::sampling::{softmax, statistics};

use crate::widget::{Result, Token, Widget, in_json};

/// The most tokens of a text: a table of more would be too long to read.
const MOST: usize = 48;

/// How many of the logits are shown: the greatest.
const SHOWN: usize = 8;

pub struct Way {
    pretrained: &'static Pretrained,
}

#[derive(Deserialize)]
struct Request {
    text: String,
    /// The position to follow; the last one by default.
    position: Option<usize>,
}

#[derive(Serialize)]
struct Answer {
    tokens: Vec<Token>,
    /// Whether the text was longer than what is shown.
    is_cut: bool,
    position: usize,
    heads: usize,
    kv_heads: usize,
    vocabulary: usize,
    embedding: Vec<f32>,
    layers: Vec<Layer>,
    norm: Vec<f32>,
    logits: Vec<Logit>,
}

/// The numbers of a block, by the names of [`LayerTrace`].
#[derive(Serialize)]
struct Layer {
    attention_input: Vec<f32>,
    query: Vec<f32>,
    key: Vec<f32>,
    value: Vec<f32>,
    rotated_query: Vec<f32>,
    rotated_key: Vec<f32>,
    weights: Vec<Vec<f32>>,
    mixed: Vec<f32>,
    attention: Vec<f32>,
    after_attention: Vec<f32>,
    feed_forward_input: Vec<f32>,
    gate: Vec<f32>,
    up: Vec<f32>,
    gated: Vec<f32>,
    feed_forward: Vec<f32>,
    output: Vec<f32>,
}

#[derive(Serialize)]
struct Logit {
    token: Token,
    logit: f32,
    probability: f32,
}

impl From<LayerTrace> for Layer {
    fn from(trace: LayerTrace) -> Self {
        Self {
            attention_input: trace.attention_input,
            query: trace.query,
            key: trace.key,
            value: trace.value,
            rotated_query: trace.rotated_query,
            rotated_key: trace.rotated_key,
            weights: trace.weights,
            mixed: trace.mixed,
            attention: trace.attention,
            after_attention: trace.after_attention,
            feed_forward_input: trace.feed_forward_input,
            gate: trace.gate,
            up: trace.up,
            gated: trace.gated,
            feed_forward: trace.feed_forward,
            output: trace.output,
        }
    }
}

impl Way {
    pub fn new(pretrained: &'static Pretrained) -> Self {
        Self { pretrained }
    }

    fn follow(&self, text: &str, position: Option<usize>) -> Result<Answer> {
        let model = &self.pretrained.model;
        let mut ids = self.pretrained.prompt_ids(text)?;
        let is_cut = ids.len() > MOST;
        ids.truncate(MOST);
        let last = ids.len().saturating_sub(1);
        let position = position.unwrap_or(last).min(last);
        // What comes after a position changes nothing for it.
        let trace = model.trace(&ids[..ids.len().min(position + 1)])?;
        let trace = trace.ok_or("the model is of another family than Llama's")?;
        let ranked = statistics::ranked(&softmax(&trace.logits)).into_iter().take(SHOWN);
        let logits = ranked.map(|(id, probability)| Logit {
            token: Token::new(self.pretrained, id),
            logit: trace.logits[id as usize],
            probability,
        });
        Ok(Answer {
            tokens: Token::all(self.pretrained, &ids),
            is_cut,
            position,
            heads: model.config().n_heads,
            kv_heads: model.config().n_kv_heads,
            vocabulary: model.config().vocab_size,
            logits: logits.collect(),
            embedding: trace.embedding,
            layers: trace.layers.into_iter().map(Layer::from).collect(),
            norm: trace.norm,
        })
    }
}

impl Widget for Way {
    fn answer(&mut self, request: &str) -> Result<String> {
        in_json(request, |Request { text, position }| self.follow(&text, position))
    }
}
