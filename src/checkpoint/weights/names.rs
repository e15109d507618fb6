//! Names that some checkpoints have for what others call otherwise.

/// What layouts of quantized weights call a matrix.
const QUANTIZED: [&str; 2] = [".qweight", ".weight_packed"];

/// Parts of names of LFM2, and what they are called elsewhere.
const LFM2: [(&str, &str); 12] = [
    ("embedding_norm.", "norm."),
    (".operator_norm.", ".input_layernorm."),
    (".ffn_norm.", ".post_attention_layernorm."),
    (".self_attn.out_proj.", ".self_attn.o_proj."),
    (".self_attn.q_layernorm.", ".self_attn.q_norm."),
    (".self_attn.k_layernorm.", ".self_attn.k_norm."),
    (".feed_forward.w1.", ".mlp.gate_proj."),
    (".feed_forward.w3.", ".mlp.up_proj."),
    (".feed_forward.w2.", ".mlp.down_proj."),
    // As Mixtral's, which are w1, w2 and w3, too.
    (".feed_forward.experts.", ".block_sparse_moe.experts."),
    (".feed_forward.gate.", ".block_sparse_moe.gate."),
    (".feed_forward.expert_bias", ".block_sparse_moe.gate.e_score_correction_bias"),
];

/// The name by which networks ask for a tensor that a file calls `name`.
pub(super) fn common(name: &str) -> String {
    if let Some(layer) = QUANTIZED.iter().find_map(|kind| name.strip_suffix(kind)) {
        return common(&format!("{layer}.weight"));
    }
    match LFM2.iter().find(|(own, _)| name.contains(own)) {
        Some((own, common)) => name.replacen(own, common, 1),
        None => name.to_owned(),
    }
}
