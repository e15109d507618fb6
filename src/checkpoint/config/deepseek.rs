//! `config.json` of DeepSeek-V2, DeepSeek-V3 and GLM-4.7-Flash: latent attention, and experts in groups.

use serde::Deserialize;

use super::file::{given, positive};
use super::llama::{Defaults, LlamaFile};
use super::{LlamaConfig, ModelConfig, parse, unsupported};
use crate::error::Result;
use crate::model::config::{
    ExpertGate, ExpertGroups, ExpertNames, Experts, LatentConfig, LayerConfig, Mlp, RopeConfig,
};

/// The fields that only these families have.
#[derive(Debug, Deserialize)]
struct DeepSeekFile {
    #[serde(default, deserialize_with = "given")]
    q_lora_rank: Option<Option<usize>>,
    kv_lora_rank: Option<usize>,
    qk_nope_head_dim: Option<usize>,
    qk_rope_head_dim: Option<usize>,
    v_head_dim: Option<usize>,
    rope_interleave: Option<bool>,
    num_experts: Option<usize>,
    num_local_experts: Option<usize>,
    n_routed_experts: Option<usize>,
    n_shared_experts: Option<usize>,
    num_experts_per_tok: Option<usize>,
    moe_intermediate_size: Option<usize>,
    norm_topk_prob: Option<bool>,
    routed_scaling_factor: Option<f64>,
    topk_method: Option<String>,
    n_group: Option<usize>,
    topk_group: Option<usize>,
    first_k_dense_replace: Option<usize>,
    /// For each layer whether it has experts, in GLM.
    mlp_layer_types: Option<Vec<String>>,
}

/// What transforms each position in a layer, by `mlp_layer_types`.
const MLP_TYPES: [&str; 2] = ["dense", "sparse"];

/// Reads the file of a model whose `model_type` is `deepseek_v2`, `deepseek_v3` or `glm4_moe_lite`.
pub(super) fn read(model_type: &str, json: &[u8], origin: &str) -> Result<ModelConfig> {
    let own: DeepSeekFile = parse(json, origin)?;
    let mut file: LlamaFile = parse(json, origin)?;
    file.check_full_attention(origin)?;
    let is_glm = model_type == "glm4_moe_lite";
    let [query_rank, plain, value_dim] = if is_glm {
        [768, 192, 256]
    } else {
        [1536, 128, 128]
    };
    let latent = LatentConfig {
        query_rank: own.q_lora_rank.unwrap_or(Some(query_rank)),
        rank: own.kv_lora_rank.unwrap_or(512),
        value_dim: own.v_head_dim.unwrap_or(value_dim),
        interleaved: model_type == "deepseek_v2" || own.rope_interleave.unwrap_or(true),
    };
    // GLM has two names for it, and transformers sets this one last.
    let named = file.head_dim.take().filter(|_| is_glm);
    let rotated = named.or(own.qk_rope_head_dim).unwrap_or(64);
    if file.mlp_bias == Some(true) && model_type == "deepseek_v2" {
        return Err(unsupported(origin, "mlp_bias", true, "`false`"));
    }
    let plain = own.qk_nope_head_dim.unwrap_or(plain);
    let head_dim = plain.saturating_add(rotated);
    check_sizes(latent, [plain, rotated], origin)?;
    if let Some(heads) = file.num_key_value_heads.filter(|n| *n != file.num_attention_heads) {
        let same = "as many as num_attention_heads";
        return Err(unsupported(origin, "num_key_value_heads", heads, same));
    }
    file.num_key_value_heads = None; // as many as query heads

    let experts = own.experts(model_type, origin)?;
    let defaults = Defaults { head_dim: rotated, ..Defaults::default() };
    let (rope, context) = file.rope(defaults, origin)?;
    let rope = RopeConfig { rotated: Some(rotated), ..rope };
    let scale = file.sharpness(origin)?.powi(2) / (head_dim as f64).sqrt();
    if let Some(types) = &own.mlp_layer_types
        && (types.len() != file.num_hidden_layers
            || types.iter().any(|mlp| !MLP_TYPES.contains(&mlp.as_str())))
    {
        let each = "`dense` or `sparse` for each layer";
        return Err(unsupported(origin, "mlp_layer_types", types.clone(), each));
    }
    let first = match model_type {
        "deepseek_v2" => own.first_k_dense_replace.unwrap_or(0),
        "deepseek_v3" => own.first_k_dense_replace.unwrap_or(3),
        _ => 1,
    };
    let is_dense = |i: usize| match &own.mlp_layer_types {
        Some(types) if is_glm => types[i] == "dense",
        _ => i < first,
    };
    let layers = file.layers_by_number(origin, |i| LayerConfig {
        mlp: if is_dense(i) {
            Mlp::Dense
        } else {
            Mlp::Experts(experts.clone())
        },
        ..LayerConfig::plain(rope.clone())
    })?;
    let llama = LlamaConfig {
        layers,
        latent: Some(latent),
        attention_scale: Some(scale),
        ..file.plain(rope)
    };
    file.model(llama, (head_dim, context), origin)
}

