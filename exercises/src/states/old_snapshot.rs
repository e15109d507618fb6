//! A bug hunt: a text that remembers what was taken back.

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

/// A state is all that is left of a text, and it can't be cut back. So a text keeps a copy at the end of
/// each full block of tokens, goes back to the last of them when draft tokens are rejected, and reads
/// the few tokens from there again.
///
/// **What was observed.** Most texts are right. But now and then, after draft tokens were rejected, the
/// model goes on as if it had read something that is not in the text. Texts that fit into the first
/// block are never wrong.
///
/// There are two reasons. Find them, and fix them. What should be:
///
/// - After any calls, `state` is the state after all `tokens`, read one by one from 0.
/// - A copy is kept for each full block of the text: the state at the end of that block.
/// - `truncate` reads fewer tokens again than a block has.
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
        let before = self.tokens.len() / self.block;
        for &token in tokens {
            self.state = next_state(self.state, token);
            self.tokens.push(token);
            self.read += 1;
        }
        for full in before + 1..=self.tokens.len() / self.block {
            self.keep(full * self.block);
        }
    }

    /// Keeps a copy of the state, if there is none for so many tokens yet.
    fn keep(&mut self, end: usize) {
        if self.snapshots.iter().all(|(kept, _)| *kept != end) {
            self.snapshots.push((end, self.state));
        }
    }

    /// Keeps only the first `length` tokens, or all if there are no more.
    pub fn truncate(&mut self, length: usize) {
        if length >= self.tokens.len() {
            return;
        }
        let usable = self.snapshots.iter().filter(|(end, _)| *end <= length);
        let (from, state) = usable.max_by_key(|(end, _)| *end).copied().unwrap_or((0, 0));
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
