//! *Tokens*: any text, cut into tokens, bytes and ids.

use serde::{Deserialize, Serialize};
use slowburn::pretrained::Pretrained;

use crate::widget::{Result, Token, Widget, in_json};

pub struct Tokens {
    pretrained: &'static Pretrained,
}

#[derive(Deserialize)]
struct Request {
    text: String,
}

#[derive(Serialize)]
struct Answer {
    tokens: Vec<Token>,
    bytes: usize,
    characters: usize,
    /// Whether the tokens make the text again: all but a special token's name do.
    is_same: bool,
}

impl Tokens {
    pub fn new(pretrained: &'static Pretrained) -> Self {
        Self { pretrained }
    }
}

impl Widget for Tokens {
    fn answer(&mut self, request: &str) -> Result<String> {
        in_json(request, |Request { text }| {
            let tokenizer = &self.pretrained.tokenizer;
            let ids = tokenizer.encode(&text)?;
            Ok(Answer {
                tokens: Token::all(self.pretrained, &ids),
                bytes: text.len(),
                characters: text.chars().count(),
                is_same: tokenizer.decode(&ids)? == text,
            })
        })
    }
}
