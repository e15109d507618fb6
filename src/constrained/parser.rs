//! Grammars with a stack.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::constraint::Allowed;
use super::{TokenMask, Vocabulary};
use crate::error::{RequestError, Result};

// ANCHOR: parser
/// Reads a text whose grammar has more states than can be listed: where brackets nest, a state is a
/// stack of all that has begun. What may come next depends on the tokens that were read alone.
pub trait Parser: Send + Sync {
    /// Reads one more token. Whether the text can go on like that: if not, nothing else is asked of
    /// this parser.
    ///
    /// # Errors
    /// A grammar that takes too much work here.
    fn read(&mut self, token: u32) -> Result<bool>;

    /// Takes back the last `tokens` that were read.
    ///
    /// # Errors
    /// A parser that cannot go back.
    fn undo(&mut self, tokens: usize) -> Result<()>;

    /// The tokens with text that may come next, and whether the text may end here.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    fn next(&mut self) -> Result<(TokenMask, bool)>;

    /// A parser that has read the same, and shares nothing with this one.
    fn copy(&self) -> Box<dyn Parser>;
}
// ANCHOR_END: parser

/// Where the texts of a constraint begin.
pub(super) struct Begin {
    /// It has read nothing.
    pub(super) parser: Box<dyn Parser>,
    pub(super) vocabulary: Arc<Vocabulary>,
}

/// A text that a parser reads.
pub(super) struct Parsed {
    begin: Arc<Begin>,
    parser: Box<dyn Parser>,
    read: Vec<u32>,
    /// What may come next, by the number of tokens before it: here, and where it was asked ahead.
    allowed: BTreeMap<usize, Arc<Allowed>>,
}

impl Parsed {
    /// Nothing was read yet.
    pub(super) fn new(begin: Arc<Begin>) -> Self {
        let parser = begin.parser.copy();
        Self { begin, parser, read: Vec::new(), allowed: BTreeMap::new() }
    }

    /// What may come after `output`.
    pub(super) fn allowed(&mut self, output: &[u32]) -> Result<Arc<Allowed>> {
        // Of what was before, nothing is asked again.
        self.allowed = self.allowed.split_off(&output.len());
        self.look_at(output)
    }

    /// The tokens that must come after `output`, `most` at most. An error behind it ends them.
    pub(super) fn forced(&mut self, output: &[u32], most: usize) -> Result<Vec<u32>> {
        let mut allowed = self.allowed(output)?;
        let mut text = output.to_vec();
        while text.len() < output.len() + most
            && !allowed.is_complete
            && let Some(token) = allowed.mask.only()
        {
            text.push(token);
            // It fails where the text gets there.
            let Ok(next) = self.look_at(&text) else {
                break;
            };
            allowed = next;
        }
        Ok(text.split_off(output.len()))
    }

    /// What may come after `output`. A parser that fails begins anew with the next text.
    fn look_at(&mut self, output: &[u32]) -> Result<Arc<Allowed>> {
        let found = self.find(output);
        if found.is_err() {
            *self = Self::new(self.begin.clone());
        }
        found
    }

    fn find(&mut self, output: &[u32]) -> Result<Arc<Allowed>> {
        if self.read.starts_with(output)
            && let Some(allowed) = self.allowed.get(&output.len())
        {
            return Ok(allowed.clone());
        }
        self.go_to(output)?;
        let (mut mask, may_end) = self.parser.next()?;
        let is_complete = mask.is_empty();
        if is_complete && !may_end {
            return Err(RequestError::NoTokenFits { step: output.len() }.into());
        }
        if may_end {
            self.begin.vocabulary.end_ids().iter().for_each(|&id| mask.insert(id));
        }
        let allowed = Arc::new(Allowed { mask, is_complete });
        self.allowed.insert(output.len(), allowed.clone());
        Ok(allowed)
    }

    /// Takes back what is not in `output`, and reads what is missing. A token that ends a text has no
    /// bytes, and is not read.
    fn go_to(&mut self, output: &[u32]) -> Result<()> {
        let vocabulary = &self.begin.vocabulary;
        let has_text = |token: &&u32| !vocabulary.end_ids().contains(token);
        let same = self.read.iter().zip(output).take_while(|(a, b)| a == b).count();
        let undone = self.read[same..].iter().filter(has_text).count();
        self.parser.undo(undone)?;
        self.read.truncate(same);
        self.allowed.retain(|&length, _| length <= same);
        for (step, &token) in output.iter().enumerate().skip(same) {
            let is_read = match has_text(&&token) {
                true => self.parser.read(token)?,
                false => self.parser.next()?.1,
            };
            if !is_read {
                return Err(RequestError::OutsideGrammar { step, token }.into());
            }
            self.read.push(token);
        }
        Ok(())
    }
}

impl Clone for Parsed {
    fn clone(&self) -> Self {
        Self {
            begin: self.begin.clone(),
            parser: self.parser.copy(),
            read: self.read.clone(),
            allowed: self.allowed.clone(),
        }
    }
}
