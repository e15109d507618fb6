//! Writes a model folder in Hugging Face's layout.

use std::path::Path;

use anyhow::Result;
use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::{DType, Tensor, TensorData};
use safetensors::{Dtype, tensor::TensorView};
use serde_json::json;
use slowburn::model::config::RopeConfig;
use slowburn::model::{ModelConfig, decoder::Decoder};

/// `config.json` for a decoder of this shape.
pub fn config_json(config: &ModelConfig, rope: &RopeConfig) -> String {
    let value = json!({
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "dtype": "float16",
        "vocab_size": config.vocab_size,
        "hidden_size": config.d_model,
        "num_hidden_layers": config.n_layers,
        "num_attention_heads": config.n_heads,
        "num_key_value_heads": config.n_kv_heads,
        "head_dim": config.head_dim,
        "intermediate_size": config.d_ff,
        "hidden_act": "silu",
        "max_position_embeddings": config.context_length,
        "rms_norm_eps": config.norm_eps,
        "rope_parameters": { "rope_type": "default", "rope_theta": rope.theta },
        "attention_bias": false,
        "mlp_bias": false,
        "tie_word_embeddings": config.tied_head,
        "bos_token_id": config.bos_token_id,
        "eos_token_id": config.eos_token_ids.first(),
    });
    format!("{value:#}\n")
}

/// Writes the decoder's tensors, under their Hugging Face names, as f16.
pub fn write_safetensors(decoder: &Decoder, path: &Path) -> Result<()> {
    let mut collector = Collector::default();
    decoder.visit(&mut collector);
    let views = collector.tensors.iter().map(|(name, data)| {
        let view = TensorView::new(Dtype::F16, data.shape().to_vec(), data.as_bytes())?;
        Ok((name.clone(), view))
    });
    let views: Vec<_> = views.collect::<Result<_>>()?;
    let metadata = [("format".to_owned(), "pt".to_owned())].into();
    safetensors::serialize_to_file(views, Some(metadata), path)?;
    Ok(())
}

/// Collects the parameters of a module under their Hugging Face names.
#[derive(Default)]
struct Collector {
    path: Vec<String>,
    tensors: Vec<(String, TensorData)>,
}

impl ModuleVisitor for Collector {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        // What mixes the tokens of a layer is attention, in each of these models.
        let path = self.path.join(".").replace(".mixing.", ".self_attn.");
        let name = if path.starts_with("lm_head") {
            path
        } else {
            format!("model.{path}")
        };
        let data = param.val().to_data().convert_dtype(DType::F16);
        self.tensors.push((name, data));
    }

    fn enter_module(&mut self, name: &str, container_type: &str) {
        if !is_variant(container_type) {
            self.path.push(name.to_owned());
        }
    }

    fn exit_module(&mut self, _name: &str, container_type: &str) {
        if !is_variant(container_type) {
            self.path.pop();
        }
    }
}

/// Whether a module is what a variant of an enum holds: a checkpoint does not name that.
fn is_variant(container_type: &str) -> bool {
    container_type.starts_with("Enum:")
}

#[cfg(test)]
mod tests {
    use super::*;
    use slowburn::checkpoint::Weights;
    use slowburn::device::{self, DeviceChoice};
    use slowburn::model::config::LlamaConfig;

    /// The names in the file are those that a model of this configuration is loaded from.
    #[test]
    fn what_is_written_can_be_loaded() {
        let device = device::open(DeviceChoice::Cpu).unwrap().device;
        let (config, llama) = (crate::train::draft(), LlamaConfig::plain(crate::train::ROPE));
        let decoder = Decoder::load(&Weights::random(&device), &config, &llama).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.safetensors");
        write_safetensors(&decoder, &path).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let weights = Weights::from_safetensors(&bytes, "the file", &device, DType::F32).unwrap();
        <Decoder>::load(&weights, &config, &llama).unwrap();
    }
}
