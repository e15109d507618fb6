//! What the metadata of some architectures says of their layers.

use super::config::{D_FF, DENSE_LAYERS, EXPERT_D_FF, KV_HEADS, Keys};
use super::file::GgufFile;
use crate::error::Result;
use crate::model::config::{
    Convolution, DeltaRule, ExpertNames, Experts, KvHeads, KvSource, LayerConfig, LayerEmbedding,
    LlamaConfig, Mixer, Mlp, Norms, QkNorm, QueryGrowth, RopeConfig, RopeScaling,
};

/// Files do not say at what base layers with a window rotate.
const LOCAL_THETA: f64 = 10_000.0;

/// Files have a factor for each pair that is so large that the pair does not turn.
fn proportional(rope: RopeConfig) -> RopeConfig {
    let RopeScaling::Factors(factors) = &rope.scaling else {
        return rope;
    };
    let pairs = factors.iter().take_while(|factor| **factor == 1.0).count();
    if factors[pairs..].iter().any(|factor| *factor < 1e29) {
        return rope;
    }
    RopeConfig {
        scaling: RopeScaling::Proportional { factor: 1.0, pairs },
        ..rope
    }
}

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

    /// What keys say is about layers without a window, and `_swa` about those with one. Values are keys in a layer that
    /// has no matrix for them.
    pub(super) fn gemma4(
        &self,
        llama: LlamaConfig,
        d_model: usize,
        file: &GgufFile<'_>,
    ) -> Result<LlamaConfig> {
        let count = self.size("block_count")?;
        let (pattern, shared_key) =
            ("attention.sliding_window_pattern", "attention.shared_kv_layers");
        let Some(slides) = self.metadata.flags(&self.key(pattern))? else {
            return Err(self.wrong(pattern, "a flag for each layer"));
        };
        let shared = self.metadata.size(&self.key(shared_key))?.unwrap_or(0);
        if slides.len() != count || count == 0 {
            return Err(self.wrong(pattern, "a flag for each layer"));
        }
        if shared >= count {
            return Err(self.wrong(shared_key, "fewer than block_count"));
        }
        let (window, own) = (self.window()?, count - shared);
        if window.is_none() && slides.contains(&true) {
            return Err(self.wrong("attention.sliding_window", "a window, as some layers have one"));
        }
        let kv_heads = self.metadata.sizes(&self.key(KV_HEADS), count)?;
        let kv_heads = kv_heads.ok_or_else(|| self.wrong(KV_HEADS, "a number of heads"))?;
        let sizes = [
            self.size("attention.key_length")?,
            self.size("attention.key_length_swa")?,
        ];
        if !sizes[0].is_multiple_of(2) {
            return Err(self.wrong("attention.key_length", "an even size (RoPE turns pairs)"));
        }
        let d_ffs = self.metadata.sizes(&self.key(D_FF), count)?.unwrap_or_default();
        let local = RopeConfig::new(self.positive("rope.freq_base_swa", Some(LOCAL_THETA))?);
        let plain = self.experts(llama.clone())?.layers.swap_remove(0);
        let mlp = match plain.mlp {
            Mlp::Experts(experts) => {
                Mlp::Beside(Experts { factors: true, names: ExpertNames::Outside, ..experts })
            }
            other => other,
        };
        let full_rope = plain.rope.map(proportional);
        let heads =
            |i: usize| KvHeads::new(kv_heads[i % kv_heads.len()], sizes[usize::from(slides[i])]);
        let of_first = kv_heads.iter().copied().find(|heads| *heads > 0).unwrap_or(0);
        let swa = KvHeads::new(of_first, sizes[1]);
        let n_heads = self.size("attention.head_count")?;
        let mut layers = Vec::with_capacity(count);
        for i in 0..count {
            let (of, n) = (heads(i), slides[i]);
            if of.n_kv_heads == 0 || n_heads % of.n_kv_heads != 0 {
                return Err(self.wrong(KV_HEADS, "divisors of attention.head_count"));
            }
            let source = match (0..own.min(i)).rev().find(|&j| slides[j] == n) {
                Some(source) if i >= own && heads(source) == of => KvSource::Layer(source),
                _ if i >= own => {
                    let some = "layers that have an earlier one of their kind to share with";
                    return Err(self.wrong(shared_key, some));
                }
                _ if file.holds(&format!("blk.{i}.attn_v.weight")) => KvSource::Own,
                _ => KvSource::Keys,
            };
            let d_ff = d_ffs.get(i % d_ffs.len().max(1)).copied();
            layers.push(LayerConfig {
                window: window.filter(|_| n),
                norms: Norms::Around,
                mlp: mlp.clone(),
                rope: if n {
                    Some(local.clone())
                } else {
                    full_rope.clone()
                },
                heads: Some(of).filter(|of| *of != swa),
                source,
                d_ff: d_ff.filter(|d_ff| Some(d_ff) != d_ffs.first()),
                ..LayerConfig::plain(local.clone())
            });
        }
        let width_key = "embedding_length_per_layer_input";
        let width = self.metadata.size(&self.key(width_key))?.filter(|width| *width > 0);
        let mut tokens = 0;
        if let Some(width) = width {
            let [own, all] = ["per_layer_token_embd.weight", "token_embd.weight"];
            tokens = file.shape(own)?.first().copied().unwrap_or(0);
            let has_all = file.shape(all)?.first().is_none_or(|all| tokens >= *all);
            if width > i32::MAX as usize || !has_all {
                let rows =
                    "a size below 2^31, with as many rows of per_layer_token_embd as of token_embd";
                return Err(self.wrong(width_key, rows));
            }
        }
        Ok(LlamaConfig {
            layers,
            qk_norm: Some(QkNorm::Head),
            value_norm: true,
            layer_embedding: width.map(|width| LayerEmbedding { tokens, width }),
            layer_scale: true,
            embedding_scale: Some((d_model as f64).sqrt()),
            attention_scale: Some(1.0),
            logit_softcap: self.optional_positive("final_logit_softcapping")?,
            ..llama
        })
    }

    /// A window in every other layer. Files do not say that the interpolation of YaRN begins and ends between pairs.
    pub(super) fn gpt_oss(&self, llama: LlamaConfig) -> Result<LlamaConfig> {
        let window = self.window()?;
        let mut layer = self.experts(llama.clone())?.layers.swap_remove(0);
        if let Mlp::Experts(experts) = &mut layer.mlp {
            experts.bias = true;
        }
        if let Some(RopeConfig { scaling: RopeScaling::Yarn { truncate, .. }, .. }) =
            &mut layer.rope
        {
            *truncate = false;
        }
        let layers = [window, None].map(|window| LayerConfig { window, ..layer.clone() });
        Ok(LlamaConfig { layers: layers.to_vec(), sinks: true, ..llama })
    }

    /// A layer without heads of keys and values has a short convolution.
    pub(super) fn lfm2(&self, llama: LlamaConfig, file: &GgufFile<'_>) -> Result<LlamaConfig> {
        let count = self.size("block_count")?;
        let heads = self.metadata.sizes(&self.key(KV_HEADS), count)?;
        let heads = heads.ok_or_else(|| self.wrong(KV_HEADS, "a number for each layer"))?;
        let width = self.size("shortconv.l_cache")?;
        let of_convolution = |i: usize| file.holds(&format!("blk.{i}.shortconv.in_proj.bias"));
        let convolution = Convolution { width, bias: (0..count).any(of_convolution) };
        let layer = |heads: &usize| match heads {
            0 => LayerConfig {
                mixer: Mixer::Convolution(convolution),
                rope: None,
                ..llama.layers[0].clone()
            },
            _ => llama.layers[0].clone(),
        };
        Ok(LlamaConfig {
            layers: heads.iter().map(layer).collect(),
            qk_norm: Some(QkNorm::Head),
            ..llama
        })
    }

    /// As [`lfm2`](Self::lfm2), with experts in all layers but the first.
    pub(super) fn lfm2_experts(
        &self,
        llama: LlamaConfig,
        file: &GgufFile<'_>,
    ) -> Result<LlamaConfig> {
        let dense = self.metadata.size(&self.key(DENSE_LAYERS))?.unwrap_or(0);
        let mut with_experts = self.experts(llama.clone())?.layers.swap_remove(0).mlp;
        if let Mlp::Experts(experts) = &mut with_experts {
            self.router(experts, &format!("blk.{dense}"), file)?;
            (experts.renormalized, experts.least_sum) = (true, 1e-6);
        }
        let mut llama = self.lfm2(llama, file)?;
        for layer in llama.layers.iter_mut().skip(dense) {
            layer.mlp = with_experts.clone();
        }
        Ok(llama)
    }

    /// The gated delta rule in most layers, and attention with a gate in the others. Norms hold `1 + weight`, as in
    /// files of Gemma 3.
    pub(super) fn qwen35(&self, llama: LlamaConfig) -> Result<LlamaConfig> {
        /// So that no product of sizes overflows.
        const MOST: usize = 1 << 15;
        let small = |key: &str| match self.size(key)? {
            size if size > MOST => Err(self.wrong(key, format!("at most {MOST}"))),
            size => Ok(size),
        };
        let (keys, values, inner) = ("ssm.group_count", "ssm.time_step_rank", "ssm.inner_size");
        let (key_heads, value_heads) = (small(keys)?, small(values)?);
        let of_values = self.size(inner)?;
        if !value_heads.is_multiple_of(key_heads) {
            return Err(self.wrong(keys, format!("a divisor of {values}")));
        }
        if !of_values.is_multiple_of(value_heads) || of_values / value_heads > MOST {
            return Err(self.wrong(inner, format!("at most {MOST} times {values}")));
        }
        let rule = DeltaRule {
            key_heads,
            value_heads,
            key_dim: small("ssm.state_size")?,
            value_dim: of_values / value_heads,
            width: small("ssm.conv_kernel")?,
        };
        let interval_key = "full_attention_interval";
        let interval = self.optional_size(interval_key)?.unwrap_or(4);
        if interval > 1000 {
            return Err(self.wrong(interval_key, "at most 1000 layers"));
        }
        let attention = llama.layers[0].clone();
        let mixer = Mixer::DeltaRule(rule);
        let delta = LayerConfig { mixer, rope: None, ..attention.clone() };
        let mut layers = vec![delta; interval - 1];
        layers.push(attention);
        Ok(LlamaConfig {
            layers,
            attention_gate: true,
            qk_norm: Some(QkNorm::Head),
            ..llama
        })
    }

    /// The same with experts.
    pub(super) fn qwen35_experts(&self, llama: LlamaConfig) -> Result<LlamaConfig> {
        let mut llama = self.experts(llama)?;
        if let Mlp::Experts(experts) = &mut llama.layers[0].mlp {
            experts.shared = Some(self.size("expert_shared_feed_forward_length")?);
            experts.shared_gate = true;
        }
        self.qwen35(llama)
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
        let d_ff = match self.optional_size(EXPERT_D_FF)? {
            Some(d_ff) => d_ff,
            None => self.size("feed_forward_length")?,
        };
        let experts = Experts::plain(count, per_token, d_ff, ExpertNames::Stacked);
        llama.layers[0].mlp = Mlp::Experts(experts);
        Ok(llama)
    }
}
