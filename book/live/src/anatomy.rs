//! *The model*: one forward pass over a text: its shapes, what each head attends to, and what each
//! layer would say.

use serde::{Deserialize, Serialize};
use slowburn::device::{self, DeviceChoice, Precision};
use slowburn::model::{Input, Logits, Model};
use slowburn::pretrained::Pretrained;
use slowburn::sampling::{softmax, statistics};

use crate::widget::{Result, Token, Widget, in_json};

/// The most tokens of a text: a picture of more would be too small to read.
const MOST: usize = 48;

/// The likeliest tokens that a layer says.
const SAID: usize = 3;

pub struct Anatomy {
    gguf: &'static [u8],
    pretrained: &'static Pretrained,
    /// The model without its last layers: that with one, with two, and so on.
    shallow: Vec<Model>,
}

#[derive(Deserialize)]
struct Request {
    text: String,
}

#[derive(Serialize)]
struct Answer {
    tokens: Vec<Token>,
    /// Whether the text was longer than what is shown.
    is_cut: bool,
    shapes: Vec<Shape>,
    /// `[layers][heads][seq][seq]`
    attention: Vec<Vec<Vec<Vec<f32>>>>,
    /// `[layers][seq]`: what the head makes of the rows after each layer.
    lens: Vec<Vec<Vec<Said>>>,
}

#[derive(Serialize)]
struct Shape {
    name: String,
    shape: Vec<usize>,
}

#[derive(Serialize)]
struct Said {
    token: Token,
    probability: f32,
}

impl Anatomy {
    pub fn new(gguf: &'static [u8], pretrained: &'static Pretrained) -> Self {
        Self { gguf, pretrained, shallow: Vec::new() }
    }

    /// Loads the model once for each number of layers: its final norm and its head then read the
    /// rows after so many layers, which is the logit lens (nostalgebraist, 2020).
    fn load(&mut self) -> Result<()> {
        let device = device::open(DeviceChoice::Cpu)?;
        for layers in self.shallow.len() + 1..=self.pretrained.model.config().n_layers {
            let gguf = with_layers(self.gguf, layers)?;
            let pretrained = Pretrained::from_gguf(&gguf, "the weights", &device, Precision::F32)?;
            self.shallow.push(pretrained.model);
        }
        Ok(())
    }

    fn look(&mut self, text: &str) -> Result<Answer> {
        self.load()?;
        let mut ids = self.pretrained.prompt_ids(text)?;
        let is_cut = ids.len() > MOST;
        ids.truncate(MOST);
        let say = |logits: &Vec<f32>| {
            let said = statistics::ranked(&softmax(logits)).into_iter().take(SAID);
            let said = said.map(|(id, probability)| Said {
                token: Token::new(self.pretrained, id),
                probability,
            });
            said.collect()
        };
        let lens = self.shallow.iter().map(|model| {
            let input = Input::whole(&ids).with_logits(Logits::All);
            Ok(model.forward(&mut [input])?.iter().map(say).collect())
        });
        Ok(Answer {
            lens: lens.collect::<Result<_>>()?,
            attention: self.pretrained.model.attention(&ids)?,
            shapes: self.shapes(ids.len()),
            tokens: Token::all(self.pretrained, &ids),
            is_cut,
        })
    }

    fn shapes(&self, seq: usize) -> Vec<Shape> {
        let config = self.pretrained.model.config();
        let (d_model, n_heads, head_dim) = (config.d_model, config.n_heads, config.head_dim);
        let shape =
            |name: &str, shape: &[usize]| Shape { name: name.to_owned(), shape: shape.to_vec() };
        let layers = format!("{} times: ", config.n_layers);
        vec![
            shape("ids", &[1, seq]),
            shape("embedding", &[1, seq, d_model]),
            shape(&format!("{layers}queries"), &[1, seq, n_heads, head_dim]),
            shape("keys, and values", &[1, seq, config.n_kv_heads, head_dim]),
            shape("attention weights", &[1, n_heads, seq, seq]),
            shape("mixed values", &[1, seq, n_heads, head_dim]),
            shape("output of attention", &[1, seq, d_model]),
            shape("feed-forward, inside", &[1, seq, config.d_ff]),
            shape("output of the block", &[1, seq, d_model]),
            shape("logits of the last row", &[1, 1, config.vocab_size]),
        ]
    }
}

/// The file, which now says that its model has so many layers.
fn with_layers(gguf: &[u8], layers: usize) -> Result<Vec<u8>> {
    const KEY: &[u8] = b"llama.block_count";
    /// The number of the type that the value has: an integer of 32 bits.
    const U32: [u8; 4] = 4_u32.to_le_bytes();
    let found = gguf.windows(KEY.len()).position(|window| window == KEY);
    let value = found.ok_or("the weights have no number of layers")? + KEY.len();
    let mut gguf = gguf.to_vec();
    if gguf.get(value..value + 4) != Some(&U32) {
        return Err("the number of layers has another type".into());
    }
    gguf[value + 4..value + 8].copy_from_slice(&u32::try_from(layers)?.to_le_bytes());
    Ok(gguf)
}

impl Widget for Anatomy {
    fn answer(&mut self, request: &str) -> Result<String> {
        in_json(request, |Request { text }| self.look(&text))
    }
}
