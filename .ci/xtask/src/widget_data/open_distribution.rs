//! A step with many plausible continuations, and a story.

use std::ops::ControlFlow;

use anyhow::{Context, Result};
use slowburn::device::{self, DeviceChoice, Precision};
use slowburn::generate::{self, Options};
use slowburn::grammar::Grammar;
use slowburn::model::{Input, LayerTrace};
use slowburn::pretrained::Pretrained;
use slowburn::sampling::{SamplingParams, statistics};
use slowburn::storage::Storage;

const PROMPT: &str = "Once upon a time, there was a";

/// The way of a token through the network, and the likeliest tokens at its end.
pub struct Way {
    pub embedding: Vec<f32>,
    pub layers: Vec<LayerTrace>,
    pub best: Vec<(String, f32)>,
}

/// What the figures in the places of widgets show.
pub struct OpenDistribution {
    pretrained: Pretrained,
    /// The logit of each token of the vocabulary, to four decimals.
    pub logits: Vec<f32>,
}

impl OpenDistribution {
    pub fn of_bundled_model() -> Result<Self> {
        Self::stored_as(Precision::F32.into())
    }

    /// The bundled model, stored in another format.
    pub fn stored_as(storage: Storage) -> Result<Self> {
        let device = device::open(DeviceChoice::Cpu)?;
        let pretrained = Pretrained::bundled(&device, storage)?;
        let prompt = pretrained.prompt_ids(PROMPT)?;
        let logits = pretrained.model.forward(&mut [Input::whole(&prompt)])?.remove(0);
        let rounded = |logit: &f32| (logit * 1e4).round() / 1e4;
        let logits = logits.iter().map(rounded).collect();
        Ok(Self { pretrained, logits })
    }

    /// The ids and texts of the most likely tokens, best first.
    pub fn best(&self, count: usize) -> Result<Vec<(u32, String)>> {
        let ranked = statistics::ranked(&slowburn::sampling::softmax(&self.logits));
        let ids = ranked.into_iter().take(count).map(|(id, _)| id);
        ids.map(|id| Ok((id, self.pretrained.tokenizer.decode(&[id])?))).collect()
    }

    /// The tokens that may come after `text` under a regular expression, where the text follows what the
    /// logits are behind, and their probabilities among them, best first.
    pub fn allowed(&self, regex: &str, text: &str) -> Result<Vec<(String, f32)>> {
        let constraint = self.pretrained.constraint(&Grammar::Regex(regex.to_owned()))?;
        let output = self.pretrained.tokenizer.encode_bare(text)?;
        let mut scores = self.logits.clone();
        constraint.follow().next(&output)?.mask().apply(&mut scores);
        let ranked = statistics::ranked(&slowburn::sampling::softmax(&scores));
        Ok(ranked.into_iter().map(|(id, probability)| (self.text_of(id), probability)).collect())
    }

    /// The ids of a text, and what each stands for: a text, or the name of a special token.
    pub fn tokens(&self, text: &str) -> Result<Vec<(u32, String)>> {
        let ids = self.pretrained.tokenizer.encode(text)?;
        Ok(ids.into_iter().map(|id| (id, self.text_of(id))).collect())
    }

    fn text_of(&self, id: u32) -> String {
        match self.pretrained.tokenizer.token_bytes(id) {
            Some(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            None => self.pretrained.tokenizer.token(id).unwrap_or_default(),
        }
    }

    /// The tokens of a text, and what each head of the last layer takes up from them at the last
    /// position.
    pub fn attention(&self, text: &str) -> Result<(Vec<String>, Vec<Vec<f32>>)> {
        let ids = self.pretrained.prompt_ids(text)?;
        let layers = self.pretrained.model.attention(&ids)?;
        let heads = layers.last().context("the model has no layers")?;
        let rows = heads.iter().filter_map(|head| head.last().cloned()).collect();
        Ok((ids.into_iter().map(|id| self.text_of(id)).collect(), rows))
    }

    /// The last token of a text, and its way through the network.
    pub fn trace(&self, text: &str) -> Result<(String, Way)> {
        let ids = self.pretrained.prompt_ids(text)?;
        let trace = self.pretrained.model.trace(&ids)?.context("ember is of the Llama family")?;
        let token = self.text_of(*ids.last().context("a text has tokens")?);
        let ranked = statistics::ranked(&slowburn::sampling::softmax(&trace.logits));
        let best = ranked.into_iter().take(3).map(|(id, p)| (self.text_of(id), p)).collect();
        Ok((token, Way { embedding: trace.embedding, layers: trace.layers, best }))
    }

    /// The beginning of a story: so many tokens after a prompt.
    pub fn story(&self, prompt: &str, tokens: usize) -> Result<Vec<String>> {
        let drawn = SamplingParams {
            temperature: 0.8,
            top_p: Some(0.95),
            seed: 42,
            ..SamplingParams::default()
        };
        self.generate(prompt, tokens, drawn)
    }

    /// As [`story`](Self::story), always with the likeliest token.
    pub fn greedy_story(&self, prompt: &str, tokens: usize) -> Result<Vec<String>> {
        let greedy = SamplingParams { temperature: 0.0, ..SamplingParams::default() };
        self.generate(prompt, tokens, greedy)
    }

    fn generate(
        &self,
        prompt: &str,
        tokens: usize,
        sampling: SamplingParams,
    ) -> Result<Vec<String>> {
        let options = Options { max_tokens: tokens, sampling, ..Options::default() };
        let ids = self.pretrained.prompt_ids(prompt)?;
        let go_on = &mut |_: &generate::Chosen<'_>| ControlFlow::Continue(());
        let story = generate::cached(&self.pretrained.model, &ids, &options, go_on)?;
        Ok(story.ids.into_iter().map(|id| self.text_of(id)).collect())
    }
}
