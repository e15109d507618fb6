//! A queue behind a lock, and a condition variable for the reader.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};

#[derive(Debug, Default)]
struct State {
    tokens: VecDeque<String>,
    ended: bool,
    gone: bool,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
pub struct TokenSender {
    shared: Arc<Shared>,
    capacity: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Emitted {
    Sent,
    Behind(String),
    Gone,
}

#[derive(Debug)]
pub struct TokenStream {
    shared: Arc<Shared>,
}

pub fn token_stream(capacity: usize) -> (TokenSender, TokenStream) {
    let shared = Arc::new(Shared::default());
    (TokenSender { shared: shared.clone(), capacity }, TokenStream { shared })
}

impl TokenSender {
    pub fn emit(&self, token: String) -> Emitted {
        let mut state = self.shared.state.lock().unwrap();
        if state.gone {
            return Emitted::Gone;
        }
        if state.tokens.len() == self.capacity {
            return Emitted::Behind(token);
        }
        state.tokens.push_back(token);
        self.shared.changed.notify_all();
        Emitted::Sent
    }

    pub fn is_gone(&self) -> bool {
        self.shared.state.lock().unwrap().gone
    }
}

impl Drop for TokenSender {
    fn drop(&mut self) {
        self.shared.state.lock().unwrap().ended = true;
        self.shared.changed.notify_all();
    }
}

impl Iterator for TokenStream {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let state = self.shared.state.lock().unwrap();
        let waits = |state: &mut State| state.tokens.is_empty() && !state.ended;
        self.shared.changed.wait_while(state, waits).unwrap().tokens.pop_front()
    }
}

impl Drop for TokenStream {
    fn drop(&mut self) {
        self.shared.state.lock().unwrap().gone = true;
    }
}
