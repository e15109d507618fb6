//! `/v1/embeddings`.

use garde::Validate;
use serde::{Deserialize, Serialize};
use slowburn::generate::Pooling;
use utoipa::ToSchema;

/// The most texts of a request, as in OpenAI's API.
pub const MAX_INPUTS: usize = 2048;

/// Texts to make vectors of.
#[derive(Debug, Clone, Deserialize, Validate, ToSchema)]
#[garde(allow_unvalidated)]
pub struct EmbeddingsRequest {
    /// The name of the model; the one that is here, where none is given.
    pub model: Option<String>,
    pub input: EmbeddingInput,
    /// How the hidden states of a text become one vector. Default: as the model's files say, and
    /// `mean` where they say nothing.
    pub pooling: Option<WirePooling>,
    /// Numbers, or the bytes of 32-bit floats (little-endian) in base64. Default `float`.
    pub encoding_format: Option<EncodingFormat>,
    /// The length of the vectors: only the model's own.
    pub dimensions: Option<usize>,
}

/// One text or up to 2048, as text or as token ids.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(
    untagged,
    expecting = "a string, a list of strings, a list of token ids, or a list of lists of token ids"
)]
pub enum EmbeddingInput {
    Text(String),
    Texts(Vec<String>),
    Ids(Vec<u32>),
    ManyIds(Vec<Vec<u32>>),
}

/// How the hidden states of a text become one vector.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum WirePooling {
    /// Their mean.
    Mean,
    /// That of the last token.
    Last,
}

impl From<WirePooling> for Pooling {
    fn from(pooling: WirePooling) -> Self {
        match pooling {
            WirePooling::Mean => Pooling::Mean,
            WirePooling::Last => Pooling::Last,
        }
    }
}

/// How a vector is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum EncodingFormat {
    #[default]
    Float,
    Base64,
}

/// The vectors, in the order of the texts.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Embeddings {
    pub object: &'static str,
    pub data: Vec<Embedding>,
    pub model: String,
    pub usage: EmbeddingsUsage,
}

/// The vector of one text.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Embedding {
    pub object: &'static str,
    pub index: usize,
    pub embedding: WireVector,
}

/// A vector of length 1.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(untagged)]
pub enum WireVector {
    Float(Vec<f32>),
    Base64(String),
}

/// The tokens of all texts.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub struct EmbeddingsUsage {
    pub prompt_tokens: usize,
    pub total_tokens: usize,
}