fn check_sizes(latent: LatentConfig, [plain, rotated]: [usize; 2], origin: &str) -> Result<()> {
    for (field, size) in [
        ("kv_lora_rank", latent.rank),
        ("q_lora_rank", latent.query_rank.unwrap_or(1)),
        ("v_head_dim", latent.value_dim),
        ("qk_rope_head_dim", rotated),
    ] {
        if size == 0 || size > i32::MAX as usize {
            return Err(unsupported(origin, field, size, "a size from 1 to 2^31 - 1"));
        }
    }
    if !rotated.is_multiple_of(2) {
        let even = "an even size (RoPE turns pairs)";
        return Err(unsupported(origin, "qk_rope_head_dim", rotated, even));
    }
    if latent.value_dim > plain.saturating_add(rotated) {
        let most = "at most qk_nope_head_dim + qk_rope_head_dim";
        return Err(unsupported(origin, "v_head_dim", latent.value_dim, most));
    }
    Ok(())
}

impl DeepSeekFile {
    fn experts(&self, model_type: &str, origin: &str) -> Result<Experts> {
        let is_v2 = model_type == "deepseek_v2";
        let [count, per_token, d_ff, groups, groups_per_token] = match model_type {
            "deepseek_v2" => [64, 0, 1407, 1, 1],
            "deepseek_v3" => [256, 8, 2048, 8, 4],
            _ => [64, 4, 1536, 1, 1],
        };
        let alias = if is_v2 {
            self.num_experts
        } else {
            self.num_local_experts
        };
        let count = alias.or(self.n_routed_experts).unwrap_or(count);
        let per_token = self.num_experts_per_tok.unwrap_or(per_token);
        let d_ff = self.moe_intermediate_size.unwrap_or(d_ff);
        let shared = self.n_shared_experts.unwrap_or(if is_v2 { 2 } else { 1 });
        let plain = Experts::plain(count, per_token, d_ff, ExpertNames::Mlp);
        plain.check("n_routed_experts", origin)?;
        let grouped = match self.topk_method.as_deref() {
            Some("greedy") | None if is_v2 => false,
            Some("group_limited_greedy") if is_v2 => true,
            Some(other) if is_v2 => {
                let known = "`greedy` or `group_limited_greedy`";
                return Err(unsupported(origin, "topk_method", other, known));
            }
            _ => true,
        };
        let groups = ExpertGroups {
            count: self.n_group.unwrap_or(groups),
            per_token: self.topk_group.unwrap_or(groups_per_token),
            best: if is_v2 { 1 } else { 2 },
        };
        if grouped {
            groups.check(count, per_token, origin)?;
        }
        let scale = if model_type == "deepseek_v3" {
            2.5
        } else if is_v2 {
            1.0
        } else {
            1.8
        };
        let scale = self.routed_scaling_factor.unwrap_or(scale);
        Ok(Experts {
            renormalized: !is_v2 && self.norm_topk_prob.unwrap_or(true),
            scale: positive(Some(scale), "routed_scaling_factor", origin)?,
            gate: if is_v2 {
                ExpertGate::Softmax
            } else {
                ExpertGate::Sigmoid
            },
            corrected: !is_v2,
            groups: Some(groups).filter(|groups| grouped && groups.count > 1),
            shared: Some(shared.saturating_mul(d_ff)).filter(|_| shared > 0),
            ..plain
        })
    }
}

impl ExpertGroups {
    /// Whether they fit so many experts, of which a token takes so many.
    ///
    /// # Errors
    /// They do not.
    pub(in crate::checkpoint) fn check(
        self,
        experts: usize,
        per_token: usize,
        origin: &str,
    ) -> Result<()> {
        if self.count == 0
            || !experts.is_multiple_of(self.count)
            || experts / self.count < self.best
        {
            let same = "a divisor of the number of experts, with 2 or more in each group,";
            return Err(unsupported(origin, "n_group", self.count, same));
        }
        let size = experts / self.count;
        if self.per_token == 0 || self.per_token > self.count || self.per_token * size < per_token {
            let enough = "so many groups as have the experts that a token takes";
            return Err(unsupported(origin, "topk_group", self.per_token, enough));
        }
        Ok(())
    }
}
