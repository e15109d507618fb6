//! What the layers of a model do, from its `config.json`.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use slowburn::LoadError;
use slowburn::model::ModelConfig;
use slowburn::model::config::{
    Activation, Convolution, Experts, Family, LayerConfig, LlamaConfig, Mixer, Mlp, Norms, QkNorm,
    RopeConfig, RopeScaling,
};

use slowburn_examples::cli::Result;

/// The `config.json` of published models, with the fields that change what is computed.
const PUBLISHED: [(&str, &[u8]); 6] = [
    ("Mistral 7B v0.1", include_bytes!("../configs/mistral-7b.json")),
    ("Gemma 3 1B", include_bytes!("../configs/gemma-3-1b.json")),
    ("SmolLM3 3B", include_bytes!("../configs/smollm3-3b.json")),
    ("Phi-4-mini", include_bytes!("../configs/phi-4-mini.json")),
    ("Qwen3 30B-A3B", include_bytes!("../configs/qwen3-30b-a3b.json")),
    ("Mixtral 8x7B v0.1", include_bytes!("../configs/mixtral-8x7b.json")),
];

/// A model, by its configuration.
pub(super) struct Named {
    pub(super) name: String,
    pub(super) config: ModelConfig,
}

/// The models of these files, or the published ones where there are none.
///
/// # Errors
/// A file that cannot be read, or asks for something that is not supported.
pub(super) fn models(files: &[PathBuf]) -> Result<Vec<Named>> {
    let mut models = Vec::new();
    for path in files {
        let name = format!("{path:?}");
        let wrong = |source| slowburn::Error::Load(LoadError::Io { path: path.clone(), source });
        let json = fs::read(path).map_err(wrong)?;
        models.push(Named { config: ModelConfig::from_json(&json, &name)?, name });
    }
    if models.is_empty() {
        for (name, json) in PUBLISHED {
            let config = ModelConfig::from_json(json, name)?;
            models.push(Named { name: name.to_owned(), config });
        }
    }
    Ok(models)
}

/// Layers that do the same.
struct Group<'a> {
    count: usize,
    layer: &'a LayerConfig,
}

/// The layers of a model, those that do the same counted together.
fn groups<'a>(config: &ModelConfig, llama: &'a LlamaConfig) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for layer in (0..config.n_layers).map(|i| llama.layer(i)) {
        match groups.iter_mut().find(|group| group.layer == layer) {
            Some(group) => group.count += 1,
            None => groups.push(Group { count: 1, layer }),
        }
    }
    groups
}

/// What a layer does, in words: window, RoPE, norms, and what follows attention.
fn words(layer: &LayerConfig, config: &ModelConfig) -> [String; 4] {
    let d_ff = layer.d_ff.unwrap_or(config.d_ff);
    let mlp = match &layer.mlp {
        Mlp::Dense => format!("dense {d_ff}"),
        Mlp::Beside(Experts { per_token, count, d_ff: each, .. }) => {
            format!("dense {d_ff} and {per_token} of {count} experts, {each}")
        }
        Mlp::Experts(experts) => {
            let shared = if experts.shared.is_some() {
                " and one for all"
            } else {
                ""
            };
            let Experts { per_token, count, d_ff, .. } = experts;
            format!("{per_token} of {count} experts, {d_ff}{shared}")
        }
    };
    let norms = match layer.norms {
        Norms::Before => "before",
        Norms::Around => "around",
        Norms::After => "after",
    };
    let window = match layer.mixer {
        Mixer::Attention => layer.window.map_or("all".to_owned(), |window| window.to_string()),
        Mixer::Convolution(Convolution { width, .. }) => format!("conv {width}"),
        Mixer::DeltaRule(_) => "state".to_owned(),
    };
    [
        window,
        layer.rope.as_ref().map_or("none".to_owned(), |rope| rope_in_words(rope, config)),
        norms.to_owned(),
        mlp,
    ]
}

