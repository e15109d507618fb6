//! `cargo xtask shallow-checkpoint`: the bundled model without its last blocks: a weaker model
//! without training, whose output shows the contribution of those blocks.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;
use safetensors::SafeTensors;
use serde_json::Value;

#[derive(Args)]
pub struct ShallowCheckpointArgs {
    /// How many blocks stay, the first ones
    #[arg(long)]
    layers: usize,
    /// Where to write config.json, model.safetensors and tokenizer.json
    #[arg(long)]
    out: PathBuf,
    /// The model folder whose blocks they are
    #[arg(long, default_value = "models/ember")]
    model: PathBuf,
}

pub fn run(args: &ShallowCheckpointArgs) -> Result<()> {
    let ShallowCheckpointArgs { layers, out, model } = args;
    let read = |name: &str| {
        let path = model.join(name);
        fs::read(&path).with_context(|| format!("cannot read {}", path.display()))
    };
    let (config, all) = shallow_config(&read("config.json")?, *layers)?;
    fs::create_dir_all(out).with_context(|| format!("cannot make {}", out.display()))?;
    fs::write(out.join("config.json"), format!("{config:#}\n"))?;
    fs::write(out.join("tokenizer.json"), read("tokenizer.json")?)?;
    write_first_blocks(&read("model.safetensors")?, *layers, &out.join("model.safetensors"))?;
    println!("{layers} of {all} blocks are in {}", out.display());
    Ok(())
}

/// A `config.json` with fewer blocks, and the original number of blocks.
fn shallow_config(json: &[u8], layers: usize) -> Result<(Value, usize)> {
    const KEY: &str = "num_hidden_layers";
    let mut config: Value = serde_json::from_slice(json)?;
    let all = config[KEY].as_u64().with_context(|| format!("config.json has no {KEY}"))? as usize;
    ensure!((1..=all).contains(&layers), "--layers is {layers}, but must be 1 to {all}");
    config[KEY] = layers.into();
    Ok((config, all))
}

/// Writes all tensors except those of later blocks.
fn write_first_blocks(file: &[u8], layers: usize, path: &Path) -> Result<()> {
    let stays = |name: &str| block(name).is_none_or(|block| block < layers);
    let tensors = SafeTensors::deserialize(file)?.tensors();
    let kept: Vec<_> = tensors.into_iter().filter(|(name, _)| stays(name)).collect();
    let metadata = [("format".to_owned(), "pt".to_owned())].into();
    safetensors::serialize_to_file(kept, Some(metadata), path)?;
    Ok(())
}

/// The block index of a tensor, if it belongs to a block.
fn block(name: &str) -> Option<usize> {
    let (number, _) = name.strip_prefix("model.layers.")?.split_once('.')?;
    number.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_blocks_stay_as_they_were_and_the_others_are_gone() {
        let root = crate::root();
        let folder = tempfile::tempdir().unwrap();
        let args = ShallowCheckpointArgs {
            layers: 2,
            out: folder.path().to_owned(),
            model: root.join("models/ember"),
        };
        run(&args).unwrap();
        let read = |folder: &Path| fs::read(folder.join("model.safetensors")).unwrap();
        let (whole, shallow) = (read(&args.model), read(&args.out));
        let whole = SafeTensors::deserialize(&whole).unwrap();
        let shallow = SafeTensors::deserialize(&shallow).unwrap();
        // Nine tensors in each of the three removed blocks.
        assert_eq!(shallow.len() + 3 * 9, whole.len());
        for (name, tensor) in shallow.tensors() {
            assert!(block(&name).is_none_or(|block| block < 2), "{name}");
            assert_eq!(tensor.data(), whole.tensor(&name).unwrap().data(), "{name}");
        }
        let config = fs::read(args.out.join("config.json")).unwrap();
        let config: Value = serde_json::from_slice(&config).unwrap();
        assert_eq!(config["num_hidden_layers"], 2);
    }

    #[test]
    fn a_number_of_blocks_that_is_not_there_is_refused() {
        let json = br#"{ "num_hidden_layers": 5 }"#;
        assert_eq!(shallow_config(json, 5).unwrap().1, 5);
        for layers in [0, 6] {
            let message = shallow_config(json, layers).unwrap_err().to_string();
            assert_eq!(message, format!("--layers is {layers}, but must be 1 to 5"));
        }
        assert!(shallow_config(b"{}", 1).is_err());
    }
}
