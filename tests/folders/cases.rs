//! Random configurations: what transformers makes of each, or a refusal that names a field.
//! `tests/fixtures/configs/make_cases.py` made them. `SLOWBURN_CASES` names another file of cases.

use std::collections::BTreeMap;

use burn::tensor::{DType, Device};
use serde::Deserialize;
use serde_json::{Value, json};
use slowburn::checkpoint::Weights;
use slowburn::model::{Input, Logits, Model, ModelConfig};
use slowburn::{Error, LoadError};

use crate::common::{assert_relatively_close, fixture};

#[derive(Deserialize)]
struct Case {
    seed: usize,
    config: Value,
    /// Why transformers refuses it.
    error: Option<String>,
    #[serde(default)]
    tensors: BTreeMap<String, Vec<usize>>,
    head: Option<String>,
    #[serde(default)]
    ids: Vec<u32>,
    /// The positions that there are logits of.
    #[serde(default)]
    rows: Vec<usize>,
    #[serde(default)]
    logits: Vec<Vec<f32>>,
}

/// The numbers of a tensor, as in `make_cases.py`.
fn numbers(name: &str, count: usize, zero_norms: bool) -> Vec<f32> {
    let mut state = 0xCBF2_9CE4_8422_2325_u64;
    for byte in name.bytes() {
        state = (state ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3);
    }
    let is_norm = (name.contains("norm") || name.contains(".ln_")) && name.ends_with("weight");
    let is_embedding = ["embed", "wte", "wpe"].iter().any(|part| name.contains(part));
    let number = |index: u64| {
        let mut z = state.wrapping_add((index + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        let unit = (z >> 40) as f64 / f64::from(1 << 23) - 1.0;
        let number = match (is_norm, is_embedding) {
            (true, _) if zero_norms => unit / 4.0,
            (true, _) => unit / 4.0 + 1.0,
            (false, true) => unit,
            (false, false) => unit / 4.0,
        };
        number as f32
    };
    (0..count as u64).map(number).collect()
}

impl Case {
    /// The file that holds the model, in the format of safetensors.
    fn file(&self) -> Vec<u8> {
        let (mut header, mut data) = (serde_json::Map::new(), Vec::new());
        let family = self.config["model_type"].as_str().unwrap();
        for (name, shape) in &self.tensors {
            let source = match (name.as_str(), &self.head, family) {
                ("lm_head.weight", Some(_), "gpt2") => "transformer.wte.weight",
                ("lm_head.weight", Some(_), _) => "model.embed_tokens.weight",
                (name, ..) => name,
            };
            let start = data.len();
            let numbers = numbers(source, shape.iter().product(), family == "gemma3_text");
            data.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
            let offsets = [start, data.len()];
            header.insert(
                name.clone(),
                json!({"dtype": "F32", "shape": shape, "data_offsets": offsets}),
            );
        }
        let header = Value::Object(header).to_string();
        [
            &(header.len() as u64).to_le_bytes(),
            header.as_bytes(),
            &data,
        ]
        .concat()
    }

    fn model(&self) -> slowburn::Result<Model> {
        let config = ModelConfig::from_json(self.config.to_string().as_bytes(), "config.json")?;
        let file = self.file();
        let weights = Weights::from_safetensors(&file, "file", &Device::flex(), DType::F32)?;
        Model::load(config, &weights)
    }
}

/// Whether a config has a field, in itself or in what it says of RoPE.
fn has(config: &Value, field: &str) -> bool {
    let fields = config.as_object().unwrap();
    fields.contains_key(field)
        || fields.values().any(|value| value.is_object() && has(value, field))
}

#[test]
fn random_models_give_the_logits_of_transformers_or_are_refused_by_name() {
    let path = std::env::var_os("SLOWBURN_CASES");
    let path = path.map_or_else(|| fixture("configs/cases.jsonl"), Into::into);
    let text = std::fs::read_to_string(path).unwrap();
    let (mut equal, mut refused, mut as_there) = (0, BTreeMap::<&str, usize>::new(), 0);
    for line in text.lines() {
        let case: Case = serde_json::from_str(line).unwrap();
        if case.error.is_some() {
            as_there += 1;
            continue;
        }
        let what = format!("seed {}: {}", case.seed, case.config);
        match case.model() {
            Ok(model) => {
                let input = Input::whole(&case.ids).with_logits(Logits::All);
                let found = model.forward(&mut [input]).unwrap();
                // Gemma 4 does not scale scores, so that with random norms they are large: there transformers
                // itself is up to 1.7e-5 from its results in f64 when it computes in f32.
                let is_gemma4 = case.config["model_type"] == "gemma4_text";
                let tolerance = if is_gemma4 { 1e-4 } else { 1e-5 };
                for (row, reference) in case.rows.iter().zip(&case.logits) {
                    assert_relatively_close(&found[*row], reference, tolerance, &what);
                }
                equal += 1;
            }
            Err(Error::Load(LoadError::Unsupported { field, value, .. })) => {
                // `rope_type` may stand there as `type`.
                let field_there = if field == "rope_type" { "type" } else { field };
                let is_there = has(&case.config, field) || has(&case.config, field_there);
                assert!(is_there || value == "null", "{what}: {field} {value}");
                *refused.entry(field).or_default() += 1;
            }
            Err(error) => panic!("{what}: {error}"),
        }
    }
    println!("{equal} equal, refused: {refused:?}, {as_there} that transformers refuses");
    assert!(equal > 3 * refused.values().sum::<usize>());
}
