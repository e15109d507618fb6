//! A handler: one line of text for each of several prompts.
//!
//! Why: a handler starts sequences and returns, so no job needs a thread. What must it remember?
//! Which line is open, and how many are: that lives in the state that the closures share. The model
//! thread calls them one after the other, so a lock is held for a moment, and nobody ever waits for
//! it.
//!
//! What it costs: shared state behind an `Arc`, because no closure is sure to outlive the others.
//!
//! A common wrong turn: `Done` after the line with the highest index. Sequences end in any order.
//! And a refusal in the middle leaves the earlier sequences running, for a caller who was told that
//! it failed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
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

/// What the closures of a job share.
struct Shared {
    out: OutStream,
    open: AtomicUsize,
    tokens: AtomicUsize,
    refused: AtomicBool,
}

/// Starts a sequence for each prompt, in order, and returns.
pub fn first_lines(model: &mut dyn Model, prompts: &[&str], out: OutStream) -> Result<(), String> {
    if prompts.is_empty() {
        out.emit(Item::Done { tokens: 0 });
        return Ok(());
    }
    let shared = Arc::new(Shared {
        out,
        open: AtomicUsize::new(prompts.len()),
        tokens: AtomicUsize::new(0),
        refused: AtomicBool::new(false),
    });
    for (index, prompt) in prompts.iter().enumerate() {
        let of_sequence = shared.clone();
        let on_event = Box::new(move |event| of_sequence.event(index, event));
        if let Err(why) = model.start(prompt, on_event) {
            shared.refused.store(true, Ordering::SeqCst);
            return Err(why);
        }
    }
    Ok(())
}

impl Shared {
    fn event(&self, index: usize, event: Event) -> Next {
        if self.refused.load(Ordering::SeqCst) {
            return Next::Stop;
        }
        let (text, is_complete) = match event {
            Event::End => (String::new(), true),
            Event::Token(text) => {
                self.tokens.fetch_add(1, Ordering::SeqCst);
                match text.split_once('\n') {
                    Some((line, _)) => (line.to_owned(), true),
                    None => (text, false),
                }
            }
        };
        if !text.is_empty() && !self.out.emit(Item::Text { index, text }) {
            return Next::Stop;
        }
        if !is_complete {
            return Next::Continue;
        }
        self.out.emit(Item::Line { index });
        if self.open.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.out.emit(Item::Done { tokens: self.tokens.load(Ordering::SeqCst) });
        }
        Next::Stop
    }
}
