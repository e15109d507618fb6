//! Grammars with a stack.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::constraint::Allowed;
use super::{Cancel, TokenMask, Vocabulary};
use crate::error::{RequestError, Result};

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

    /// Its memory, in bytes. A copy takes as much, and more as it reads.
    fn bytes(&self) -> usize {
        0
    }

    /// From now on, all that it is asked ends with an error once `cancel` is cancelled.
    fn cancel_by(&mut self, _cancel: &Cancel) {}
}

/// Where the texts of a constraint begin.
pub(super) struct Begin {
    /// It has read nothing.
    pub(super) parser: Box<dyn Parser>,
    pub(super) vocabulary: Arc<Vocabulary>,
    /// What may come first. All texts share it.
    pub(super) first: Arc<Allowed>,
}

/// A text that a parser reads.
pub(super) struct Parsed {
    begin: Arc<Begin>,
    cancel: Cancel,
    /// None until it reads its first token: to copy the one of a large grammar takes time.
    parser: Option<Box<dyn Parser>>,
    read: Vec<u32>,
    /// What may come next, by the number of tokens before it: here, and where it was asked ahead.
    allowed: BTreeMap<usize, Arc<Allowed>>,
    /// The number of tokens behind which looking ahead has failed. It is not tried again before the text
    /// gets there.
    fails_at: Option<usize>,
}

impl Parsed {
    /// Nothing was read yet.
    pub(super) fn new(begin: Arc<Begin>, cancel: Cancel) -> Self {
        let allowed = BTreeMap::from([(0, begin.first.clone())]);
        Self {
            begin,
            cancel,
            parser: None,
            read: Vec::new(),
            allowed,
            fails_at: None,
        }
    }

    /// One that has read the same, and is given up by another `cancel`.
    pub(super) fn copy(&self, cancel: Cancel) -> Self {
        let mut parser = self.parser.as_ref().map(|parser| parser.copy());
        parser.iter_mut().for_each(|parser| parser.cancel_by(&cancel));
        Self {
            begin: self.begin.clone(),
            cancel,
            parser,
            read: self.read.clone(),
            allowed: self.allowed.clone(),
            fails_at: self.fails_at,
        }
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
        self.fails_at = self.fails_at.filter(|&length| length > output.len());
        let mut text = output.to_vec();
        while text.len() < output.len() + most
            && !allowed.is_complete
            && let Some(token) = allowed.mask.only()
        {
            text.push(token);
            if self.fails_at == Some(text.len()) {
                break;
            }
            let Ok(next) = self.look_at(&text) else {
                // It fails where the text gets there. Until then nothing is lost.
                self.allowed(output)?;
                self.fails_at = Some(text.len());
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
            *self = Self::new(self.begin.clone(), self.cancel.clone());
        }
        found
    }

    fn find(&mut self, output: &[u32]) -> Result<Arc<Allowed>> {
        if self.read.starts_with(output)
            && let Some(allowed) = self.allowed.get(&output.len())
        {
            return Ok(allowed.clone());
        }
        self.cancel.check()?;
        self.go_to(output)?;
        let (mut mask, may_end) = self.parser().next()?;
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
        let begin = self.begin.clone();
        let vocabulary = &begin.vocabulary;
        let has_text = |token: &&u32| !vocabulary.end_ids().contains(token);
        let same = self.read.iter().zip(output).take_while(|(a, b)| a == b).count();
        let undone = self.read[same..].iter().filter(has_text).count();
        self.parser().undo(undone)?;
        self.read.truncate(same);
        self.allowed.retain(|&length, _| length <= same);
        for (step, &token) in output.iter().enumerate().skip(same) {
            let is_read = match has_text(&&token) {
                true => self.parser().read(token)?,
                false => self.parser().next()?.1,
            };
            if !is_read {
                return Err(RequestError::OutsideGrammar { step, token }.into());
            }
            self.read.push(token);
        }
        Ok(())
    }

    fn parser(&mut self) -> &mut dyn Parser {
        let Self { begin, cancel, parser, .. } = self;
        let parser = parser.get_or_insert_with(|| {
            let mut parser = begin.parser.copy();
            parser.cancel_by(cancel);
            parser
        });
        &mut **parser
    }
}
