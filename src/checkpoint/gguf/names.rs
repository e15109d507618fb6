//! The names of tensors: in a Hugging Face checkpoint, and in a GGUF file.

use super::config::Architecture;

/// Parts of names, in a checkpoint and in a file.
type Parts = &'static [(&'static str, &'static str)];

/// The names of a family.
pub(super) struct Names {
    /// Tensors outside of the layers.
    whole: &'static [Parts],
    /// What stands before the number of a layer.
    layer: (&'static str, &'static str),
    /// Tensors of a layer, without `.weight` and `.bias`.
    parts: &'static [Parts],
    /// As `parts`, with what both names end in.
    whole_parts: Parts,
}

const EMBEDDING_AND_HEAD: Parts = &[("model.embed_tokens", "token_embd"), ("lm_head", "output")];
const LAST_NORM: Parts = &[("model.norm", "output_norm")];

const ATTENTION: Parts = &[
    ("input_layernorm", "attn_norm"),
    ("self_attn.q_proj", "attn_q"),
    ("self_attn.k_proj", "attn_k"),
    ("self_attn.v_proj", "attn_v"),
    ("self_attn.o_proj", "attn_output"),
    ("self_attn.q_norm", "attn_q_norm"),
    ("self_attn.k_norm", "attn_k_norm"),
];
const LATENT: Parts = &[
    ("self_attn.q_a_proj", "attn_q_a"),
    ("self_attn.q_a_layernorm", "attn_q_a_norm"),
    ("self_attn.q_b_proj", "attn_q_b"),
    ("self_attn.kv_a_proj_with_mqa", "attn_kv_a_mqa"),
    ("self_attn.kv_a_layernorm", "attn_kv_a_norm"),
    ("self_attn.kv_b_proj", "attn_kv_b"),
    ("self_attn.k_b_proj", "attn_k_b"),
    ("self_attn.v_b_proj", "attn_v_b"),
];
const SHORT_CONVOLUTION: Parts = &[
    ("conv.in_proj", "shortconv.in_proj"),
    ("conv.conv", "shortconv.conv"),
    ("conv.out_proj", "shortconv.out_proj"),
];
const DELTA_RULE: Parts = &[
    ("linear_attn.in_proj_qkv", "attn_qkv"),
    ("linear_attn.in_proj_z", "attn_gate"),
    ("linear_attn.in_proj_a", "ssm_alpha"),
    ("linear_attn.in_proj_b", "ssm_beta"),
    ("linear_attn.conv1d", "ssm_conv1d"),
    ("linear_attn.norm", "ssm_norm"),
    ("linear_attn.out_proj", "ssm_out"),
];

/// The norm before the feed-forward network, where the only other one is before attention.
const SECOND_NORM: Parts = &[("post_attention_layernorm", "ffn_norm")];
/// The same, in files of some families.
const NORM_AFTER_ATTENTION: Parts = &[("post_attention_layernorm", "post_attention_norm")];
/// The norms besides that before attention, where each sublayer has one before it and one after it.
const NORMS_AROUND: Parts = &[
    ("post_attention_layernorm", "post_attention_norm"),
    ("pre_feedforward_layernorm", "ffn_norm"),
    ("post_feedforward_layernorm", "post_ffw_norm"),
];

const FEED_FORWARD: Parts = &[
    ("mlp.gate_proj", "ffn_gate"),
    ("mlp.up_proj", "ffn_up"),
    ("mlp.down_proj", "ffn_down"),
];
const EXPERTS: Parts = &[
    ("mlp.gate", "ffn_gate_inp"),
    ("mlp.experts.gate_proj", "ffn_gate_exps"),
    ("mlp.experts.up_proj", "ffn_up_exps"),
    ("mlp.experts.down_proj", "ffn_down_exps"),
];
const CORRECTION: Parts = &[("mlp.gate.e_score_correction_bias", "exp_probs_b.bias")];
const SHARED_EXPERT: Parts = &[
    ("mlp.shared_expert.gate_proj", "ffn_gate_shexp"),
    ("mlp.shared_expert.up_proj", "ffn_up_shexp"),
    ("mlp.shared_expert.down_proj", "ffn_down_shexp"),
    ("mlp.shared_expert_gate", "ffn_gate_inp_shexp"),
];
const SHARED_EXPERTS: Parts = &[
    ("mlp.shared_experts.gate_proj", "ffn_gate_shexp"),
    ("mlp.shared_experts.up_proj", "ffn_up_shexp"),
    ("mlp.shared_experts.down_proj", "ffn_down_shexp"),
];

