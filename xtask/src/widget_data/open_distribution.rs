//! The logits of a step with many plausible continuations.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;
use slowburn::device::{self, DeviceChoice, Precision};
use slowburn::model::Input;
use slowburn::pretrained::Pretrained;
use slowburn::sampling::statistics;

const PROMPT: &str = "Once upon a time, there was a";

/// The number of most likely tokens whose texts are kept: as many as a widget shows.
const TEXTS: usize = 16;

/// The data of the widgets in the sampling chapters.
#[derive(Deserialize)]
pub struct OpenDistribution {
    /// The prompt of the logits.
    pub prompt: String,
    /// The texts of the most likely tokens, by id.
    pub texts: BTreeMap<u32, String>,
    /// The logit of each token of the vocabulary, to four decimals.
    pub logits: Vec<f32>,
}

impl OpenDistribution {
    /// The path from the root.
    pub const FILE: &str = "book/widgets/logits.js";
    const HEAD: &str =
        "// Written by `cargo xtask widget-data`.\n\"use strict\";\n\nconst openDistribution = ";
    const TAIL: &str = ";\n";

    pub fn of_bundled_model() -> Result<Self> {
        let device = device::open(DeviceChoice::Cpu)?;
        let pretrained = Pretrained::bundled(&device, Precision::F32)?;
        let logits = pretrained
            .model
            .forward(&mut [Input::whole(&pretrained.prompt_ids(PROMPT)?)])?
            .remove(0);
        let rounded = |logit: &f32| (logit * 1e4).round() / 1e4;
        let logits: Vec<f32> = logits.iter().map(rounded).collect();
        let best = statistics::ranked(&slowburn::sampling::softmax(&logits));
        let texts = best.iter().take(TEXTS).map(|&(id, _)| {
            let text = pretrained.tokenizer.decode(&[id])?;
            Ok((id, text))
        });
        Ok(Self {
            prompt: PROMPT.to_owned(),
            texts: texts.collect::<Result<_>>()?,
            logits,
        })
    }

    pub fn read(root: &Path) -> Result<Self> {
        let text = fs::read_to_string(root.join(Self::FILE))?;
        let json = text.strip_prefix(Self::HEAD).and_then(|rest| rest.strip_suffix(Self::TAIL));
        let json = json.with_context(|| format!("{} has another form", Self::FILE))?;
        Ok(serde_json::from_str(json)?)
    }

    pub fn to_javascript(&self) -> Result<String> {
        let (prompt, texts) =
            (serde_json::to_string(&self.prompt)?, serde_json::to_string(&self.texts)?);
        // A fixed number of decimals, so that differences by rounding can be recognised.
        let logits: Vec<String> = self.logits.iter().map(|logit| format!("{logit:.4}")).collect();
        let logits = logits.join(",");
        let (head, tail) = (Self::HEAD, Self::TAIL);
        Ok(format!(
            "{head}{{\"prompt\":{prompt},\"texts\":{texts},\"logits\":[{logits}]}}{tail}"
        ))
    }

    /// The ids and texts of the most likely tokens, best first.
    pub fn best(&self, count: usize) -> Vec<(u32, &str)> {
        let ranked = statistics::ranked(&slowburn::sampling::softmax(&self.logits));
        let ids = ranked.into_iter().take(count).map(|(id, _)| id);
        ids.map(|id| (id, self.texts.get(&id).map_or("", String::as_str))).collect()
    }
}
