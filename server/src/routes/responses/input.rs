//! The conversation of a request.

use serde_json::Value;
use slowburn::tokenizer::{Message, Role};

use crate::conversation::without_template;
use crate::error::ApiError;
use crate::json::parse_at;
use crate::tools;
use crate::wire::{InputCall, InputCallOutput, InputMessage, InputThought};

/// The messages of a request. Each item is parsed by itself, so that an error names its place.
///
/// # Errors
/// No item; an item that is none of those that are known, or is wrong; a thought, for a model without a
/// template.
pub(super) fn messages(
    instructions: Option<&str>,
    input: Value,
    has_template: bool,
) -> Result<Vec<Message>, ApiError> {
    let mut messages: Vec<Message> =
        instructions.map(|text| Message::new(Role::System, text)).into_iter().collect();
    match input {
        Value::String(text) => messages.push(Message::new(Role::User, text)),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                let place = format!("input[{index}]");
                if item.get("type").is_some_and(|kind| kind == "reasoning") && !has_template {
                    return Err(without_template(place));
                }
                add(&mut messages, &place, item)?;
            }
            if items.is_empty() {
                let message = "input is an empty list: give a text or a message";
                return Err(ApiError::invalid("input", message));
            }
        }
        _ => {
            let message =
                "input is a string, or a list of messages, thoughts, calls and their outputs";
            return Err(ApiError::invalid("input", message));
        }
    }
    Ok(messages)
}

/// Adds an item. A call belongs to the assistant's message before it, if there is one: templates have
/// all calls of an answer in one message, and its thought too.
fn add(messages: &mut Vec<Message>, place: &str, item: &Value) -> Result<(), ApiError> {
    let kind = match item.get("type") {
        None | Some(Value::Null) => "message",
        Some(kind) => kind.as_str().unwrap_or_default(),
    };
    match kind {
        "message" => {
            let InputMessage { role, content, .. } = parse_at(place, item)?;
            let message = Message::new(role.into(), content.into_text());
            match messages.last_mut() {
                Some(last) if message.role == Role::Assistant && is_thought_alone(last) => {
                    last.content = message.content;
                }
                _ => messages.push(message),
            }
        }
        "reasoning" => {
            let thought: InputThought = parse_at(place, item)?;
            messages.push(Message {
                content: None,
                reasoning: Some(thought.into_text()).filter(|text| !text.is_empty()),
                ..Message::new(Role::Assistant, "")
            });
        }
        "function_call" => {
            let InputCall { call_id, name, arguments, .. } = parse_at(place, item)?;
            let call = tools::call(call_id, name, arguments.into());
            match messages.last_mut() {
                Some(message) if message.role == Role::Assistant => message.tool_calls.push(call),
                _ => messages.push(Message {
                    content: None,
                    tool_calls: vec![call],
                    ..Message::new(Role::Assistant, "")
                }),
            }
        }
        "function_call_output" => {
            let InputCallOutput { call_id, output, .. } = parse_at(place, item)?;
            messages.push(Message {
                tool_call_id: Some(call_id),
                ..Message::new(Role::Tool, output.into_text())
            });
        }
        _ => {
            let place = format!("{place}.type");
            let message = format!(
                "{place} must be \"message\", \"reasoning\", \"function_call\" or \"function_call_output\""
            );
            return Err(ApiError::invalid(place, message));
        }
    }
    Ok(())
}

/// Whether an answer has nothing but a thought yet.
fn is_thought_alone(message: &Message) -> bool {
    message.role == Role::Assistant && message.content.is_none() && message.tool_calls.is_empty()
}
