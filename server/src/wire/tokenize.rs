//! `/tokenize` and `/detokenize`, in the words of this server, of vLLM and SGLang, and of
//! llama.cpp.

use garde::Validate;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::ChatMessage;

/// What to split into tokens: one of `text`, `prompt`, `messages` and `content`.
#[derive(Debug, Clone, Deserialize, Validate, ToSchema)]
#[garde(allow_unvalidated)]
pub struct TokenizeRequest {
    /// The name of the model; the one that is here, where none is given.
    pub model: Option<String>,
    /// A text.
    pub text: Option<String>,
    /// A text, in the words of vLLM and SGLang.
    pub prompt: Option<String>,
    /// A conversation, in the words of vLLM: up to the start of the answer.
    #[garde(inner(length(min = 1)))]
    #[schema(min_items = 1)]
    pub messages: Option<Vec<ChatMessage>>,
    /// A text, in the words of llama.cpp.
    pub content: Option<String>,
    /// Whether to add the special tokens that the model's tokenizer adds to a prompt. Default true; in
    /// `messages` false, since a chat template writes its own.
    pub add_special_tokens: Option<bool>,
    /// The same for `content`. Default false.
    pub add_special: Option<bool>,
    /// Whether the texts of special tokens are special tokens. Default true; in `messages` false.
    pub parse_special: Option<bool>,
    /// Return `token_strs` too. Default false.
    pub return_token_strs: Option<bool>,
    /// With `content`: return the tokens as objects with their `id` and `piece`. Default false.
    pub with_pieces: Option<bool>,
    #[serde(flatten)]
    #[schema(ignore)]
    pub other: Map<String, Value>,
}

/// The tokens of a text.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Tokenized {
    pub ids: Vec<u32>,
    pub tokens: TokenList,
    /// The entry of each token in the vocabulary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_strs: Option<Vec<String>>,
    pub count: usize,
    /// The most tokens of prompt and completion together.
    pub max_model_len: usize,
}

/// The tokens, in the words of the request.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(untagged)]
pub enum TokenList {
    /// For `text`: the text of each.
    Texts(Vec<String>),
    /// For `prompt`, `messages` and `content`: the ids.
    Ids(Vec<u32>),
    /// For `content` with `with_pieces`.
    Pieces(Vec<TokenPiece>),
}

/// A token in the words of llama.cpp.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct TokenPiece {
    pub id: u32,
    pub piece: Piece,
}

/// The text of a token, or its bytes where they are no text.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(untagged)]
pub enum Piece {
    Text(String),
    Bytes(Vec<u8>),
}

/// Token ids to join to a text: one of `ids` and `tokens`.
#[derive(Debug, Clone, Deserialize, Validate, ToSchema)]
#[garde(allow_unvalidated)]
pub struct DetokenizeRequest {
    /// The name of the model; the one that is here, where none is given.
    pub model: Option<String>,
    pub ids: Option<Vec<u32>>,
    /// The same, in the words of vLLM, SGLang and llama.cpp.
    pub tokens: Option<Vec<u32>>,
}

/// The text of token ids, without special tokens, under the name that each client looks for.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Detokenized {
    /// In the words of this server and SGLang.
    pub text: String,
    /// In the words of vLLM.
    pub prompt: String,
    /// In the words of llama.cpp.
    pub content: String,
}
