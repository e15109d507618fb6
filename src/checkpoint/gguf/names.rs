//! The names of tensors: in a Hugging Face checkpoint, and in a GGUF file.

use super::config::Architecture;

/// Parts of names, in a checkpoint and in a file.
type Parts = &'static [(&'static str, &'static str)];

/// The names of a family.
pub(super) struct Names {
    /// Tensors outside of the layers.
    whole: Parts,
    /// What stands before the number of a layer.
    layer: (&'static str, &'static str),
    /// Tensors of a layer, without `.weight` and `.bias`.
    parts: Parts,
    /// As `parts`, with what both names end in.
    whole_parts: Parts,
}

const LLAMA: Names = Names {
    whole: &[
        ("model.embed_tokens", "token_embd"),
        ("model.norm", "output_norm"),
        ("lm_head", "output"),
    ],
    layer: ("model.layers.", "blk."),
    parts: &[
        ("input_layernorm", "attn_norm"),
        ("self_attn.q_proj", "attn_q"),
        ("self_attn.k_proj", "attn_k"),
        ("self_attn.v_proj", "attn_v"),
        ("self_attn.o_proj", "attn_output"),
        ("self_attn.q_norm", "attn_q_norm"),
        ("self_attn.k_norm", "attn_k_norm"),
        ("post_attention_layernorm", "ffn_norm"),
        ("mlp.gate_proj", "ffn_gate"),
        ("mlp.up_proj", "ffn_up"),
        ("mlp.down_proj", "ffn_down"),
        ("mlp.gate", "ffn_gate_inp"),
        ("mlp.experts.gate_proj", "ffn_gate_exps"),
        ("mlp.experts.up_proj", "ffn_up_exps"),
        ("mlp.experts.down_proj", "ffn_down_exps"),
    ],
    whole_parts: &[],
};

/// With norms after attention and after the feed-forward network. OLMo has no others.
const GEMMA3: Names = Names {
    parts: &[
        ("input_layernorm", "attn_norm"),
        ("self_attn.q_proj", "attn_q"),
        ("self_attn.k_proj", "attn_k"),
        ("self_attn.v_proj", "attn_v"),
        ("self_attn.o_proj", "attn_output"),
        ("self_attn.q_norm", "attn_q_norm"),
        ("self_attn.k_norm", "attn_k_norm"),
        ("post_attention_layernorm", "post_attention_norm"),
        ("pre_feedforward_layernorm", "ffn_norm"),
        ("mlp.gate_proj", "ffn_gate"),
        ("mlp.up_proj", "ffn_up"),
        ("mlp.down_proj", "ffn_down"),
        ("post_feedforward_layernorm", "post_ffw_norm"),
    ],
    ..LLAMA
};

