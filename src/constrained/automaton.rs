//! A deterministic automaton over bytes.

/// A state of an [`Automaton`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct State(pub(super) u32);

impl State {
    /// Its place among the states of its automaton, from 0, the start.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A deterministic automaton over bytes, from whose every state an accepting one can be reached. The
/// text so far can be completed wherever there is a state.
#[derive(Debug, Clone)]
pub struct Automaton {
    /// The class of each byte: bytes that no state tells apart are in one class.
    classes: Box<[u8; 256]>,
    /// The number of classes.
    width: usize,
    /// The next state by state and class, `[states, width]`, or [`NONE`].
    next: Vec<u32>,
    /// Whether the text so far matches, by state.
    accepting: Vec<bool>,
}

/// No state: the text cannot go on like that.
const NONE: u32 = u32::MAX;

impl Automaton {
    /// The state before the first byte.
    pub const START: State = State(0);

    /// An automaton by the table of its next states, `[states, width]`, which is pruned: states are
    /// left out from which no accepting one can be reached. The first is the start. None if nothing
    /// matches.
    #[cfg(feature = "text")]
    pub(crate) fn pruned(
        classes: Box<[u8; 256]>,
        width: usize,
        next: &[u32],
        accepting: &[bool],
    ) -> Option<Self> {
        let live = live(width, next, accepting);
        if !live.first().is_some_and(|&live| live) {
            return None;
        }
        let mut names = vec![NONE; live.len()];
        let kept: Vec<usize> = (0..live.len()).filter(|&state| live[state]).collect();
        for (name, &state) in (0..).zip(&kept) {
            names[state] = name;
        }
        let rows = kept.iter().flat_map(|state| &next[state * width..(state + 1) * width]);
        let next = rows.map(|&next| names.get(next as usize).copied().unwrap_or(NONE)).collect();
        let accepting = kept.iter().map(|&state| accepting[state]).collect();
        Some(Self { classes, width, next, accepting })
    }

    /// The automaton that accepts every text.
    pub fn anything() -> Self {
        let classes = Box::new([0; 256]);
        Self { classes, width: 1, next: vec![0], accepting: vec![true] }
    }

    /// The automaton that reads `bytes` first, and behind them what this one accepts.
    pub fn behind(&self, bytes: &[u8]) -> Self {
        // None of them may share its class with another byte, which could not be read in its place.
        let mut classes = self.classes.clone();
        let mut alone = Vec::new();
        for &byte in bytes {
            let class = classes[usize::from(byte)];
            if classes.iter().filter(|&&other| other == class).count() > 1 {
                classes[usize::from(byte)] = (self.width + alone.len()) as u8;
                alone.push(byte);
            }
        }
        let width = self.width + alone.len();
        // A state before each byte, and behind them the states that there were.
        let mut next = vec![NONE; bytes.len() * width];
        for (state, &byte) in bytes.iter().enumerate() {
            next[state * width + usize::from(classes[usize::from(byte)])] = state as u32 + 1;
        }
        let moved = |state: u32| state.checked_add(bytes.len() as u32).unwrap_or(NONE);
        for row in self.next.chunks(self.width) {
            next.extend(row.iter().map(|&state| moved(state)));
            next.extend(alone.iter().map(|&byte| moved(row[self.class(byte)])));
        }
        let accepting = [&vec![false; bytes.len()], self.accepting.as_slice()].concat();
        Self { classes, width, next, accepting }
    }

    fn class(&self, byte: u8) -> usize {
        usize::from(self.classes[usize::from(byte)])
    }

    // ANCHOR: next
    /// The state after one more byte. None where the text cannot go on like that.
    pub fn next(&self, state: State, byte: u8) -> Option<State> {
        let next = self.next[state.0 as usize * self.width + self.class(byte)];
        (next != NONE).then_some(State(next))
    }

    /// The state after these bytes.
    pub fn read(&self, state: State, bytes: &[u8]) -> Option<State> {
        bytes.iter().try_fold(state, |state, &byte| self.next(state, byte))
    }

    /// Whether the text may end in this state.
    pub fn accepts(&self, state: State) -> bool {
        self.accepting[state.0 as usize]
    }
    // ANCHOR_END: next

    /// Its memory, in bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.classes) + size_of_val(&*self.next) + size_of_val(&*self.accepting)
    }

    /// The number of states.
    pub fn states(&self) -> usize {
        self.accepting.len()
    }
}

/// From which states an accepting one can be reached. Found backwards: all accepting states, those
/// that lead to one of them, and so on.
#[cfg(feature = "text")]
fn live(width: usize, next: &[u32], accepting: &[bool]) -> Vec<bool> {
    let mut before = vec![Vec::new(); accepting.len()];
    for (state, row) in next.chunks(width).enumerate() {
        for &next in row {
            if let Some(before) = before.get_mut(next as usize)
                && before.last() != Some(&state)
            {
                before.push(state);
            }
        }
    }
    let mut live = accepting.to_vec();
    let mut found: Vec<usize> = (0..live.len()).filter(|&state| live[state]).collect();
    while let Some(state) = found.pop() {
        for &before in &before[state] {
            if !std::mem::replace(&mut live[before], true) {
                found.push(before);
            }
        }
    }
    live
}
