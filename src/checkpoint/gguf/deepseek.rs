//! What the metadata of DeepSeek and GLM says of latent attention and experts.

use super::config::{DENSE_LAYERS, Keys, ROTATED};
use super::file::GgufFile;
use crate::error::Result;
use crate::model::config::{
    ExpertGate, ExpertGroups, Experts, LatentConfig, LayerConfig, LlamaConfig, Mlp, RopeConfig,
};

impl Keys<'_> {
    /// Latent attention. Newer files have the keys and values of heads as two tensors, and tell of sizes as attention
    /// would have them that reads latent vectors; the sizes of a head have names of their own.
    pub(super) fn deepseek2(
        &self,
        llama: LlamaConfig,
        head_dim: usize,
        file: &GgufFile<'_>,
    ) -> Result<LlamaConfig> {
        let rotated = self.size(ROTATED)?;
        if rotated >= head_dim {
            let part = format!("less than {head_dim}, the size of a key");
            return Err(self.wrong(ROTATED, part));
        }
        let own = "attention.value_length_mla";
        let (value_key, value_dim) = match self.optional_size(own)? {
            Some(size) => (own, size),
            None => ("attention.value_length", self.size("attention.value_length")?),
        };
        if value_dim > head_dim {
            return Err(self.wrong(value_key, format!("at most {head_dim}, the size of a key")));
        }
        let latent = LatentConfig {
            query_rank: self.optional_size("attention.q_lora_rank")?,
            rank: self.size("attention.kv_lora_rank")?,
            value_dim,
            interleaved: true,
        };
        let (count, dense_key) = (self.n_layers()?, DENSE_LAYERS);
        // So that no number makes more layers than there are.
        if !file.holds(&format!("blk.{}.attn_norm.weight", count - 1)) {
            return Err(self.wrong("block_count", "the number of layers that the file has"));
        }
        let dense = self.metadata.size(&self.key(dense_key))?.unwrap_or(0);
        let scale = self.sharpness()?.powi(2) / (head_dim as f64).sqrt();
        let plain = LayerConfig {
            rope: llama.layers[0]
                .rope
                .clone()
                .map(|rope| RopeConfig { rotated: Some(rotated), ..rope }),
            ..llama.layers[0].clone()
        };
        let mut with_experts = self.experts(llama.clone())?.layers.swap_remove(0);
        if let Mlp::Experts(experts) = &mut with_experts.mlp {
            self.deepseek2_experts(experts, &format!("blk.{dense}"), file)?;
        }
        let mlp = |i: usize| {
            if i < dense {
                Mlp::Dense
            } else {
                with_experts.mlp.clone()
            }
        };
        Ok(LlamaConfig {
            layers: (0..count).map(|i| LayerConfig { mlp: mlp(i), ..plain.clone() }).collect(),
            latent: Some(latent),
            attention_scale: Some(scale),
            ..llama
        })
    }

    /// What files say of the weights of experts. `layer` is the first one that has some.
    pub(super) fn router(
        &self,
        experts: &mut Experts,
        layer: &str,
        file: &GgufFile<'_>,
    ) -> Result<()> {
        let gate_key = "expert_gating_func";
        experts.corrected = file.holds(&format!("{layer}.exp_probs_b.bias"));
        // Files of DeepSeek-V2 may say nothing.
        experts.gate = match self.metadata.size(&self.key(gate_key))? {
            Some(1) => ExpertGate::Softmax,
            Some(2) => ExpertGate::Sigmoid,
            None if experts.corrected => ExpertGate::Sigmoid,
            None => ExpertGate::Softmax,
            Some(_) => return Err(self.wrong(gate_key, "1 (softmax) or 2 (sigmoid)")),
        };
        experts.scale = self.positive("expert_weights_scale", Some(1.0))?;
        Ok(())
    }

    /// What files say of experts. `layer` is the first one that has some.
    fn deepseek2_experts(
        &self,
        experts: &mut Experts,
        layer: &str,
        file: &GgufFile<'_>,
    ) -> Result<()> {
        let groups_key = "expert_group_count";
        self.router(experts, layer, file)?;
        let norm = self.metadata.flag(&self.key("expert_weights_norm"))?;
        experts.renormalized = norm.unwrap_or(false);
        let shared = self.metadata.size(&self.key("expert_shared_count"))?.unwrap_or(0);
        experts.shared = Some(shared.saturating_mul(experts.d_ff)).filter(|d_ff| *d_ff > 0);
        let groups = ExpertGroups {
            count: self.optional_size(groups_key)?.unwrap_or(1),
            per_token: self.optional_size("expert_group_used_count")?.unwrap_or(1),
            best: match experts.gate {
                ExpertGate::Softmax => 1,
                ExpertGate::Sigmoid => 2,
            },
        };
        if groups.count > 1 {
            let fit = groups.check(experts.count, experts.per_token, file.origin());
            let known = "a divisor of expert_count, of which a token takes enough";
            fit.map_err(|_| self.wrong(groups_key, known))?;
            experts.groups = Some(groups);
        }
        Ok(())
    }
}