const LLAMA: Names = Names {
    whole: &[EMBEDDING_AND_HEAD, LAST_NORM],
    layer: ("model.layers.", "blk."),
    parts: &[ATTENTION, SECOND_NORM, FEED_FORWARD, EXPERTS],
    whole_parts: &[],
};

/// With norms after attention and after the feed-forward network. OLMo has no others.
const GEMMA3: Names = Names { parts: &[ATTENTION, NORMS_AROUND, FEED_FORWARD], ..LLAMA };

/// As Gemma 3, with embeddings of layers, and experts beside the feed-forward network.
const GEMMA4: Names = Names {
    whole: &[
        EMBEDDING_AND_HEAD,
        LAST_NORM,
        &[
            ("model.embed_tokens_per_layer", "per_layer_token_embd"),
            ("model.per_layer_model_projection", "per_layer_model_proj"),
            ("model.per_layer_projection_norm", "per_layer_proj_norm"),
        ],
    ],
    parts: &[
        ATTENTION,
        NORMS_AROUND,
        FEED_FORWARD,
        &[
            ("router.proj", "ffn_gate_inp"),
            ("post_feedforward_layernorm_1", "post_ffw_norm_1"),
            ("pre_feedforward_layernorm_2", "pre_ffw_norm_2"),
            ("post_feedforward_layernorm_2", "post_ffw_norm_2"),
            ("per_layer_input_gate", "inp_gate"),
            ("per_layer_projection", "proj"),
            ("post_per_layer_input_norm", "post_norm"),
        ],
    ],
    whole_parts: &[
        ("layer_scalar", "layer_output_scale.weight"),
        ("router.scale", "ffn_gate_inp.scale"),
        ("router.per_expert_scale", "ffn_down_exps.scale"),
        ("experts.gate_up_proj", "ffn_gate_up_exps.weight"),
        ("experts.down_proj", "ffn_down_exps.weight"),
    ],
    ..LLAMA
};

/// With sinks.
const GPT_OSS: Names = Names {
    parts: &[ATTENTION, NORM_AFTER_ATTENTION, EXPERTS],
    whole_parts: &[("self_attn.sinks", "attn_sinks.weight")],
    ..LLAMA
};

/// With short convolutions. The norm before the head has the name of one after the embedding.
const LFM2: Names = Names {
    whole: &[EMBEDDING_AND_HEAD, &[("model.norm", "token_embd_norm")]],
    parts: &[
        ATTENTION,
        SHORT_CONVOLUTION,
        SECOND_NORM,
        FEED_FORWARD,
        EXPERTS,
    ],
    whole_parts: CORRECTION,
    ..LLAMA
};

/// With the gated delta rule. Files have the rates at which heads forget, and checkpoints their logarithms.
const QWEN35: Names = Names {
    parts: &[
        ATTENTION,
        DELTA_RULE,
        NORM_AFTER_ATTENTION,
        FEED_FORWARD,
        EXPERTS,
        SHARED_EXPERT,
    ],
    whole_parts: &[
        ("linear_attn.rates", "ssm_a"),
        ("linear_attn.dt_bias", "ssm_dt.bias"),
    ],
    ..LLAMA
};

/// With latent attention.
const DEEPSEEK2: Names = Names {
    parts: &[
        ATTENTION,
        LATENT,
        SECOND_NORM,
        FEED_FORWARD,
        EXPERTS,
        SHARED_EXPERTS,
    ],
    whole_parts: CORRECTION,
    ..LLAMA
};

/// With fused matrices.
const PHI3: Names = Names {
    parts: &[
        &[
            ("input_layernorm", "attn_norm"),
            ("self_attn.qkv_proj", "attn_qkv"),
            ("self_attn.o_proj", "attn_output"),
            ("mlp.gate_up_proj", "ffn_up"),
            ("mlp.down_proj", "ffn_down"),
        ],
        SECOND_NORM,
    ],
    ..LLAMA
};

const GPT2: Names = Names {
    whole: &[&[
        ("transformer.wte", "token_embd"),
        ("transformer.wpe", "position_embd"),
        ("transformer.ln_f", "output_norm"),
        ("lm_head", "output"),
    ]],
    layer: ("transformer.h.", "blk."),
    parts: &[&[
        ("ln_1", "attn_norm"),
        ("attn.c_attn", "attn_qkv"),
        ("attn.c_proj", "attn_output"),
        ("ln_2", "ffn_norm"),
        ("mlp.c_fc", "ffn_up"),
        ("mlp.c_proj", "ffn_down"),
    ]],
    whole_parts: &[],
};

