//! Tokenizers.

use super::*;
use crate::common::use_tokenizer;

/// Cut, with flipped bits, or with a strange value in the place of another.
#[test]
fn damaged_tokenizers_never_panic() {
    let _alone = alone();
    for (seed, name) in ["byte-level", "sentencepiece"].into_iter().enumerate() {
        let whole = std::fs::read(fixture(&format!("tokenizers/{name}/tokenizer.json"))).unwrap();
        use_tokenizer(&whole, "tokenizer.json").unwrap();
        let json: Value = serde_json::from_slice(&whole).unwrap();
        let mut parts = json.clone();
        // All but the long lists, so that most of what is damaged is something else.
        let model = parts["model"].as_object_mut().unwrap();
        let lists = ["vocab", "merges"].map(|list| (list, model.remove(list).unwrap()));
        let compact = parts.to_string();

        let mut generator = ChaCha12Rng::seed_from_u64(20 + seed as u64);
        let mut tally = Tally::default();
        // Everywhere in the parts, and here and there in the whole.
        for length in 0..compact.len() {
            let cut = &compact.as_bytes()[..length];
            let what = format!("{name} cut to {length}");
            tally.attempt(&what, whole.len(), || use_tokenizer(cut, "tokenizer.json"));
        }
        for round in 0..MUTATIONS {
            let (what, damaged) = match round % 4 {
                0 => {
                    let length = below(&mut generator, whole.len());
                    (format!("cut to {length} bytes"), whole[..length].to_vec())
                }
                1 => {
                    let mut bytes = whole.clone();
                    let what = flip(&mut bytes, 0..whole.len(), 1 + round % 3, &mut generator);
                    (what, bytes)
                }
                _ => {
                    let mut edited = parts.clone();
                    let value = strange(&mut generator);
                    let place = any_place(&mut edited, &mut generator);
                    let what = format!("has {value} instead of {place}");
                    *place = value;
                    if let Some(Value::Object(model)) = edited.get_mut("model") {
                        model.extend(lists.iter().map(|(k, v)| (k.to_string(), v.clone())));
                    }
                    (what, edited.to_string().into_bytes())
                }
            };
            let what = format!("{name}, round {round}, {what}");
            tally.attempt(&what, whole.len(), || use_tokenizer(&damaged, "tokenizer.json"));
        }
    }
}
