//! *01* to *04*: at every step of a text, the candidates before and after each rule of the sampler.

use serde::{Deserialize, Serialize};
use slowburn::kv::KvCache;
use slowburn::model::Input;
use slowburn::pretrained::Pretrained;
use slowburn::sampling::{Sampler, SamplingParams, softmax, statistics};

use crate::widget::{Result, Token, Widget, in_json};

pub struct Candidates {
    pretrained: &'static Pretrained,
    prompt: Vec<u32>,
    output: Vec<u32>,
    cache: Option<KvCache>,
    /// What each token of the output was drawn from, and the next one will be.
    logits: Vec<Vec<f32>>,
    has_ended: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Request {
    /// Reads a prompt, in place of the text before.
    Begin { prompt: String },
    /// Draws the next token. The token of step *n* takes the *n*-th number of the seed's generator,
    /// as in the loops of the library, whatever the settings were before.
    Draw { sampling: SamplingParams },
    /// Puts a token in the place of a step's, and forgets what came after it.
    Choose { step: usize, id: u32 },
    /// The distribution at a step, before and after each rule.
    Show {
        step: usize,
        sampling: SamplingParams,
        count: usize,
    },
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Text(Text),
    Shown(Shown),
}

/// The text so far.
#[derive(Serialize)]
struct Text {
    prompt: Vec<Token>,
    output: Vec<Token>,
    /// Whether the model has ended it, or the context is full.
    has_ended: bool,
}

/// A step's distribution.
#[derive(Serialize)]
struct Shown {
    /// The model's own, and one for each rule that is on, in the order of the sampler.
    stages: Vec<Stage>,
    /// The likeliest by the model, and the token that was drawn.
    candidates: Vec<Candidate>,
    drawn: Option<u32>,
}

#[derive(Serialize)]
struct Stage {
    rule: &'static str,
    /// How many tokens can be drawn.
    survivors: usize,
    entropy_bits: f64,
    effective_tokens: f64,
}

#[derive(Serialize)]
struct Candidate {
    token: Token,
    /// One for each stage.
    probabilities: Vec<f32>,
}

/// Sets one parameter as in the reader's settings.
type Switch = fn(&mut SamplingParams, &SamplingParams);

/// The rules by the names of their parameters, in the order in which the sampler applies them.
/// (`the_stages_are_in_the_order_of_the_sampler` holds this to the library.)
const RULES: [(&str, Switch); 8] = [
    ("repetition penalty", |to, from| to.repetition_penalty = from.repetition_penalty),
    ("frequency penalty", |to, from| to.frequency_penalty = from.frequency_penalty),
    ("presence penalty", |to, from| to.presence_penalty = from.presence_penalty),
    ("temperature", |to, from| to.temperature = from.temperature),
    ("top-k", |to, from| to.top_k = from.top_k),
    ("top-p", |to, from| to.top_p = from.top_p),
    ("min-p", |to, from| to.min_p = from.min_p),
    ("typical", |to, from| to.typical_p = from.typical_p),
];

/// The distribution of the model, and after each rule that changes a setting: that of a sampler
/// with the rules up to this one.
fn stages(
    sampling: &SamplingParams,
    logits: &[f32],
    prompt: &[u32],
    output: &[u32],
) -> Result<Vec<(&'static str, Vec<f32>)>> {
    let mut stages = vec![("the model", softmax(logits))];
    let mut params = SamplingParams::default();
    for (rule, switch) in RULES {
        let before = params.clone();
        switch(&mut params, sampling);
        if params != before {
            let rule = if params.temperature == 0.0 {
                "greedy"
            } else {
                rule
            };
            stages.push((rule, Sampler::new(&params)?.distribution(logits, prompt, output)?));
        }
        // Greedy leaves nothing for the rules after it.
        if params.temperature == 0.0 {
            break;
        }
    }
    Ok(stages)
}

impl Candidates {
    pub fn new(pretrained: &'static Pretrained) -> Self {
        Self {
            pretrained,
            prompt: Vec::new(),
            output: Vec::new(),
            cache: None,
            logits: Vec::new(),
            has_ended: false,
        }
    }

    fn begin(&mut self, prompt: &str) -> Result<()> {
        // Where a prompt is refused, nothing is left of the text before.
        *self = Self::new(self.pretrained);
        let model = &self.pretrained.model;
        let prompt = self.pretrained.prompt_ids(prompt)?;
        model.check_prompt(&prompt)?;
        let mut cache = model.new_cache(model.config().context_length)?;
        let logits = model.forward(&mut [Input::after(&mut cache, &prompt)])?;
        *self = Self {
            prompt,
            cache: Some(cache),
            logits,
            ..Self::new(self.pretrained)
        };
        Ok(())
    }

    fn draw(&mut self, sampling: &SamplingParams) -> Result<()> {
        let Some(logits) = self.logits.last().filter(|_| !self.has_ended) else {
            return Ok(());
        };
        let mut sampler = Sampler::new(sampling)?;
        for _ in &self.output {
            sampler.sample(&[0.0], &[], &[])?; // one number of the generator
        }
        let id = sampler.sample(logits, &self.prompt, &self.output)?;
        self.push(id)
    }

