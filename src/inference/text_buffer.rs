//! Decodes tokens to text, and holds back text that is not settled yet.

use crate::error::Result;
use crate::generate::TokenOutput;
use crate::tokenizer::{IncrementalDecoder, StopStrings, Tokenizer};

/// Gives each token its text, and releases it once the text is settled: when its last character is
/// complete and the text cannot be the beginning of a stop string.
///
/// Every token is released exactly once, in order.
#[derive(Debug)]
pub(super) struct TextBuffer<'a> {
    decoder: IncrementalDecoder<'a>,
    stops: StopStrings,
    held: Vec<TokenOutput>,
    stopped_by: Option<String>,
}

impl<'a> TextBuffer<'a> {
    /// A buffer for the tokens after `prompt`.
    pub(super) fn new(tokenizer: &'a Tokenizer, prompt: &[u32], stops: &[String]) -> Self {
        Self {
            decoder: IncrementalDecoder::after(tokenizer, prompt),
            stops: StopStrings::new(stops),
            held: Vec::new(),
            stopped_by: None,
        }
    }

    /// Takes a token without text, and returns the tokens that are now settled. Once a stop string
    /// is complete, the text ends before it, and the buffer is empty.
    pub(super) fn push(&mut self, mut output: TokenOutput) -> Result<Vec<TokenOutput>> {
        output.token = self.decoder.push(output.token_id)?;
        let has_text = !output.token.is_empty();
        self.held.push(output);
        // A token without text settles nothing.
        Ok(if has_text { self.settled() } else { Vec::new() })
    }

    /// The stop string that was found.
    #[cfg(not(target_arch = "wasm32"))] // only `inference` knows of stop strings
    pub(super) fn stopped_by(&self) -> Option<&str> {
        self.stopped_by.as_deref()
    }

    /// Ends the text, and returns the tokens that were held back and the stop string that was
    /// found.
    pub(super) fn finish(mut self) -> Result<(Vec<TokenOutput>, Option<String>)> {
        if self.stopped_by.is_some() {
            return Ok((Vec::new(), self.stopped_by));
        }
        let rest = self.decoder.finish()?;
        if let Some(last) = self.held.last_mut() {
            last.token.push_str(&rest);
        }
        self.stopped_by = cut_at_stop(&self.stops, &mut self.held);
        Ok((self.held, self.stopped_by))
    }

    // ANCHOR: settled
    fn settled(&mut self) -> Vec<TokenOutput> {
        self.stopped_by = cut_at_stop(&self.stops, &mut self.held);
        if self.stopped_by.is_some() {
            return std::mem::take(&mut self.held);
        }
        let text = text(&self.held);
        let settled = text.len() - self.stops.undecided(&text);
        // A token without text waits for the next one: if its character is never completed, the
        // replacement character must come with a token.
        let (mut end, mut count) = (0, 0);
        for (i, output) in self.held.iter().enumerate() {
            end += output.token.len();
            if end <= settled && !output.token.is_empty() {
                count = i + 1;
            }
        }
        // So does one with text behind which it begins a character.
        if count == self.held.len() && self.decoder.is_within_character() {
            count -= 1;
        }
        self.held.drain(..count).collect()
    }
    // ANCHOR_END: settled
}

/// Where the text of these tokens holds a stop string, cuts the text from there on.
fn cut_at_stop(stops: &StopStrings, held: &mut [TokenOutput]) -> Option<String> {
    let text = text(held);
    let found = stops.find(&text)?;
    let mut left = found.range.start;
    for output in held {
        output.token.truncate(left);
        left -= output.token.len();
    }
    Some(found.string.to_owned())
}

fn text(outputs: &[TokenOutput]) -> String {
    outputs.iter().map(|output| output.token.as_str()).collect()
}
