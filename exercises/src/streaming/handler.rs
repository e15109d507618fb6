//! A handler: one line of text for each of several prompts.

use std::sync::mpsc::SyncSender;

/// What the model thread reports about a sequence.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// It has a new piece of text.
    Token(String),
    /// It has ended by itself: the model chose to, or there is no room. No event comes after it.
    End,
}

/// What the handler answers to an event. After `Stop` the sequence is removed, and no event comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    Continue,
    Stop,
}

/// Called in the model thread with each event of one sequence. It must not wait there.
pub type OnEvent = Box<dyn FnMut(Event) -> Next + Send>;

/// The model, as a handler sees it.
pub trait Model {
    /// Starts a sequence, which runs from the next step on. The error says why it was refused.
    fn start(&mut self, prompt: &str, on_event: OnEvent) -> Result<(), String>;
}

/// What the job emits.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// More text of the line for prompt `index`. Never empty.
    Text { index: usize, text: String },
    /// The line for prompt `index` is complete.
    Line { index: usize },
    /// All lines are complete: the last item. `tokens` counts the `Token` events of all sequences.
    Done { tokens: usize },
}

/// The stream of a job. Its reader drops the other end when it leaves.
#[derive(Debug, Clone)]
pub struct OutStream {
    items: SyncSender<Item>,
}

impl OutStream {
    pub fn new(items: SyncSender<Item>) -> Self {
        Self { items }
    }

    /// Emits an item, without waiting. `false` if the reader has gone. (The library bounds a stream by
    /// pausing its sequences, so here there is always room.)
    pub fn emit(&self, item: Item) -> bool {
        self.items.try_send(item).is_ok()
    }
}

/// A user wants one line for each of several prompts, live, and the model thread must never wait
/// for a reader. So your handler starts a sequence for each prompt, in order, and returns.
/// Everything else happens in the closures that you give to the model: they are called later, in
/// any order.
///
/// - A line ends with the first LF. Emit a token as soon as it is there: its text, or what comes
///   before its first LF. If that is empty, there is no `Text`.
/// - With the LF, or the end of the sequence, the line is complete: `Line`, once for each prompt.
///   After an LF, stop the sequence.
/// - After the last `Line`, emit `Done`. Without prompts, emit it at once.
/// - If the reader has gone, stop a sequence at its next event that has something to emit.
/// - If a sequence is refused, return its error and start no further one. The sequences already
///   started are stopped at their next event, and emit nothing.
///
/// ```text
/// prompts "a", "b"
///
/// 0: Token "x"        Text 0 "x"                 Continue
/// 1: Token "y\nz"     Text 1 "y", Line 1         Stop
/// 0: End              Line 0, Done 2 tokens
/// ```
pub fn first_lines(model: &mut dyn Model, prompts: &[&str], out: OutStream) -> Result<(), String> {
    todo!()
}
