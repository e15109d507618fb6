//! Runs the model: scores stories of the corpus, and samples new ones.

use std::ops::ControlFlow;

use anyhow::{Context, Result, ensure};
use slowburn::generate::{self, FinishReason, Options};
use slowburn::model::{Input, Logits};
use slowburn::pretrained::Pretrained;
use slowburn::sampling::{Sampler, SamplingParams};

use super::Corpus;
use super::metrics::{Sample, Scored, Step, entropy, log_softmax, word_count};
use crate::corpus::{Story, check};

/// A model and its settings for sampling stories.
pub struct Measure<'a> {
    pretrained: &'a Pretrained,
    begin: u32,
    end: u32,
    prompt: Vec<u32>,
    sampling: SamplingParams,
}

impl<'a> Measure<'a> {
    pub fn new(pretrained: &'a Pretrained, prompt: &str, sampling: SamplingParams) -> Result<Self> {
        sampling.validate()?;
        let config = pretrained.model.config();
        let prompt = pretrained.prompt_ids(prompt)?;
        let context = config.context_length;
        ensure!(prompt.len() < context, "the prompt leaves no room in {context} tokens");
        Ok(Self {
            pretrained,
            begin: config.bos_token_id.context("the model has no begin token")?,
            end: *config.eos_token_ids.first().context("the model has no end token")?,
            prompt,
            sampling,
        })
    }

    /// The likelihood of a story under the model, from the begin token to the end token.
    pub fn score(&self, story: &Story) -> Result<Scored> {
        let model = &self.pretrained.model;
        let mut ids = self.pretrained.tokenizer.encode(&story.text)?;
        if ids.first() != Some(&self.begin) {
            ids.insert(0, self.begin);
        }
        let mut targets = ids[1..].to_vec();
        targets.push(self.end);
        let nats = if ids.len() <= model.config().context_length {
            let logits = model.forward(&mut [Input::whole(&ids).with_logits(Logits::All)])?;
            let log_p = |(row, id): (&Vec<f32>, &u32)| log_softmax(row)[*id as usize];
            Some(-logits.iter().zip(&targets).map(log_p).sum::<f64>())
        } else {
            None
        };
        Ok(Scored {
            nats,
            tokens: targets.len(),
            words: word_count(&story.text),
            generator_bits: story.bits,
        })
    }

    /// Samples a story with a seed, and measures the distributions at each step.
    pub fn sample(&self, seed: u64, corpus: &Corpus) -> Result<Sample> {
        let Pretrained { model, tokenizer, .. } = self.pretrained;
        let sampling = SamplingParams { seed, ..self.sampling.clone() };
        let sampler = Sampler::new(&sampling)?;
        let options = Options {
            max_tokens: model.config().context_length,
            sampling,
            ..Options::default()
        };
        let generation =
            generate::cached(model, &self.prompt, &options, &mut |_| ControlFlow::Continue(()))?;
        let ended = generation.finish_reason == FinishReason::Eos;

        let ids = [&self.prompt[..], &generation.ids].concat();
        let text = tokenizer.decode(&ids)?;
        let mut drawn = generation.ids.clone();
        if ended {
            drawn.push(self.end);
        }
        let logits = model.forward(&mut [Input::whole(&ids).with_logits(Logits::All)])?;
        let rows = &logits[self.prompt.len() - 1..];
        let steps = rows.iter().zip(&drawn).enumerate().map(|(step, (row, &id))| {
            let log_p = log_softmax(row);
            let left = sampler.distribution(row, &self.prompt, &generation.ids[..step])?;
            Ok(Step {
                nats: -log_p[id as usize],
                entropy: entropy(log_p.iter().map(|log_p| log_p.exp())),
                sampled_entropy: entropy(left.iter().copied().map(f64::from)),
                survivors: left.iter().filter(|&&p| p > 0.0).count(),
            })
        });
        Ok(Sample {
            seed,
            ended,
            steps: steps.collect::<Result<_>>()?,
            check: check(&text),
            trained_on: corpus.trained_on(&text),
            written: tokenizer.decode(&generation.ids)?,
            text,
        })
    }
}
