//! The forms in which a template can take a message that calls tools.
//!
//! A client of OpenAI's API sends the arguments of a call as a text, and no content beside calls. Some
//! templates are written for just that; others read arguments as an object, and add up texts. What a
//! template cannot take makes it fail, or is lost in what it writes.

use serde_json::Value;

use super::{Message, ToolCall};
use crate::error::Result;

/// A name for a call that all templates take: those of Mistral want nine letters and digits.
pub fn short_id(number: u128) -> String {
    const SIGNS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut rest = number;
    let mut sign = || {
        let sign = SIGNS[(rest % 62) as usize];
        rest /= 62;
        char::from(sign)
    };
    (0..9).map(|_| sign()).collect()
}

/// A form of messages.
#[derive(Debug, Clone, Copy)]
struct Form {
    /// A message without content has an empty one.
    has_content: bool,
    /// Arguments that are a text are an object, and the other way round.
    turns_arguments: bool,
    /// The names of calls are nine letters and digits, as the templates of Mistral want them.
    shortens_ids: bool,
}

/// How well a template writes messages in a form: the greater, the better.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Written {
    /// Not at all.
    Failed,
    /// Without all of the calls.
    Lost,
    /// As something else than JSON: in quotes within a text, or as Python prints a dictionary.
    Garbled,
    Whole,
}

/// The messages in the first form in which nothing is lost: that of the messages, if it is one.
pub(super) fn choose(
    messages: Vec<Message>,
    render: impl Fn(&[Message]) -> Result<String>,
) -> Vec<Message> {
    let calls: usize = messages.iter().map(|message| message.tool_calls.len()).sum();
    let has_calls = calls > 0;
    let lacks_content = messages.iter().any(|message| message.content.is_none());
    if !has_calls && !lacks_content {
        return messages;
    }
    let [same, other]: [&[bool]; 2] = [&[false], &[false, true]];
    let mut best: Option<((Written, usize), Form)> = None;
    for &shortens_ids in if has_calls { other } else { same } {
        // Other names for calls are a way out only where all else fails.
        if best.as_ref().is_some_and(|((written, _), _)| *written > Written::Failed) {
            break;
        }
        for &has_content in if lacks_content { other } else { same } {
            for &turns_arguments in if has_calls { other } else { same } {
                let form = Form { has_content, turns_arguments, shortens_ids };
                let text = render(&form.apply(&messages, true));
                let nones = text.as_ref().map_or(0, |text| text.matches("None").count());
                let quality = (judge(text.ok().as_deref(), calls), usize::MAX - nones);
                let is_perfect = quality == (Written::Whole, usize::MAX);
                if best.as_ref().is_none_or(|(best, _)| quality > *best) {
                    best = Some((quality, form));
                }
                if is_perfect {
                    return form.apply(&messages, false);
                }
            }
        }
    }
    match best {
        Some((_, form)) => form.apply(&messages, false),
        None => messages,
    }
}

/// What stands for texts and for numbers in the arguments of a call on trial, so that they are found
/// again in what a template writes.
fn needles(call: usize) -> (String, usize) {
    (format!("needle_{call}_"), 730_511_894 + call)
}

/// Arguments on trial: with the names of the call's own, for templates that look for these, and one
/// more, for templates that write all.
fn probe(arguments: &Value, call: usize) -> Value {
    let (needle, number) = needles(call);
    let of_text = |text: &str| serde_json::from_str(text).unwrap_or_default();
    let mut probe = match arguments {
        Value::String(text) => of_text(text),
        arguments => arguments.as_object().cloned().unwrap_or_default(),
    };
    for value in probe.values_mut() {
        match value {
            Value::String(text) => text.clone_from(&needle),
            Value::Number(value) => *value = number.into(),
            _ => {}
        }
    }
    probe.insert(needle, number.into());
    Value::Object(probe)
}

fn judge(text: Option<&str>, calls: usize) -> Written {
    let Some(text) = text else {
        return Written::Failed;
    };
    let is_found = |call| {
        let (needle, number) = needles(call);
        text.contains(&needle) || text.contains(&number.to_string())
    };
    if !(0..calls).all(is_found) {
        Written::Lost
    } else if text.contains("\\\"needle_") || text.contains("'needle_") {
        Written::Garbled
    } else {
        Written::Whole
    }
}

impl Form {
    /// Messages in this form, with [`probe`]s as arguments on trial.
    fn apply(self, messages: &[Message], is_trial: bool) -> Vec<Message> {
        let mut calls = 0;
        let mut call = |call: &ToolCall| {
            let mut call = call.clone();
            let trial = is_trial.then_some(calls);
            calls += 1;
            call.function.arguments = self.arguments(&call.function.arguments, trial);
            call.id = self.id(&call.id);
            call
        };
        let message = |message: &Message| {
            let empty = self.has_content.then(String::new);
            Message {
                content: message.content.clone().or(empty),
                tool_calls: message.tool_calls.iter().map(&mut call).collect(),
                tool_call_id: message.tool_call_id.as_deref().map(|id| self.id(id)),
                ..message.clone()
            }
        };
        messages.iter().map(message).collect()
    }

    fn id(self, id: &str) -> String {
        let is_short = id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !self.shortens_ids || is_short {
            return id.to_owned();
        }
        // FNV-1a, since the same name is to stay the same in each turn.
        let hash = id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        });
        short_id(hash.into())
    }

    fn arguments(self, arguments: &Value, trial: Option<usize>) -> Value {
        // None are an object without any.
        let is_empty =
            arguments.is_null() || arguments.as_str().is_some_and(|text| text.trim().is_empty());
        let nothing = Value::from("{}");
        let arguments = if is_empty { &nothing } else { arguments };
        let is_text = arguments.is_string();
        if let Some(call) = trial {
            let probe = probe(arguments, call);
            return if is_text == self.turns_arguments {
                probe
            } else {
                probe.to_string().into()
            };
        }
        match (arguments, self.turns_arguments) {
            (_, false) => arguments.clone(),
            (Value::String(text), true) => match serde_json::from_str(text) {
                Ok(object @ Value::Object(_)) => object,
                // A text that is no JSON, as where a call was cut off.
                _ => arguments.clone(),
            },
            (_, true) => arguments.to_string().into(),
        }
    }
}
