//! Stories of the bundled model in f32. Its weights in f32 are too large for the pages, and these are
//! what the stories of other formats are held against.

use std::ops::ControlFlow;

use anyhow::Result;
use serde_json::{Value, json};
use slowburn::device::{self, DeviceChoice, Precision};
use slowburn::generate::{self, Options};
use slowburn::pretrained::Pretrained;
use slowburn::sampling::SamplingParams;

/// As many as the widget writes.
const MAX_TOKENS: usize = 150;

/// Prompts, temperatures and seeds. The page shows the first one first.
const EXAMPLES: [(&str, f64, u64); 7] = [
    ("Once upon a time", 0.0, 42),
    ("One day, a small", 0.0, 42),
    ("Once upon a time", 0.8, 42),
    ("The storm", 0.0, 42),
    ("\"Help!\" said", 1.0, 7),
    ("Finn met a fox", 0.0, 42),
    ("The queen of the", 0.8, 3),
];

/// The stories, for the widget: their settings, and their tokens with ids and texts.
pub fn json() -> Result<String> {
    let device = device::open(DeviceChoice::Cpu)?;
    let pretrained = Pretrained::bundled(&device, Precision::F32)?;
    let story = |(prompt, temperature, seed)| -> Result<Value> {
        let settings = json!({ "temperature": temperature, "top_p": 0.95, "seed": seed });
        let sampling: SamplingParams = serde_json::from_value(settings)?;
        let options = Options { max_tokens: MAX_TOKENS, sampling, ..Options::default() };
        let ids = pretrained.prompt_ids(prompt)?;
        let on_token = &mut |_: &generate::Chosen<'_>| ControlFlow::Continue(());
        let ids = generate::cached(&pretrained.model, &ids, &options, on_token)?.ids;
        let token = |id: u32| {
            let bytes = pretrained.tokenizer.token_bytes(id);
            let name = || pretrained.tokenizer.token(id).unwrap_or_default();
            let text =
                bytes.map_or_else(name, |bytes| String::from_utf8_lossy(&bytes).into_owned());
            json!({ "id": id, "text": text })
        };
        let tokens: Vec<Value> = ids.into_iter().map(token).collect();
        Ok(json!({ "prompt": prompt, "temperature": temperature, "seed": seed, "tokens": tokens }))
    };
    let stories = EXAMPLES.into_iter().map(story).collect::<Result<Vec<_>>>()?;
    Ok(format!("{}\n", serde_json::to_string(&stories)?))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::{FOLDER, STORIES};

    #[test]
    fn the_page_has_the_stories_of_the_library() {
        let root = crate::root();
        let in_page = fs::read_to_string(root.join(FOLDER).join(STORIES)).expect(STORIES);
        assert!(in_page == super::json().unwrap(), "{STORIES} is old: `cargo xtask live`");
    }
}
