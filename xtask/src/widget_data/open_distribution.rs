//! Logits of a step at which the story may go on in many ways.

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

/// For how many of the likeliest tokens the texts are kept: all that a widget shows.
const TEXTS: usize = 16;

/// What the widgets of the chapters on sampling work on.
#[derive(Deserialize)]
pub struct OpenDistribution {
    /// The text that the logits follow.
    pub prompt: String,
    /// What the likeliest tokens say, by their ids.
    pub texts: BTreeMap<u32, String>,
    /// The logit of each token of the vocabulary, to four decimals.
    pub logits: Vec<f32>,
}

impl OpenDistribution {
    /// Where it lies, from the root.
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
        // With all decimals, zeros too: what differs by rounding is told from what differs.
        let logits: Vec<String> = self.logits.iter().map(|logit| format!("{logit:.4}")).collect();
        let logits = logits.join(",");
        let (head, tail) = (Self::HEAD, Self::TAIL);
        Ok(format!(
            "{head}{{\"prompt\":{prompt},\"texts\":{texts},\"logits\":[{logits}]}}{tail}"
        ))
    }

    /// The likeliest tokens: their ids and texts, best first.
    pub fn best(&self, count: usize) -> Vec<(u32, &str)> {
        let ranked = statistics::ranked(&slowburn::sampling::softmax(&self.logits));
        let ids = ranked.into_iter().take(count).map(|(id, _)| id);
        ids.map(|id| (id, self.texts.get(&id).map_or("", String::as_str))).collect()
    }
}
