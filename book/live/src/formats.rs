//! *12*: one story from weights in several formats, and the first token where they part.

use serde::{Deserialize, Serialize};
use slowburn::device::{self, DeviceChoice, Precision};
use slowburn::generate::{self, Batch, Event, Options};
use slowburn::kernels::{Quantized, Rounding};
use slowburn::pretrained::Pretrained;
use slowburn::storage::{MatrixFormat, Storage};

use crate::widget::{Beginning, Result, Token, Widget, in_json};

/// The formats: what is rounded to 4 bits. What is not keeps the 8 bits of the file.
const FORMATS: [(&str, Option<Quantized>, Option<Quantized>, Rounding); 4] = [
    ("int8, as loaded", None, None, Rounding::Nearest),
    ("layers int4", Some(Quantized::Int4), None, Rounding::Nearest),
    (
        "layers int4, least squares",
        Some(Quantized::Int4),
        None,
        Rounding::LeastSquares,
    ),
    (
        "all int4, least squares",
        Some(Quantized::Int4),
        Some(Quantized::Int4),
        Rounding::LeastSquares,
    ),
];

pub struct Formats {
    gguf: &'static [u8],
    models: Vec<Format>,
    texts: Vec<Text>,
    /// A text to measure the distance of the distributions over.
    prompt: Vec<u32>,
}

struct Format {
    name: &'static str,
    pretrained: &'static Pretrained,
}

/// The story of one format.
struct Text {
    batch: Batch<'static>,
    ids: Vec<u32>,
    has_ended: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Request {
    /// All stories begin with this prompt.
    Begin(Beginning),
    /// One token more in each story.
    Next,
    /// How far the distributions of each format are from those of the first, over its story.
    Compare,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Begun(Vec<Begun>),
    Stories(Vec<Story>),
    Distances(Vec<Distance>),
}

#[derive(Serialize)]
struct Begun {
    name: &'static str,
    /// The memory of the weights.
    bytes: usize,
}

#[derive(Serialize)]
struct Story {
    tokens: Vec<Token>,
    has_ended: bool,
}

#[derive(Serialize)]
struct Distance {
    positions: usize,
    /// The mean Kullback-Leibler divergence, in nats per token.
    kl: f64,
    /// The share of positions at which both have the same likeliest token.
    same_greedy: f64,
}

impl Formats {
    pub fn new(gguf: &'static [u8]) -> Self {
        Self {
            gguf,
            models: Vec::new(),
            texts: Vec::new(),
            prompt: Vec::new(),
        }
    }

    /// Loads each format once, when the widget is first used.
    fn load(&mut self) -> Result<()> {
        let device = device::open(DeviceChoice::Cpu)?;
        for (name, layers, embedding, rounding) in &FORMATS[self.models.len()..] {
            let storage = Storage {
                layers: *layers,
                embedding: embedding.map(MatrixFormat::Quantized),
                rounding: *rounding,
                ..Precision::F32.into()
            };
            let pretrained = Pretrained::from_gguf(self.gguf, "the weights", &device, storage)?;
            self.models.push(Format { name, pretrained: Box::leak(Box::new(pretrained)) });
        }
        Ok(())
    }

    fn begin(&mut self, prompt: &str, options: &Options) -> Result<Answer> {
        self.load()?;
        self.texts.clear();
        for Format { pretrained, .. } in &self.models {
            self.prompt = pretrained.prompt_ids(prompt)?;
            let mut batch = Batch::new(&pretrained.model);
            batch.join(&self.prompt, options)?;
            self.texts.push(Text { batch, ids: Vec::new(), has_ended: false });
        }
        let begun = self
            .models
            .iter()
            .map(|format| Begun { name: format.name, bytes: format.pretrained.model.bytes() });
        Ok(Answer::Begun(begun.collect()))
    }

    fn next(&mut self) -> Result<Answer> {
        let mut stories = Vec::new();
        for (text, format) in self.texts.iter_mut().zip(&self.models) {
            let tokens = text.ids.len();
            while !text.has_ended && text.ids.len() == tokens {
                for (_, event) in text.batch.step() {
                    match event {
                        Event::Token(token) => text.ids.push(token.token_id),
                        Event::Finished(_) => text.has_ended = true,
                        Event::Failed(error) => return Err(error.into()),
                    }
                }
            }
            stories.push(Story {
                tokens: Token::all(format.pretrained, &text.ids),
                has_ended: text.has_ended,
            });
        }
        Ok(Answer::Stories(stories))
    }

    fn compare(&self) -> Result<Answer> {
        let (Some(reference), Some(text)) = (self.models.first(), self.texts.first()) else {
            return Err("no story has begun".into());
        };
        let ids = [&self.prompt[..], &text.ids].concat();
        let distance = |format: &Format| -> Result<Distance> {
            let (reference, model) = (&reference.pretrained.model, &format.pretrained.model);
            let found = generate::divergence(reference, model, &ids)?;
            Ok(Distance {
                positions: found.tokens,
                kl: found.mean_kl(),
                same_greedy: found.same_greedy_share(),
            })
        };
        Ok(Answer::Distances(self.models.iter().map(distance).collect::<Result<_>>()?))
    }
}

impl Widget for Formats {
    fn answer(&mut self, request: &str) -> Result<String> {
        in_json(request, |request| match request {
            Request::Begin(text) => self.begin(&text.prompt, &text.options()),
            Request::Next => self.next(),
            Request::Compare => self.compare(),
        })
    }
}
