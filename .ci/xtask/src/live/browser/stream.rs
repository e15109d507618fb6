//! *07*: what the widget hands over and holds back is what the library's decoder and stop strings say.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use slowburn::tokenizer::{IncrementalDecoder, StopStrings, Tokenizer};

use super::{Proof, patiently, same};
use crate::browser::Look;

/// As in `book/src/widgets/stream.html`.
const TEXT: &str = "Finn ate a 🍎.\nThen he slept.\n\nOne day";

pub fn check(proof: &mut Proof, _: &Path) -> Result<()> {
    let json = fs::read(proof.root.join("models/ember/tokenizer.json"))?;
    let tokenizer = Tokenizer::from_json(&json, "ember")?;
    proof.open("streaming.html", Look::DESK)?;
    // With how the text ends, and how many tokens are held back at most, of which the page speaks.
    for (text, stop, ended, most) in [
        (TEXT, "\n\n", "stop", 3),
        (TEXT, "he slept!", "end", 3),
        ("Then he slept.", "he slept!", "end", 2),
        ("naïve 日本 🍎🍎 x<|end|>y", "本 🍎!", "end", 11),
        ("One day", "", "end", 0),
        ("One day", "day", "stop", 0),
        ("One day", "day!", "end", 1),
    ] {
        let mut buffer = begin(proof, &tokenizer, text, stop)?;
        let (ids, mut found) = (generated(&tokenizer, text)?, 0);
        for came in 1..=ids.len() + 1 {
            match ids.get(came - 1) {
                Some(id) => buffer.push(*id)?,
                None => buffer.finish()?,
            }
            found = found.max(buffer.held.len());
            proof.press("stream", "A token")?;
            agree(proof, came, &buffer).with_context(|| format!("{text:?}, {stop:?}"))?;
            if buffer.ended.is_some() {
                break;
            }
        }
        ensure!(buffer.ended == Some(ended), "{text:?}, {stop:?}: {:?}", buffer.ended);
        ensure!(found == most, "{text:?}, {stop:?}: {found} tokens are held back");
    }
    within_the_apple(proof, &tokenizer)
}

/// A text that ends within a character shows one replacement for it, whatever of it had come.
fn within_the_apple(proof: &mut Proof, tokenizer: &Tokenizer) -> Result<()> {
    let ids = generated(tokenizer, "a 🍎")?;
    for bytes in 1..=3 {
        let mut buffer = begin(proof, tokenizer, "a 🍎", "")?;
        let came = ids.len() - 4 + bytes;
        for &id in &ids[..came] {
            buffer.push(id)?;
            proof.press("stream", "A token")?;
        }
        buffer.finish()?;
        proof.press("stream", "End here")?;
        agree(proof, came, &buffer)?;
        ensure!(buffer.done == "a \u{FFFD}", "{:?}", buffer.done);
    }
    Ok(())
}

/// Types a text and a stop string, of which no token has come yet.
fn begin<'a>(
    proof: &mut Proof,
    tokenizer: &'a Tokenizer,
    text: &str,
    stop: &str,
) -> Result<Buffer<'a>> {
    for (i, value) in [text, stop].into_iter().enumerate() {
        proof.browser.run(&format!(
            "(() => {{ document.querySelector('#typed')?.removeAttribute('id'); \
             document.querySelectorAll('[data-widget=stream] input')[{i}].id = 'typed'; }})()"
        ))?;
        proof.set("#typed", &value.replace('\n', "\\n"))?;
    }
    let buffer = Buffer::new(tokenizer, stop);
    agree(proof, 0, &buffer)?;
    Ok(buffer)
}

/// Waits until the page shows this buffer, and compares what is drawn with it.
fn agree(proof: &mut Proof, came: usize, buffer: &Buffer) -> Result<()> {
    let held: Vec<u32> = buffer.held.iter().map(|(id, _)| *id).collect();
    let expected =
        json!({ "came": came, "held": held, "done": buffer.done, "ended": buffer.ended });
    patiently(|| {
        let found: Value = proof.data("stream", "shown")?;
        same(&found, &expected, &format!("token {came}"))
    })?;
    let drawn: (String, usize) = proof.browser.get(
        "(() => { const widget = document.querySelector('[data-widget=stream]'); \
         return [widget.querySelector('.widget-text').textContent, \
                 widget.querySelectorAll('.widget-tokens')[1].children.length]; })()",
    )?;
    ensure!(drawn.0 == buffer.done, "{:?} is shown instead of {:?}", drawn.0, buffer.done);
    ensure!(drawn.1 == held.len(), "{} tokens are drawn as held back, not {held:?}", drawn.1);
    Ok(())
}

/// The tokens of a text but the first, which begins every prompt.
fn generated(tokenizer: &Tokenizer, text: &str) -> Result<Vec<u32>> {
    Ok(tokenizer.encode(text)?.split_off(1))
}

/// The library's buffer, from its parts that are public.
struct Buffer<'a> {
    tokenizer: &'a Tokenizer,
    decoder: IncrementalDecoder<'a>,
    stops: StopStrings,
    came: Vec<u32>,
    held: Vec<(u32, String)>,
    done: String,
    ended: Option<&'static str>,
}

impl<'a> Buffer<'a> {
    fn new(tokenizer: &'a Tokenizer, stop: &str) -> Self {
        Self {
            tokenizer,
            decoder: IncrementalDecoder::after(tokenizer, &[]),
            stops: StopStrings::new(&[stop.to_owned()]),
            came: Vec::new(),
            held: Vec::new(),
            done: String::new(),
            ended: None,
        }
    }

    fn push(&mut self, id: u32) -> Result<()> {
        let text = self.decoder.push(id)?;
        self.came.push(id);
        self.held.push((id, text.clone()));
        if text.is_empty() || self.stopped() {
            return Ok(());
        }
        let whole = self.text();
        let settled = whole.len() - self.stops.undecided(&whole);
        let (mut end, mut count) = (0, 0);
        for (i, (_, text)) in self.held.iter().enumerate() {
            end += text.len();
            if end <= settled && !text.is_empty() {
                count = i + 1;
            }
        }
        if count == self.held.len() && !self.rest()?.is_empty() {
            count -= 1;
        }
        self.done.extend(self.held.drain(..count).map(|(_, text)| text));
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        let rest = self.rest()?;
        if let Some((_, last)) = self.held.last_mut() {
            last.push_str(&rest);
        }
        if !self.stopped() {
            self.ended = Some("end");
            self.done.extend(self.held.drain(..).map(|(_, text)| text));
        }
        Ok(())
    }

    /// What the decoder would hand over at the end.
    fn rest(&self) -> Result<String> {
        let mut decoder = IncrementalDecoder::after(self.tokenizer, &[]);
        for &id in &self.came {
            decoder.push(id)?;
        }
        Ok(decoder.finish()?)
    }

    /// Ends the text before a stop string.
    fn stopped(&mut self) -> bool {
        let text = self.text();
        let Some(found) = self.stops.find(&text) else {
            return false;
        };
        self.done.push_str(&text[..found.range.start]);
        self.held.clear();
        self.ended = Some("stop");
        true
    }

    fn text(&self) -> String {
        self.held.iter().map(|(_, text)| text.as_str()).collect()
    }
}
