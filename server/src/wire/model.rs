//! The models of a server.

use serde::Serialize;
use utoipa::ToSchema;

/// The answer of `/v1/models`.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ModelList {
    pub object: &'static str,
    pub data: Vec<ModelObject>,
}

/// One model.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ModelObject {
    /// The name that requests give.
    pub id: String,
    pub object: &'static str,
    /// When the server loaded it, in seconds since 1970.
    pub created: u64,
    pub owned_by: &'static str,
    /// The most tokens of prompt and completion together.
    pub max_model_len: usize,
    /// Of an adapter: the model that it changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
}
