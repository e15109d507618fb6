//! Masks by request, in lines of JSON.

use std::io::{self, BufRead, Write};
use std::sync::Arc;

use anyhow::Result;
use serde::Deserialize;
use serde_json::{Value, json};
use slowburn::constrained::{TokenMask, Vocabulary};
use slowburn::grammar::Grammar;

#[derive(Deserialize)]
struct Question {
    regex: String,
    texts: Vec<Vec<u32>>,
}

pub fn run(vocabulary: Arc<Vocabulary>) -> Result<()> {
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let question: Question = serde_json::from_str(&line?)?;
        writeln!(out, "{}", answer(question, &vocabulary))?;
        out.flush()?;
    }
    Ok(())
}

/// The masks, or why there are none.
fn answer(Question { regex, texts }: Question, vocabulary: &Arc<Vocabulary>) -> Value {
    let masks = Grammar::Regex(regex).compile(vocabulary.clone()).and_then(|constraint| {
        let follower = constraint.follow();
        let mask = |text: &Vec<u32>| Ok(hex(follower.next(text)?.mask(), vocabulary.size()));
        texts.iter().map(mask).collect::<slowburn::Result<Vec<String>>>()
    });
    match masks {
        Ok(masks) => json!({ "masks": masks }),
        Err(error) => json!({ "refused": error.to_string() }),
    }
}

fn hex(mask: &TokenMask, size: usize) -> String {
    let mut bytes = vec![0_u8; size.div_ceil(8)];
    for id in mask.ids() {
        bytes[id as usize / 8] |= 1 << (id % 8);
    }
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_is_bits_from_the_lowest_on() {
        let bytes = |id: u32| (id < 10).then(|| vec![b'a' + id as u8]);
        let vocabulary = Arc::new(Vocabulary::new(11, bytes, vec![10]));
        let question = |regex: &str, texts: &[&[u32]]| Question {
            regex: regex.to_owned(),
            texts: texts.iter().map(|text| text.to_vec()).collect(),
        };
        let found = answer(question("[bj]a?", &[&[], &[1]]), &vocabulary);
        assert_eq!(found, json!({ "masks": ["0202", "0104"] }));
        let refused = answer(question("(", &[]), &vocabulary);
        assert!(refused["refused"].as_str().unwrap().contains("has no `)`"));
    }
}
