//! `config.json` of Qwen 3.5 and of Qwen3-Next, which came before it: the gated delta rule in most layers,
//! and attention with a gate in the others.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::llama::{Defaults, FULL, LlamaFile};
use super::{LlamaConfig, ModelConfig, parse, unsupported};
use crate::error::Result;
use crate::model::config::{DeltaRule, ExpertNames, Experts, LayerConfig, Mixer, Mlp, QkNorm};

const LINEAR: &str = "linear_attention";

/// The fields that only this family has.
#[derive(Debug, Deserialize)]
struct Qwen35File {
    linear_conv_kernel_dim: Option<usize>,
    linear_key_head_dim: Option<usize>,
    linear_value_head_dim: Option<usize>,
    linear_num_key_heads: Option<usize>,
    linear_num_value_heads: Option<usize>,
    full_attention_interval: Option<usize>,
    hidden_act: Option<String>,
}

/// The fields about experts.
#[derive(Debug, Deserialize)]
struct ExpertsFile {
    num_experts: Option<usize>,
    num_experts_per_tok: Option<usize>,
    moe_intermediate_size: Option<usize>,
    shared_expert_intermediate_size: Option<usize>,
    norm_topk_prob: Option<bool>,
    decoder_sparse_step: Option<usize>,
    mlp_only_layers: Option<Vec<usize>>,
}

impl ExpertsFile {
    fn experts(&self, [count, per_token]: [usize; 2], origin: &str) -> Result<Experts> {
        let count = self.num_experts.unwrap_or(count);
        let per_token = self.num_experts_per_tok.unwrap_or(per_token);
        let d_ff = self.moe_intermediate_size.unwrap_or(512);
        let shared = self.shared_expert_intermediate_size.unwrap_or(512);
        if shared == 0 || shared > i32::MAX as usize {
            let size = "a size from 1 to 2^31 - 1";
            return Err(unsupported(origin, "shared_expert_intermediate_size", shared, size));
        }
        let experts = Experts {
            shared: Some(shared),
            shared_gate: true,
            ..Experts::plain(count, per_token, d_ff, ExpertNames::Mlp)
        };
        experts.check("num_experts", origin)?;
        Ok(experts)
    }
}

impl Qwen35File {
    fn rule(&self, origin: &str) -> Result<DeltaRule> {
        let rule = DeltaRule {
            key_heads: self.linear_num_key_heads.unwrap_or(16),
            value_heads: self.linear_num_value_heads.unwrap_or(32),
            key_dim: self.linear_key_head_dim.unwrap_or(128),
            value_dim: self.linear_value_head_dim.unwrap_or(128),
            width: self.linear_conv_kernel_dim.unwrap_or(4),
        };
        for (field, size) in [
            ("linear_num_key_heads", rule.key_heads),
            ("linear_num_value_heads", rule.value_heads),
            ("linear_key_head_dim", rule.key_dim),
            ("linear_value_head_dim", rule.value_dim),
            ("linear_conv_kernel_dim", rule.width),
        ] {
            // So that no product of them overflows.
            if size == 0 || size > 1 << 15 {
                return Err(unsupported(origin, field, size, "a size from 1 to 32768"));
            }
        }
        if !rule.value_heads.is_multiple_of(rule.key_heads) {
            let divisor = "a divisor of linear_num_value_heads";
            return Err(unsupported(origin, "linear_num_key_heads", rule.key_heads, divisor));
        }
        Ok(rule)
    }
}

/// Reads the file of a model with a feed-forward network in each layer.
pub(super) fn read(json: &[u8], origin: &str) -> Result<ModelConfig> {
    let file: LlamaFile = parse(json, origin)?;
    file.check_dense(origin)?;
    with_mlp(json, |_| Mlp::Dense, origin)
}

/// Reads the file of a model with experts.
pub(super) fn read_experts(json: &[u8], origin: &str) -> Result<ModelConfig> {
    let own: ExpertsFile = parse(json, origin)?;
    let experts = own.experts([256, 8], origin)?;
    // No layer has a network of another size.
    let mut fields: Map<String, Value> = parse(json, origin)?;
    fields.insert("intermediate_size".to_owned(), experts.d_ff.into());
    let json = Value::Object(fields).to_string();
    with_mlp(json.as_bytes(), |_| Mlp::Experts(experts.clone()), origin)
}

/// Reads the file of Qwen3-Next, where some layers may have a feed-forward network instead of experts.
pub(super) fn read_next(json: &[u8], origin: &str) -> Result<ModelConfig> {
    let own: ExpertsFile = parse(json, origin)?;
    let renormalized = own.norm_topk_prob.unwrap_or(true);
    let experts = Experts { renormalized, ..own.experts([512, 10], origin)? };
    let mut fields: Map<String, Value> = parse(json, origin)?;
    fields.entry("intermediate_size").or_insert(5632.into());
    let json = Value::Object(fields).to_string();
    let step = own.decoder_sparse_step.unwrap_or(1).max(1);
    let dense = own.mlp_only_layers.unwrap_or_default();
    let mlp = |layer: usize| match dense.contains(&layer) || !(layer + 1).is_multiple_of(step) {
        true => Mlp::Dense,
        false => Mlp::Experts(experts.clone()),
    };
    with_mlp(json.as_bytes(), mlp, origin)
}

/// Reads the file of a model whose layers have these networks.
fn with_mlp(json: &[u8], mlp: impl Fn(usize) -> Mlp, origin: &str) -> Result<ModelConfig> {
    let own: Qwen35File = parse(json, origin)?;
    let mut fields: Map<String, Value> = parse(json, origin)?;
    fields.entry("partial_rotary_factor").or_insert(0.25.into());
    let file: LlamaFile = parse(Value::Object(fields).to_string().as_bytes(), origin)?;

    let rule = own.rule(origin)?;
    let head_dim = file.head_dim.unwrap_or(256);
    let defaults = Defaults { head_dim, partial: true, ..Defaults::default() };
    let (rope, context) = file.rope(defaults, origin)?;
    let expected = "`linear_attention` or `full_attention`";
    let types = file.types_of_layers(&[LINEAR, FULL], expected, origin)?;
    let interval = own.full_attention_interval.unwrap_or(4).max(1);
    let layers = file.layers_by_number(origin, |i| {
        let attends = match types {
            Some(types) => types[i] == FULL,
            None => (i + 1).is_multiple_of(interval),
        };
        let attention = LayerConfig { mlp: mlp(i), ..LayerConfig::plain(rope.clone()) };
        match attends {
            true => attention,
            false => LayerConfig { mixer: Mixer::DeltaRule(rule), rope: None, ..attention },
        }
    })?;
    let llama = LlamaConfig {
        layers,
        attention_gate: true,
        qk_norm: Some(QkNorm::Head),
        one_plus_norms: true,
        ..file.plain(rope)
    };
    if let Some(other) = own.hidden_act.filter(|name| name != "silu") {
        return Err(unsupported(origin, "hidden_act", other, "`silu`"));
    }
    file.model(llama, (head_dim, context), origin)
}