/// As Gemma 3, with embeddings of layers, and experts beside the feed-forward network.
const GEMMA4: Names = Names {
    whole: &[
        ("model.embed_tokens", "token_embd"),
        ("model.embed_tokens_per_layer", "per_layer_token_embd"),
        ("model.per_layer_model_projection", "per_layer_model_proj"),
        ("model.per_layer_projection_norm", "per_layer_proj_norm"),
        ("model.norm", "output_norm"),
        ("lm_head", "output"),
    ],
    parts: &[
        ("input_layernorm", "attn_norm"),
        ("self_attn.q_proj", "attn_q"),
        ("self_attn.k_proj", "attn_k"),
        ("self_attn.v_proj", "attn_v"),
        ("self_attn.o_proj", "attn_output"),
        ("self_attn.q_norm", "attn_q_norm"),
        ("self_attn.k_norm", "attn_k_norm"),
        ("post_attention_layernorm", "post_attention_norm"),
        ("pre_feedforward_layernorm", "ffn_norm"),
        ("mlp.gate_proj", "ffn_gate"),
        ("mlp.up_proj", "ffn_up"),
        ("mlp.down_proj", "ffn_down"),
        ("post_feedforward_layernorm", "post_ffw_norm"),
        ("router.proj", "ffn_gate_inp"),
        ("post_feedforward_layernorm_1", "post_ffw_norm_1"),
        ("pre_feedforward_layernorm_2", "pre_ffw_norm_2"),
        ("post_feedforward_layernorm_2", "post_ffw_norm_2"),
        ("per_layer_input_gate", "inp_gate"),
        ("per_layer_projection", "proj"),
        ("post_per_layer_input_norm", "post_norm"),
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

/// With sinks, and a norm before experts that is named as one after attention.
const GPT_OSS: Names = Names {
    parts: &[
        ("input_layernorm", "attn_norm"),
        ("self_attn.q_proj", "attn_q"),
        ("self_attn.k_proj", "attn_k"),
        ("self_attn.v_proj", "attn_v"),
        ("self_attn.o_proj", "attn_output"),
        ("post_attention_layernorm", "post_attention_norm"),
        ("mlp.gate", "ffn_gate_inp"),
        ("mlp.experts.gate_proj", "ffn_gate_exps"),
        ("mlp.experts.up_proj", "ffn_up_exps"),
        ("mlp.experts.down_proj", "ffn_down_exps"),
    ],
    whole_parts: &[("self_attn.sinks", "attn_sinks.weight")],
    ..LLAMA
};

/// With short convolutions. The norm before the head has the name of one after the embedding.
const LFM2: Names = Names {
    whole: &[
        ("model.embed_tokens", "token_embd"),
        ("model.norm", "token_embd_norm"),
        ("lm_head", "output"),
    ],
    parts: &[
        ("input_layernorm", "attn_norm"),
        ("self_attn.q_proj", "attn_q"),
        ("self_attn.k_proj", "attn_k"),
        ("self_attn.v_proj", "attn_v"),
        ("self_attn.o_proj", "attn_output"),
        ("self_attn.q_norm", "attn_q_norm"),
        ("self_attn.k_norm", "attn_k_norm"),
        ("conv.in_proj", "shortconv.in_proj"),
        ("conv.conv", "shortconv.conv"),
        ("conv.out_proj", "shortconv.out_proj"),
        ("post_attention_layernorm", "ffn_norm"),
        ("mlp.gate_proj", "ffn_gate"),
        ("mlp.up_proj", "ffn_up"),
        ("mlp.down_proj", "ffn_down"),
    ],
    ..LLAMA
};

/// With fused matrices.
const PHI3: Names = Names {
    parts: &[
        ("input_layernorm", "attn_norm"),
        ("self_attn.qkv_proj", "attn_qkv"),
        ("self_attn.o_proj", "attn_output"),
        ("post_attention_layernorm", "ffn_norm"),
        ("mlp.gate_up_proj", "ffn_up"),
        ("mlp.down_proj", "ffn_down"),
    ],
    ..LLAMA
};

const GPT2: Names = Names {
    whole: &[
        ("transformer.wte", "token_embd"),
        ("transformer.wpe", "position_embd"),
        ("transformer.ln_f", "output_norm"),
        ("lm_head", "output"),
    ],
    layer: ("transformer.h.", "blk."),
    parts: &[
        ("ln_1", "attn_norm"),
        ("attn.c_attn", "attn_qkv"),
        ("attn.c_proj", "attn_output"),
        ("ln_2", "ffn_norm"),
        ("mlp.c_fc", "ffn_up"),
        ("mlp.c_proj", "ffn_down"),
    ],
    whole_parts: &[],
};

impl Names {
    pub(super) fn of(architecture: Architecture) -> &'static Self {
        match architecture {
            Architecture::Gpt2 => &GPT2,
            Architecture::Gemma3 | Architecture::Olmo2 => &GEMMA3,
            Architecture::Gemma4 => &GEMMA4,
            Architecture::GptOss => &GPT_OSS,
            Architecture::Lfm2 => &LFM2,
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
        let find = |parts: Parts, stem: &str| {
            let mut pairs = parts.iter().map(|pair| direct(*pair));
            pairs.find(|(from, _)| *from == stem).map(|(_, to)| to)
        };
        let with_ending = |parts: Parts, name: &str| {
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
        let part = match find(self.whole_parts, part) {
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
