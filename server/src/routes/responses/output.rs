//! What an answer is made of, as it grows: a message, calls of tools, or both.

use uuid::Uuid;

use crate::tools::{Piece, Splitter, call_id};
use crate::wire::{
    CallType, ChatTokenLogprob, EventBody, OutputCall, OutputItem, OutputMessage, OutputText,
    ResponseStatus,
};

/// What has happened: types of events, and what they say.
pub(super) type Events = Vec<(&'static str, EventBody)>;

/// The items of an answer.
pub(super) struct Output {
    splitter: Splitter,
    /// Those that have ended.
    items: Vec<OutputItem>,
    open: Option<Open>,
    /// Those of tokens of which it is not yet clear what they say.
    logprobs: Vec<ChatTokenLogprob>,
}

/// An item that grows.
enum Open {
    Message {
        id: String,
        text: String,
        logprobs: Vec<ChatTokenLogprob>,
    },
    Call {
        id: String,
        call_id: String,
        name: String,
        arguments: String,
    },
}

impl Output {
    /// Nothing yet. `splitter` has read nothing.
    pub(super) fn new(splitter: Splitter) -> Self {
        Self {
            splitter,
            items: Vec::new(),
            open: None,
            logprobs: Vec::new(),
        }
    }

    /// Adds a token. Log-probabilities go with text: a call has no place for them.
    pub(super) fn push(&mut self, token: &str, logprobs: Vec<ChatTokenLogprob>) -> Events {
        self.logprobs.extend(logprobs);
        let pieces = self.splitter.push(token);
        pieces.into_iter().flat_map(|piece| self.piece(piece)).collect()
    }

    /// Ends the answer. An answer of nothing is a message without text.
    pub(super) fn finish(&mut self, status: ResponseStatus) -> Events {
        let rest = self.splitter.finish();
        let mut events: Events = rest.into_iter().flat_map(|piece| self.piece(piece)).collect();
        if !self.logprobs.is_empty() && !matches!(self.open, Some(Open::Call { .. })) {
            events.extend(self.text(String::new()));
        }
        if self.open.is_none() {
            events.extend(self.begin(Open::message()));
        }
        events.extend(self.end(status));
        events
    }

    /// The items of an answer that has ended.
    pub(super) fn into_items(self) -> Vec<OutputItem> {
        self.items
    }

    fn piece(&mut self, piece: Piece) -> Events {
        match piece {
            Piece::Text(text) => self.text(text),
            Piece::Call { name } => self.begin(Open::call(name)),
            Piece::Arguments(text) => self.arguments(text),
        }
    }

    /// More text, of a message that has begun or of a new one.
    fn text(&mut self, delta: String) -> Events {
        let mut events = match self.open {
            Some(Open::Message { .. }) => Events::new(),
            _ => self.begin(Open::message()),
        };
        let (output_index, new) = (self.items.len(), std::mem::take(&mut self.logprobs));
        if let Some(Open::Message { id, text, logprobs }) = &mut self.open {
            text.push_str(&delta);
            logprobs.extend(new.clone());
            let item_id = id.clone();
            let delta = EventBody::Delta {
                item_id,
                output_index,
                content_index: 0,
                delta,
                logprobs: new,
            };
            events.push(("response.output_text.delta", delta));
        }
        events
    }

    /// More arguments of the call that has begun.
    fn arguments(&mut self, delta: String) -> Events {
        self.logprobs.clear();
        let output_index = self.items.len();
        let Some(Open::Call { id, arguments, .. }) = &mut self.open else {
            return Events::new();
        };
        arguments.push_str(&delta);
        let delta = EventBody::ArgumentsDelta { item_id: id.clone(), output_index, delta };
        vec![("response.function_call_arguments.delta", delta)]
    }

    fn begin(&mut self, open: Open) -> Events {
        let mut events = self.end(ResponseStatus::Completed);
        let output_index = self.items.len();
        let item = open.item(ResponseStatus::InProgress);
        events.push(("response.output_item.added", EventBody::Item { output_index, item }));
        if let Open::Message { id, .. } = &open {
            let (item_id, part) = (id.clone(), part(String::new(), Vec::new()));
            let part = EventBody::Part { item_id, output_index, content_index: 0, part };
            events.push(("response.content_part.added", part));
        }
        self.open = Some(open);
        events
    }

    /// Ends the item that has begun, if one has.
    fn end(&mut self, status: ResponseStatus) -> Events {
        let Some(open) = self.open.take() else {
            return Events::new();
        };
        let output_index = self.items.len();
        let item = open.item(status);
        self.items.push(item.clone());
        let mut events = open.done(output_index);
        events.push(("response.output_item.done", EventBody::Item { output_index, item }));
        events
    }
}

impl Open {
    fn message() -> Self {
        let id = format!("msg_{}", Uuid::new_v4().simple());
        Self::Message { id, text: String::new(), logprobs: Vec::new() }
    }

    fn call(name: String) -> Self {
        let id = format!("fc_{}", Uuid::new_v4().simple());
        Self::Call { id, call_id: call_id(), name, arguments: String::new() }
    }

    /// The item as it is. While it is in progress, a message has no part.
    fn item(&self, status: ResponseStatus) -> OutputItem {
        match self {
            Self::Message { id, text, logprobs } => {
                let whole = (status != ResponseStatus::InProgress)
                    .then(|| part(text.clone(), logprobs.clone()));
                OutputItem::Message(OutputMessage {
                    id: id.clone(),
                    kind: "message",
                    role: "assistant",
                    status,
                    content: whole.into_iter().collect(),
                })
            }
            Self::Call { id, call_id, name, arguments } => OutputItem::Call(OutputCall {
                id: id.clone(),
                kind: CallType::FunctionCall,
                status,
                call_id: call_id.clone(),
                name: name.clone(),
                arguments: arguments.clone(),
            }),
        }
    }

    /// What is said of its contents at its end.
    fn done(self, output_index: usize) -> Events {
        match self {
            Self::Message { id, text, logprobs } => {
                let part = part(text.clone(), logprobs.clone());
                let (item_id, content_index) = (id.clone(), 0);
                let text = EventBody::Text { item_id, output_index, content_index, text, logprobs };
                let part = EventBody::Part { item_id: id, output_index, content_index, part };
                vec![
                    ("response.output_text.done", text),
                    ("response.content_part.done", part),
                ]
            }
            Self::Call { id, name, arguments, .. } => {
                let arguments = EventBody::Arguments { item_id: id, output_index, name, arguments };
                vec![("response.function_call_arguments.done", arguments)]
            }
        }
    }
}

fn part(text: String, logprobs: Vec<ChatTokenLogprob>) -> OutputText {
    OutputText { kind: "output_text", text, annotations: [], logprobs }
}
