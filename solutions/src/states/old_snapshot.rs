//! A bug hunt: a text that remembers what was taken back.
//!
//! Why: a copy has a name, "the first eight tokens of this text", and is worth nothing under another. The first reason
//! gave it a wrong content: the copy was made at the end of the pass, behind the end of the block. The second let it keep
//! its name after the text had changed, and the right copy was not made because there was one already.
//!
//! What it costs: a copy for each full block. Real states are large, so an engine keeps fewer of them, and reads more
//! again.
//!
//! A common wrong turn: reading the whole text again. That is always right, and it is what copies are there to avoid.

/// The state after one more token. It can't be undone.
pub fn next_state(state: u64, token: u32) -> u64 {
    state.wrapping_mul(1_000_003) ^ u64::from(token)
}

/// A text whose layers keep a state, and copies of it at the ends of blocks.
#[derive(Debug, Clone)]
pub struct Text {
    block: usize,
    tokens: Vec<u32>,
    state: u64,
    /// How many tokens were read, and the state after them, for each copy.
    snapshots: Vec<(usize, u64)>,
    read: usize,
}

impl Text {
    /// An empty text, with blocks of so many tokens, at least 1.
    pub fn new(block: usize) -> Self {
        Self {
            block,
            tokens: Vec::new(),
            state: 0,
            snapshots: Vec::new(),
            read: 0,
        }
    }

    /// Reads tokens, in one pass.
    pub fn append(&mut self, tokens: &[u32]) {
        for &token in tokens {
            self.state = next_state(self.state, token);
            self.tokens.push(token);
            self.read += 1;
            if self.tokens.len().is_multiple_of(self.block) {
                self.snapshots.push((self.tokens.len(), self.state));
            }
        }
    }

    /// Keeps only the first `length` tokens, or all if there are no more.
    pub fn truncate(&mut self, length: usize) {
        if length >= self.tokens.len() {
            return;
        }
        self.snapshots.retain(|(end, _)| *end <= length);
        let (from, state) = self.snapshots.last().copied().unwrap_or((0, 0));
        self.state = state;
        let again = self.tokens[from..length].to_vec();
        self.tokens.truncate(from);
        for token in again {
            self.state = next_state(self.state, token);
            self.tokens.push(token);
            self.read += 1;
        }
    }

    /// The state after all tokens.
    pub fn state(&self) -> u64 {
        self.state
    }

    /// How many tokens were read so far, those that were read again counted each time.
    pub fn read(&self) -> usize {
        self.read
    }
}
