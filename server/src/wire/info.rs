//! What other servers say of themselves: `/version` of vLLM, `/server_info`, `/model_info` and
//! `/get_load` of SGLang, and `/props` of llama.cpp.

use serde::Serialize;
use utoipa::ToSchema;

/// The version of this server.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Version {
    pub version: &'static str,
}

/// The server, in the words of SGLang.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ServerInfo {
    /// The name of the model. Where its files are is nobody else's business.
    pub model_path: String,
    /// The name that requests give.
    pub served_model_name: String,
    pub version: &'static str,
    /// The most tokens of prompt and completion together.
    pub context_length: usize,
    /// The most tokens that the KV cache holds, of all sequences together.
    pub max_total_num_tokens: usize,
    /// The most sequences in a step.
    pub max_running_requests: u64,
    /// The most sequences in the queue.
    pub max_queued_requests: u64,
    /// The most tokens of a step.
    pub max_prefill_tokens: u64,
    /// How many copies of the model there are.
    pub dp_size: usize,
    pub status: &'static str,
}

/// The model, in the words of SGLang.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ModelInfo {
    /// The name of the model. Where its files are is nobody else's business.
    pub model_path: String,
    pub tokenizer_path: String,
    pub is_generation: bool,
    /// The family of the network: `llama` (Mistral and Qwen too), `gpt2` or `encoder`.
    pub model_type: &'static str,
    pub vocab_size: usize,
    /// The most tokens of prompt and completion together.
    pub context_length: usize,
}

/// How busy the model is, in the words of SGLang.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct WorkerLoad {
    pub dp_rank: usize,
    /// Sequences that run, sit out or wait.
    pub num_reqs: usize,
    /// Sequences that wait.
    pub num_waiting_reqs: usize,
    /// Tokens that the blocks of the sequences have room for.
    pub num_tokens: usize,
}

/// The server, in the words of llama.cpp.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Props {
    pub default_generation_settings: DefaultSettings,
    /// The most sequences in a step.
    pub total_slots: u64,
    /// The name of the model. Where its files are is nobody else's business.
    pub model_path: String,
    /// The name that requests give.
    pub model_alias: String,
    /// The program that makes a prompt of a conversation; empty where the model has none.
    pub chat_template: String,
    pub bos_token: String,
    pub eos_token: String,
    pub modalities: Modalities,
    pub build_info: String,
    pub is_sleeping: bool,
}

/// What holds where a request says nothing else.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct DefaultSettings {
    /// The most tokens of prompt and completion together.
    pub n_ctx: usize,
    pub params: DefaultParams,
}

/// The sampler where a request says nothing else.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct DefaultParams {
    /// -1: until the context or the KV cache is full.
    pub n_predict: i64,
    /// -1: each request has its own.
    pub seed: i64,
    pub temperature: f32,
    /// 0: all tokens.
    pub top_k: usize,
    pub top_p: f32,
    pub min_p: f32,
    pub typical_p: f32,
    pub repeat_penalty: f32,
    pub presence_penalty: f32,
    pub frequency_penalty: f32,
    pub ignore_eos: bool,
    pub stream: bool,
}

/// What the model reads, beside text.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Modalities {
    pub vision: bool,
    pub audio: bool,
}
