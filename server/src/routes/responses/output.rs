//! What an answer is made of, as it grows: thoughts, a message, calls of tools.

use slowburn::inference::TokenOutput;
use uuid::Uuid;

use crate::tools::{AnswerSplitter, Piece, call_id};
use crate::wire::{
    CallType, ChatTokenLogprob, EventBody, EventPart, OutputCall, OutputItem, OutputMessage,
    OutputText, OutputThought, ResponseStatus, ThoughtText, ThoughtTextType, ThoughtType,
};

/// What has happened: types of events, and what they say.
pub(super) type Events = Vec<(&'static str, EventBody)>;

/// The items of an answer.
pub(super) struct Output {
    splitter: AnswerSplitter,
    /// Those that have ended.
    items: Vec<OutputItem>,
    open: Option<Open>,
    /// Those of tokens of which it is not yet clear what they say.
    logprobs: Vec<ChatTokenLogprob>,
}

/// An item that grows.
enum Open {
    Thought {
        id: String,
        text: String,
    },
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
    pub(super) fn new(splitter: AnswerSplitter) -> Self {
        Self {
            splitter,
            items: Vec::new(),
            open: None,
            logprobs: Vec::new(),
        }
    }

    /// Adds a token. Log-probabilities go with text: a thought and a call have no place for them.
    pub(super) fn push(&mut self, token: &TokenOutput, logprobs: Vec<ChatTokenLogprob>) -> Events {
        let was_answering = self.splitter.is_answering();
        let pieces = self.splitter.push(token);
        if was_answering && self.splitter.is_answering() {
            self.logprobs.extend(logprobs);
        }
        pieces.into_iter().flat_map(|piece| self.piece(piece)).collect()
    }

    /// Ends the answer. An answer of nothing is a message without text.
    pub(super) fn finish(&mut self, status: ResponseStatus) -> Events {
        let rest = self.splitter.finish();
        let mut events: Events = rest.into_iter().flat_map(|piece| self.piece(piece)).collect();
        if !self.logprobs.is_empty() && matches!(self.open, None | Some(Open::Message { .. })) {
            events.extend(self.text(String::new()));
        }
        if self.open.is_none() {
            events.extend(self.begin(Open::message()));
        }
        events.extend(self.end(status));
        events
    }

    /// How many tokens were thoughts.
    pub(super) fn thought_tokens(&self) -> usize {
        self.splitter.thought_tokens()
    }

    /// The items of an answer that has ended.
    pub(super) fn into_items(self) -> Vec<OutputItem> {
        self.items
    }

    fn piece(&mut self, piece: Piece) -> Events {
        match piece {
            Piece::Thought(text) => self.thought(text),
            Piece::Text(text) => self.text(text),
            Piece::Call { name, id } => self.begin(Open::call(name, id)),
            Piece::Arguments(text) => self.arguments(text),
        }
    }

    /// More of a thought, of one that has begun or of a new one.
    fn thought(&mut self, delta: String) -> Events {
        self.logprobs.clear();
        let mut events = match self.open {
            Some(Open::Thought { .. }) => Events::new(),
            _ => self.begin(Open::thought()),
        };
        if let Some(Open::Thought { id, text }) = &mut self.open {
            text.push_str(&delta);
            let (item_id, output_index) = (id.clone(), self.items.len());
            let delta = EventBody::ThoughtDelta { item_id, output_index, content_index: 0, delta };
            events.push(("response.reasoning_text.delta", delta));
        }
        events
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
        let part = match &open {
            Open::Thought { id, .. } => Some((id, EventPart::Thought(thought_part(String::new())))),
            Open::Message { id, .. } => {
                Some((id, EventPart::Text(text_part(String::new(), Vec::new()))))
            }
            Open::Call { .. } => None,
        };
        if let Some((id, part)) = part {
            let item_id = id.clone();
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
    fn thought() -> Self {
        Self::Thought {
            id: format!("rs_{}", Uuid::new_v4().simple()),
            text: String::new(),
        }
    }

    fn message() -> Self {
        let id = format!("msg_{}", Uuid::new_v4().simple());
        Self::Message { id, text: String::new(), logprobs: Vec::new() }
    }

    fn call(name: String, call: Option<String>) -> Self {
        let id = format!("fc_{}", Uuid::new_v4().simple());
        Self::Call {
            id,
            call_id: call.unwrap_or_else(call_id),
            name,
            arguments: String::new(),
        }
    }

    /// The item as it is. While it is in progress, a thought and a message have no part.
    fn item(&self, status: ResponseStatus) -> OutputItem {
        let has_parts = status != ResponseStatus::InProgress;
        match self {
            Self::Thought { id, text } => OutputItem::Thought(OutputThought {
                id: id.clone(),
                kind: ThoughtType::Reasoning,
                status,
                summary: [],
                content: has_parts.then(|| thought_part(text.clone())).into_iter().collect(),
            }),
            Self::Message { id, text, logprobs } => {
                let whole = has_parts.then(|| text_part(text.clone(), logprobs.clone()));
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
            Self::Thought { id, text } => {
                let part = EventPart::Thought(thought_part(text.clone()));
                let (item_id, content_index) = (id.clone(), 0);
                let text = EventBody::Thought { item_id, output_index, content_index, text };
                let part = EventBody::Part { item_id: id, output_index, content_index, part };
                vec![
                    ("response.reasoning_text.done", text),
                    ("response.content_part.done", part),
                ]
            }
            Self::Message { id, text, logprobs } => {
                let part = EventPart::Text(text_part(text.clone(), logprobs.clone()));
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

fn thought_part(text: String) -> ThoughtText {
    ThoughtText { kind: ThoughtTextType::ReasoningText, text }
}

fn text_part(text: String, logprobs: Vec<ChatTokenLogprob>) -> OutputText {
    OutputText { kind: "output_text", text, annotations: [], logprobs }
}