    fn choose(&mut self, step: usize, id: u32) -> Result<()> {
        if step > self.output.len() {
            return Err(format!("there is no step {step} yet").into());
        }
        self.output.truncate(step);
        self.logits.truncate(step + 1);
        if let Some(cache) = &mut self.cache {
            cache.truncate(self.prompt.len() + step);
        }
        self.has_ended = false;
        self.push(id)
    }

    fn push(&mut self, id: u32) -> Result<()> {
        let model = &self.pretrained.model;
        let Some(cache) = &mut self.cache else {
            return Err("no text has begun".into());
        };
        if model.config().eos_token_ids.contains(&id) || cache.length() == cache.capacity() {
            self.has_ended = true;
            return Ok(());
        }
        self.logits.extend(model.forward(&mut [Input::after(cache, &[id])])?);
        self.output.push(id);
        Ok(())
    }

    fn show(&self, step: usize, sampling: &SamplingParams, count: usize) -> Result<Shown> {
        let logits = self.logits.get(step).ok_or_else(|| format!("there is no step {step} yet"))?;
        let stages = stages(sampling, logits, &self.prompt, &self.output[..step])?;
        let drawn = self.output.get(step).copied();
        let ranked = statistics::ranked(&stages[0].1);
        let mut ids: Vec<u32> = ranked.iter().take(count).map(|(id, _)| *id).collect();
        ids.extend(drawn.filter(|id| !ids.contains(id)));
        let candidate = |id: &u32| Candidate {
            token: Token::new(self.pretrained, *id),
            probabilities: stages.iter().map(|(_, p)| p[*id as usize]).collect(),
        };
        Ok(Shown {
            candidates: ids.iter().map(candidate).collect(),
            stages: stages
                .iter()
                .map(|(rule, p)| Stage {
                    rule,
                    survivors: statistics::survivors(p),
                    entropy_bits: statistics::entropy_bits(p),
                    effective_tokens: statistics::effective_tokens(p),
                })
                .collect(),
            drawn,
        })
    }

    fn text(&self) -> Answer {
        Answer::Text(Text {
            prompt: Token::all(self.pretrained, &self.prompt),
            output: Token::all(self.pretrained, &self.output),
            has_ended: self.has_ended,
        })
    }
}

impl Widget for Candidates {
    fn answer(&mut self, request: &str) -> Result<String> {
        in_json(request, |request| {
            match request {
                Request::Begin { prompt } => self.begin(&prompt)?,
                Request::Draw { sampling } => self.draw(&sampling)?,
                Request::Choose { step, id } => self.choose(step, id)?,
                Request::Show { step, sampling, count } => {
                    return Ok(Answer::Shown(self.show(step, &sampling, count)?));
                }
            }
            Ok(self.text())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a rule removes is gone in all stages after it, and the last stage is what the sampler
    /// draws from. Each rule alone would keep other tokens than it keeps here, where it comes after
    /// the ones before.
    #[test]
    fn the_stages_are_in_the_order_of_the_sampler() {
        let logits: Vec<f32> = (0..40_u16).map(|i| f32::from(i * 17 % 41) / 8.0).collect();
        let sampling = SamplingParams {
            temperature: 1.4,
            top_k: Some(12),
            top_p: Some(0.8),
            min_p: Some(0.3),
            typical_p: Some(0.7),
            repetition_penalty: 1.2,
            frequency_penalty: 0.3,
            presence_penalty: 0.2,
            ..SamplingParams::default()
        };
        let (prompt, output) = ([3, 13], [3, 9, 9]);
        let stages = stages(&sampling, &logits, &prompt, &output).unwrap();
        let names: Vec<&str> = stages.iter().map(|(rule, _)| *rule).collect();
        assert_eq!(names[1..], RULES.map(|(rule, _)| rule));
        let whole =
            Sampler::new(&sampling).unwrap().distribution(&logits, &prompt, &output).unwrap();
        assert_eq!(stages[8].1, whole);
        let count = |(_, p): &(_, Vec<f32>)| statistics::survivors(p);
        let counts: Vec<usize> = stages.iter().map(count).collect();
        assert_eq!(counts[..6], [40, 40, 40, 40, 40, 12]);
        assert!(counts[5..].windows(2).all(|pair| pair[1] <= pair[0]), "{counts:?}");
        assert!(counts[8] < counts[5], "{counts:?}");
        for pair in stages[4..].windows(2) {
            for (before, after) in pair[0].1.iter().zip(&pair[1].1) {
                assert!(*before > 0.0 || *after == 0.0);
            }
        }
    }

    #[test]
    fn greedy_is_the_last_rule() {
        let greedy = SamplingParams {
            temperature: 0.0,
            top_k: Some(3),
            presence_penalty: 1.0,
            ..SamplingParams::default()
        };
        let stages = stages(&greedy, &[1.0, 2.0, 3.0], &[], &[2]).unwrap();
        let names: Vec<&str> = stages.iter().map(|(rule, _)| *rule).collect();
        assert_eq!(names, ["the model", "presence penalty", "greedy"]);
    }
}
