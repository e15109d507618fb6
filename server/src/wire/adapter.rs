//! `/v1/load_lora_adapter` and `/v1/unload_lora_adapter`, in the words of vLLM.

use garde::Validate;
use serde::Deserialize;
use utoipa::ToSchema;

/// An adapter to load.
#[derive(Debug, Clone, Deserialize, Validate, ToSchema)]
#[garde(allow_unvalidated)]
pub struct LoadAdapterRequest {
    /// The name that requests will give as their model.
    #[garde(length(min = 1))]
    #[schema(min_length = 1)]
    pub lora_name: String,
    /// A folder of the server's machine, as PEFT writes it.
    #[garde(length(min = 1))]
    #[schema(min_length = 1)]
    pub lora_path: String,
    /// Take the place of the adapter that has this name. Default false.
    pub load_inplace: Option<bool>,
}

/// An adapter to unload.
#[derive(Debug, Clone, Deserialize, Validate, ToSchema)]
#[garde(allow_unvalidated)]
pub struct UnloadAdapterRequest {
    pub lora_name: String,
}
