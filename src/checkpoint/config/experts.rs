//! `config.json` of Qwen3-MoE and of Mixtral: a Qwen3 and a Mistral with experts.

use serde::Deserialize;

use super::llama::{Defaults, LlamaFile};
use super::{LlamaConfig, ModelConfig, parse, unsupported};
use crate::error::Result;
use crate::model::config::{ExpertNames, Experts, LayerConfig, Mlp, QkNorm};

/// The fields about experts.
#[derive(Debug, Deserialize)]
struct ExpertsFile {
    num_experts: Option<usize>,
    num_local_experts: Option<usize>,
    num_experts_per_tok: Option<usize>,
    moe_intermediate_size: Option<usize>,
    norm_topk_prob: Option<bool>,
    decoder_sparse_step: Option<usize>,
    mlp_only_layers: Option<Vec<usize>>,
}

/// Reads the file of a model whose `model_type` is `qwen3_moe`.
pub(super) fn read_qwen3(json: &[u8], origin: &str) -> Result<ModelConfig> {
    let own: ExpertsFile = parse(json, origin)?;
    let file: LlamaFile = parse(json, origin)?;
    // Where a file has both names, transformers sets the first of these last.
    let count = own.num_local_experts.or(own.num_experts).unwrap_or(128);
    let per_token = own.num_experts_per_tok.unwrap_or(8);
    let d_ff = own.moe_intermediate_size.unwrap_or(768);
    let experts = Experts {
        renormalized: own.norm_topk_prob.unwrap_or(false),
        ..Experts::plain(count, per_token, d_ff, ExpertNames::Mlp)
    };
    experts.check("num_experts", origin)?;
    let head_dim = file.head_dim();
    let (rope, context) = file.rope(Defaults { head_dim, ..Defaults::default() }, origin)?;
    let step = own.decoder_sparse_step.unwrap_or(1).max(1);
    let is_dense = own.mlp_only_layers.unwrap_or_default();
    let window = file.sliding_window.flatten().filter(|_| file.use_sliding_window == Some(true));
    // The window is that of all layers, whatever `layer_types` says.
    let layers = file.layers_by_number(origin, |i| LayerConfig {
        window,
        mlp: if is_dense.contains(&i) || !(i + 1).is_multiple_of(step) {
            Mlp::Dense
        } else {
            Mlp::Experts(experts.clone())
        },
        ..LayerConfig::plain(rope.clone())
    })?;
    let llama = LlamaConfig { layers, qk_norm: Some(QkNorm::Head), ..file.plain(rope) };
    file.model(llama, (head_dim, context), origin)
}

/// Reads the file of a model whose `model_type` is `mixtral`.
pub(super) fn read_mixtral(json: &[u8], origin: &str) -> Result<ModelConfig> {
    let own: ExpertsFile = parse(json, origin)?;
    let file: LlamaFile = parse(json, origin)?;
    let count = own.num_experts.or(own.num_local_experts).unwrap_or(8);
    let per_token = own.num_experts_per_tok.unwrap_or(2);
    let d_ff = file.intermediate_size;
    let experts = Experts::plain(count, per_token, d_ff, ExpertNames::BlockSparse);
    experts.check("num_local_experts", origin)?;
    let head_dim = file.head_dim();
    let defaults = Defaults { head_dim, theta: 1_000_000.0, ..Defaults::default() };
    let (rope, context) = file.rope(defaults, origin)?;
    let (window, mlp) = (file.sliding_window.flatten(), Mlp::Experts(experts));
    let layer = LayerConfig { window, mlp, ..LayerConfig::plain(rope.clone()) };
    let llama = LlamaConfig { layers: vec![layer], ..LlamaConfig::plain(rope) };
    file.model(llama, (head_dim, context), origin)
}

impl Experts {
    pub(super) fn check(&self, count: &'static str, origin: &str) -> Result<()> {
        /// Many times what the largest models have.
        const MOST: usize = 10_000;
        if self.count == 0 || self.count > MOST {
            return Err(unsupported(origin, count, self.count, "1 to 10000 experts"));
        }
        if self.per_token == 0 || self.per_token > self.count {
            let some = "1 or more, and no more than there are experts";
            let field = match self.names {
                ExpertNames::Outside => "top_k_experts",
                _ => "num_experts_per_tok",
            };
            return Err(unsupported(origin, field, self.per_token, some));
        }
        if self.d_ff == 0 || self.d_ff > i32::MAX as usize {
            let field = match count {
                "num_local_experts" => "intermediate_size",
                _ => "moe_intermediate_size",
            };
            return Err(unsupported(origin, field, self.d_ff, "a size from 1 to 2^31 - 1"));
        }
        Ok(())
    }
}