fn rope_in_words(rope: &RopeConfig, config: &ModelConfig) -> String {
    let part = rope.rotated.map(|part| format!(", {part} of {}", config.head_dim));
    let scaling = match &rope.scaling {
        RopeScaling::None => String::new(),
        RopeScaling::Linear { factor } => format!(", linear x {factor}"),
        RopeScaling::Proportional { pairs, .. } => format!(", {pairs} pairs"),
        RopeScaling::Factors(_) => ", by factors".to_owned(),
        RopeScaling::Llama3 { factor, .. } => format!(", llama3 x {factor}"),
        RopeScaling::Yarn { factor, .. } => format!(", YaRN x {factor}"),
    };
    format!("{}{}{scaling}", rope.theta, part.unwrap_or_default())
}

/// What all layers of a model have in common that a plain Llama does not.
fn traits(config: &ModelConfig, llama: &LlamaConfig) -> Vec<String> {
    let scale = llama.attention_scale.filter(|scale| {
        // That of heads of this size.
        (scale * (config.head_dim as f64).sqrt() - 1.0).abs() > 1e-6
    });
    let has = [
        (llama.qkv_bias, "biases of q, k and v"),
        (llama.latent.is_some(), "latent keys and values"),
        (llama.attention_gate, "gates of attention"),
        (llama.sinks, "sinks"),
        (llama.qk_norm == Some(QkNorm::Head), "norms of q and k"),
        (llama.qk_norm == Some(QkNorm::Projection), "norms of all heads of q and of k"),
        (llama.one_plus_norms, "norms times 1 + w"),
        (llama.fused, "fused matrices"),
        (
            matches!(config.activation, Activation::Gelu | Activation::GeluTanh),
            "a GELU gate",
        ),
        (config.activation == Activation::ClampedSilu, "a clamped gate"),
        (config.tied_head, "a tied head"),
    ];
    let has = has.into_iter().filter(|(has, _)| *has).map(|(_, name)| name.to_owned());
    let numbers = [
        llama.embedding_scale.map(|scale| format!("embeddings x {scale:.2}")),
        scale.map(|scale| format!("scores x {scale:.4}")),
        llama.residual_scale.map(|scale| format!("what is added x {scale}")),
        llama.logit_scale.map(|scale| format!("logits x {scale}")),
        llama.attention_softcap.map(|cap| format!("scores capped at {cap}")),
        llama.logit_softcap.map(|cap| format!("logits capped at {cap}")),
    ];
    has.chain(numbers.into_iter().flatten()).collect()
}

pub(super) fn text_and_json(models: &[Named]) -> (String, Value) {
    let row = |[count, window, rope, norms, mlp]: [&str; 5]| {
        format!("{count:>8}  {window:<8}{rope:<30}{norms:<8}{mlp}\n")
    };
    let mut out = row(["layers", "window", "RoPE", "norms", "after attention"]);
    let mut json = Vec::new();
    for Named { name, config } in models {
        let Family::Llama(llama) = &config.family else {
            let _ = writeln!(out, "{name}: {} layers that do the same", config.n_layers);
            json.push(json!({ "name": name, "layers": config.n_layers }));
            continue;
        };
        let traits = traits(config, llama);
        let _ = writeln!(out, "\n{name:>8}");
        if !traits.is_empty() {
            let _ = writeln!(out, "  {}", traits.join(", "));
        }
        let mut rows = Vec::new();
        for Group { count, layer } in groups(config, llama) {
            let [window, rope, norms, mlp] = words(layer, config);
            out += &row([&count.to_string(), &window, &rope, &norms, &mlp]);
            rows.push(json!({
                "layers": count, "window": layer.window, "rope": rope, "norms": norms, "mlp": mlp,
            }));
        }
        json.push(json!({ "name": name, "traits": traits, "groups": rows }));
    }
    (out, json.into())
}
