//! What the metadata of some architectures says of their layers.

use super::config::Keys;
use crate::error::Result;
use crate::model::config::{
    ExpertNames, Experts, LayerConfig, LlamaConfig, Mlp, Norms, QueryGrowth, RopeConfig,
};

/// Files do not say at what base layers with a window rotate.
const LOCAL_THETA: f64 = 10_000.0;

impl Keys<'_> {
    /// Norms hold `1 + weight` in these files. llama.cpp takes much of the rest for granted.
    pub(super) fn gemma3(
        &self,
        llama: LlamaConfig,
        d_model: usize,
        head_dim: usize,
    ) -> Result<LlamaConfig> {
        /// The layers of the model of 27 billion weights, which divides scores by another number.
        const LAYERS_OF_27B: usize = 62;
        let window = self.window()?;
        let pattern = self.optional_size("attention.sliding_window_pattern")?.unwrap_or(6);
        if pattern > 1000 {
            return Err(self.wrong("attention.sliding_window_pattern", "at most 1000 layers"));
        }
        let local = self.positive("rope.freq_base_swa", Some(LOCAL_THETA))?;
        let full = llama.layers[0].rope.clone();
        let attention_factor = full.as_ref().map_or(1.0, |rope| rope.attention_factor);
        let layer = |i: usize| {
            // Without a window no layer is of the kind that rotates at another base.
            let slides = window.is_some() && i + 1 < pattern;
            LayerConfig {
                window: window.filter(|_| slides),
                rope: if slides {
                    Some(RopeConfig { attention_factor, ..RopeConfig::new(local) })
                } else {
                    full.clone()
                },
                norms: Norms::Around,
                ..llama.layers[0].clone()
            }
        };
        let heads = self.size("attention.head_count")?;
        let scalar = match self.size("block_count")? {
            LAYERS_OF_27B => d_model as f64 / heads as f64,
            _ => head_dim as f64,
        };
        Ok(LlamaConfig {
            layers: (0..pattern).map(layer).collect(),
            embedding_scale: Some((d_model as f64).sqrt()),
            attention_scale: Some(LlamaConfig::inverse_root(scalar)),
            attention_softcap: self.optional_positive("attn_logit_softcapping")?,
            logit_softcap: self.optional_positive("final_logit_softcapping")?,
            ..llama
        })
    }

    /// Every fourth layer has no RoPE.
    pub(super) fn smollm3(&self, mut llama: LlamaConfig) -> Result<LlamaConfig> {
        let layer = llama.layers[0].clone();
        llama.layers = vec![layer; 4];
        llama.layers[3].rope = None;
        Ok(llama)
    }

    pub(super) fn phi3(&self, llama: LlamaConfig) -> Result<LlamaConfig> {
        Ok(LlamaConfig { fused: true, ..self.windows(llama)? })
    }

    /// Layers with a window rotate without the scaling of the others. A file of OLMo 2 has no window.
    pub(super) fn olmo2(&self, llama: LlamaConfig) -> Result<LlamaConfig> {
        let (window, key) = (self.window()?, "attention.sliding_window_pattern");
        let slides = match self.metadata.flags(&self.key(key))? {
            Some(flags) if flags.len() != self.size("block_count")? => {
                return Err(self.wrong(key, "a flag for each layer"));
            }
            Some(flags) => flags.to_vec(),
            None => vec![true, true, true, false],
        };
        let layer = |slides: bool| {
            let window = window.filter(|_| slides);
            let unscaled = |rope: RopeConfig| match window {
                Some(_) => RopeConfig::new(rope.theta),
                None => rope,
            };
            let rope = llama.layers[0].rope.clone().map(unscaled);
            LayerConfig { window, rope, norms: Norms::After, ..llama.layers[0].clone() }
        };
        Ok(LlamaConfig { layers: slides.into_iter().map(layer).collect(), ..llama })
    }

    pub(super) fn granite(&self, llama: LlamaConfig) -> Result<LlamaConfig> {
        let divisor = self.optional_positive("logit_scale")?;
        Ok(LlamaConfig {
            embedding_scale: self.optional_positive("embedding_scale")?,
            attention_scale: self.optional_positive("attention.scale")?,
            residual_scale: self.optional_positive("residual_scale")?,
            logit_scale: divisor.map(|divisor| 1.0 / divisor),
            ..llama
        })
    }

    pub(super) fn mistral3(&self, mut llama: LlamaConfig) -> Result<LlamaConfig> {
        let beta = self.optional_positive("attention.temperature_scale")?;
        if let (Some(beta), Some(rope)) = (beta, &mut llama.layers[0].rope) {
            let original_context = self.original_context()?;
            rope.query_growth = Some(QueryGrowth { beta, original_context });
        }
        Ok(llama)
    }

    /// The same window in all layers. llama.cpp's converter writes none for a Mistral, and so the file
    /// does not say that its model had one.
    pub(super) fn windows(&self, mut llama: LlamaConfig) -> Result<LlamaConfig> {
        llama.layers[0].window = self.window()?;
        Ok(llama)
    }

    fn window(&self) -> Result<Option<usize>> {
        let window = self.metadata.size(&self.key("attention.sliding_window"))?;
        Ok(window.filter(|window| *window > 0))
    }

    /// Experts, where the file has some.
    pub(super) fn experts(&self, mut llama: LlamaConfig) -> Result<LlamaConfig> {
        let key = "expert_count";
        let count = self.metadata.size(&self.key(key))?.unwrap_or(0);
        if count == 0 {
            return Ok(llama);
        }
        if count > 10_000 {
            return Err(self.wrong(key, "at most 10000 experts"));
        }
        let per_token = self.size("expert_used_count")?;
        if per_token > count {
            return Err(self.wrong("expert_used_count", format!("at most {count}")));
        }
        let d_ff = self.optional_size("expert_feed_forward_length")?;
        let d_ff = match d_ff {
            Some(d_ff) => d_ff,
            None => self.size("feed_forward_length")?,
        };
        let experts = Experts::plain(count, per_token, d_ff, ExpertNames::Stacked);
        llama.layers[0].mlp = Mlp::Experts(experts);
        Ok(llama)
    }
}