impl Names {
    pub(super) fn of(architecture: Architecture) -> &'static Self {
        match architecture {
            Architecture::Gpt2 => &GPT2,
            Architecture::Gemma3 | Architecture::Olmo2 => &GEMMA3,
            Architecture::Gemma4 => &GEMMA4,
            Architecture::GptOss => &GPT_OSS,
            Architecture::Lfm2 | Architecture::Lfm2Moe => &LFM2,
            Architecture::Qwen35 | Architecture::Qwen35Moe => &QWEN35,
            Architecture::DeepSeek2 => &DEEPSEEK2,
            Architecture::Phi3 => &PHI3,
            _ => &LLAMA,
        }
    }

    /// The checkpoint's name of a tensor of a file.
    pub(super) fn in_checkpoint(&self, in_file: &str) -> Option<String> {
        self.translate(in_file, |(checkpoint, file)| (file, checkpoint))
    }

    /// The file's name of a tensor of a checkpoint.
    pub(super) fn in_file(&self, in_checkpoint: &str) -> Option<String> {
        self.translate(in_checkpoint, |pair| pair)
    }

    /// Translates a name with pairs that `direct` puts into the order of from and to.
    fn translate(
        &self,
        name: &str,
        direct: fn((&'static str, &'static str)) -> (&'static str, &'static str),
    ) -> Option<String> {
        let find = |lists: &[Parts], stem: &str| {
            let mut pairs = lists.iter().copied().flatten().map(|pair| direct(*pair));
            pairs.find(|(from, _)| *from == stem).map(|(_, to)| to)
        };
        let with_ending = |parts: &[Parts], name: &str| {
            let (stem, kind) = name.rsplit_once('.')?;
            let is_known = matches!(kind, "weight" | "bias");
            Some(format!("{}.{kind}", find(parts, stem).filter(|_| is_known)?))
        };
        let (from_layer, to_layer) = direct(self.layer);
        let Some(layer) = name.strip_prefix(from_layer) else {
            return with_ending(self.whole, name);
        };
        let (number, part) = layer.split_once('.')?;
        let is_number = number.bytes().all(|digit| digit.is_ascii_digit());
        let part = match find(&[self.whole_parts], part) {
            Some(part) => Some(part.to_owned()),
            None => with_ending(self.parts, part),
        };
        Some(format!("{to_layer}{number}.{}", part.filter(|_| is_number)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_translated_both_ways() {
        for (names, checkpoint, file) in [
            (LLAMA, "model.embed_tokens.weight", "token_embd.weight"),
            (LLAMA, "model.layers.12.self_attn.q_proj.bias", "blk.12.attn_q.bias"),
            (LLAMA, "lm_head.weight", "output.weight"),
            (LLAMA, "model.layers.3.mlp.experts.up_proj.weight", "blk.3.ffn_up_exps.weight"),
            (
                GEMMA3,
                "model.layers.3.pre_feedforward_layernorm.weight",
                "blk.3.ffn_norm.weight",
            ),
            (GEMMA4, "model.layers.3.router.per_expert_scale", "blk.3.ffn_down_exps.scale"),
            (QWEN35, "model.layers.3.linear_attn.dt_bias", "blk.3.ssm_dt.bias"),
            (QWEN35, "model.layers.3.linear_attn.rates", "blk.3.ssm_a"),
            (PHI3, "model.layers.3.mlp.gate_up_proj.weight", "blk.3.ffn_up.weight"),
            (GPT2, "transformer.h.0.attn.c_attn.weight", "blk.0.attn_qkv.weight"),
            (GPT2, "transformer.ln_f.bias", "output_norm.bias"),
        ] {
            assert_eq!(names.in_file(checkpoint).as_deref(), Some(file));
            assert_eq!(names.in_checkpoint(file).as_deref(), Some(checkpoint));
        }
    }

    #[test]
    fn other_names_are_not() {
        for name in [
            "rope_freqs.weight",
            "blk.0.attn_q.scale",
            "blk.x.attn_q.weight",
            "blk.0.ssm.weight",
            "blk.0",
            "",
        ] {
            assert_eq!(LLAMA.in_checkpoint(name), None, "{name}");
        }
    }
}
