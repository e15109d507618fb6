//! Server-sent events.

use std::collections::VecDeque;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive};
use axum::response::{IntoResponse, Response, Sse};
use futures_util::stream;
use serde::Serialize;

use super::error::ApiError;
use super::updates::{Update, Updates};

/// An event, or a failure to write its JSON.
pub(super) type EventResult = Result<Event, axum::Error>;

/// How often a comment is sent while there is nothing to say, so that proxies between keep the
/// connection.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Turns the updates of a request into events.
pub(super) trait Encoder: Send + 'static {
    /// The events of one update.
    fn update(&mut self, index: usize, update: Update) -> Vec<EventResult>;

    /// The events after all sequences have ended.
    fn end(&mut self) -> Vec<EventResult> {
        Vec::new()
    }

    /// The last event of a request that fails in mid-stream.
    fn fail(&mut self, error: &ApiError) -> EventResult {
        json(&error.body())
    }
}

/// An event with one JSON object as its data.
pub(super) fn json(data: &impl Serialize) -> EventResult {
    Event::default().json_data(data)
}

/// The same with the name of the event, for clients that look at names.
pub(super) fn named(name: &str, data: &impl Serialize) -> EventResult {
    Event::default().event(name).json_data(data)
}

/// The event that ends a stream of OpenAI's API.
pub(super) fn done() -> EventResult {
    Ok(Event::default().data("[DONE]"))
}

struct EventStream<E> {
    updates: Updates,
    encoder: E,
    /// Events that are encoded and not sent yet.
    ready: VecDeque<EventResult>,
    ended: bool,
}

// ANCHOR: next_event
impl<E: Encoder> EventStream<E> {
    async fn next(&mut self) -> Option<EventResult> {
        while self.ready.is_empty() && !self.ended {
            let events = match self.updates.next().await {
                Ok(Some((index, update))) => self.encoder.update(index, update),
                Ok(None) => {
                    self.ended = true;
                    self.encoder.end()
                }
                // The status went out long ago: the error is an event, and the last one.
                Err(error) => {
                    self.ended = true;
                    vec![self.encoder.fail(&error)]
                }
            };
            self.ready.extend(events);
        }
        self.ready.pop_front()
    }
}
// ANCHOR_END: next_event

/// The response that streams these updates.
pub(super) fn respond(updates: Updates, encoder: impl Encoder) -> Response {
    let state = EventStream { updates, encoder, ready: VecDeque::new(), ended: false };
    let events = stream::unfold(state, async |mut state| {
        let event = state.next().await?;
        Some((event, state))
    });
    let sse = Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE));
    // nginx would collect the events otherwise.
    ([("x-accel-buffering", "no")], sse).into_response()
}
