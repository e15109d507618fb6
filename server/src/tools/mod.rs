//! Tools: how a model is made to call them, and how its calls are found in what it writes.

mod answer;
mod forms;
mod grammar;
mod scan;
mod split;
mod style;
mod tagged;

use std::sync::Arc;

use serde_json::{Value, json};
use slowburn::constrained::Constraint;
use slowburn::grammar::{Grammar, Schema};
use slowburn::pretrained::Pretrained;
use slowburn::tokenizer::{FunctionCall, Message, Thoughts, ToolCall, short_id};
use uuid::Uuid;

use super::error::ApiError;
use super::formats::{self, Format};
use super::service::Service;
use super::wire::{Tool, ToolChoice, ToolMode};
pub(super) use answer::AnswerSplitter;
pub(super) use split::{Piece, Splitter};
use style::Style;

/// The most tools of a request.
const MOST: usize = 128;

/// The tools that a request lets the model call.
#[derive(Debug, Clone)]
pub(super) struct Toolbox {
    style: Style,
    /// The special tokens that have no text of their own.
    marks: Vec<(u32, &'static str)>,
    /// The token that may come before a call.
    prelude: Option<u32>,
    tools: Vec<Callable>,
    /// The answer is a call.
    is_required: bool,
    /// More than one call.
    is_parallel: bool,
}

/// A tool that may be called.
#[derive(Debug, Clone)]
struct Callable {
    name: String,
    /// Where its parameters are in the request.
    place: String,
    /// The schema of its arguments.
    parameters: Value,
}

impl Toolbox {
    /// The tools of a request; None where the model is to call none. `within` is where the fields of a
    /// function are: in `.function` of a tool, or with nothing in between.
    ///
    /// # Errors
    /// Tools that [`check`] refuses; a choice of a tool that is not there.
    pub(super) fn of(
        pretrained: &Pretrained,
        tools: &[Tool],
        choice: Option<&ToolChoice>,
        is_parallel: bool,
        within: &str,
    ) -> Result<Option<Self>, ApiError> {
        check(tools, within)?;
        let choice = match choice {
            Some(ToolChoice::Mode(ToolMode::None)) => return Ok(None),
            None | Some(ToolChoice::Mode(ToolMode::Auto)) if tools.is_empty() => return Ok(None),
            choice => choice,
        };
        if tools.is_empty() {
            let message = "tool_choice asks for a call, but there are no tools";
            return Err(ApiError::invalid("tool_choice", message));
        }
        let named = match choice {
            Some(ToolChoice::Named(tool)) => Some(&tool.function.name),
            _ => None,
        };
        let is_chosen = |tool: &Tool| named.is_none_or(|name| tool.function.name == *name);
        let chosen = tools.iter().enumerate().filter(|(_, tool)| is_chosen(tool));
        let place = |index| format!("tools[{index}]{within}.parameters");
        let tools: Vec<Callable> =
            chosen.map(|(index, tool)| Callable::of(tool, place(index))).collect();
        if let (Some(name), true) = (named, tools.is_empty()) {
            let name = slowburn::outside::quoted(name);
            let message = format!("tool_choice names {name}, which is none of the tools");
            return Err(ApiError::invalid("tool_choice", message));
        }
        let style = Style::of(pretrained);
        let id = |mark: &str| pretrained.tokenizer.special_id(mark);
        Ok(Some(Self {
            marks: style.marks.iter().filter_map(|&mark| Some((id(mark)?, mark))).collect(),
            prelude: style.prelude.and_then(id),
            style,
            tools,
            is_required: !matches!(choice, None | Some(ToolChoice::Mode(ToolMode::Auto))),
            is_parallel: is_parallel && style.has_room && named.is_none(),
        }))
    }

    /// The grammar of an answer, compiled. `format` says which answers are allowed that are no call.
    ///
    /// # Errors
    /// Parameters of a tool whose schema cannot be used; an answer that is not JSON.
    async fn compiled(
        &self,
        service: &Arc<Service>,
        format: Option<Format>,
    ) -> Result<Constraint, ApiError> {
        let schema = match &format {
            None => None,
            Some(Format { grammar: Grammar::JsonSchema(schema), .. }) => Some(schema),
            Some(Format { field, .. }) => {
                let message = format!(
                    "{field} and tools cannot be combined: an answer beside calls is text, or JSON by a schema"
                );
                return Err(ApiError::invalid(*field, message));
            }
        };
        let error = match formats::compile(service, self.grammar(schema)).await {
            Ok(constraint) => return Ok(constraint),
            Err(error) if !error.is_of_request() => return Err(error),
            Err(error) => error,
        };
        // One of its parts, by itself, says what is wrong with it.
        for tool in &self.tools {
            let part = Grammar::JsonSchema(Schema::from(tool.parameters.clone()));
            let problem = formats::compile(service, part).await;
            problem.map_err(|error| error.of(&tool.name).within(&tool.place))?;
        }
        if let Some(format) = format {
            format.compiled(service).await?;
        }
        Err(error.with_param("tools"))
    }
}

impl Callable {
    fn of(tool: &Tool, place: String) -> Self {
        let nothing = || json!({ "type": "object", "additionalProperties": false });
        let mut parameters = tool.function.parameters.clone().unwrap_or_else(nothing);
        if let Value::Object(fields) = &mut parameters {
            fields.entry("type").or_insert_with(|| json!("object"));
        }
        Self { name: tool.function.name.clone(), place, parameters }
    }
}

/// The grammar of an answer, compiled; None for any text. `format` says which answers are allowed that are
/// no call.
///
/// # Errors
/// Parameters of a tool, or a format, that cannot be used.
pub(super) async fn grammar(
    service: &Arc<Service>,
    toolbox: Option<&Toolbox>,
    format: Option<Format>,
) -> Result<Option<Constraint>, ApiError> {
    match toolbox {
        Some(toolbox) => Ok(Some(toolbox.compiled(service, format).await?)),
        None => formats::grammar(service, format).await,
    }
}

/// What divides the answer to a prompt. `has_format` says that an answer is bound to a form: then it has room
/// for a thought only before it, between marks that are tokens, and so has a call that the request requires.
pub(super) fn splitter(
    service: &Service,
    prompt: &[u32],
    toolbox: Option<&Toolbox>,
    has_format: bool,
) -> AnswerSplitter {
    let is_bound = has_format || toolbox.is_some_and(|toolbox| toolbox.is_required);
    let thoughts = service.pretrained.tokenizer.thoughts_after(prompt);
    // Where messages have headers, calls are found in them.
    let has_headers = toolbox.is_some_and(|toolbox| !toolbox.style.answer.is_empty());
    let thoughts = match is_bound && !thoughts.has_tokens() && !has_headers {
        true => Thoughts::none(),
        false => thoughts,
    };
    AnswerSplitter::new(thoughts, Splitter::new(toolbox))
}

/// A new name for a call, which the templates of all models take.
pub(super) fn call_id() -> String {
    short_id(Uuid::new_v4().as_u128())
}

/// A call for the library, whose arguments are as the client sent them.
pub(super) fn call(id: String, name: String, arguments: Value) -> ToolCall {
    ToolCall { id, function: FunctionCall { name, arguments } }
}

/// A message for a model without a chat template: its calls are lines of its text.
pub(super) fn in_text(message: &Message) -> Message {
    let call = |call: &ToolCall| {
        let FunctionCall { name, arguments } = &call.function;
        let arguments = match arguments.as_str() {
            Some(text) if text.trim().is_empty() => "{}".to_owned(),
            // On one line, whatever line breaks are in it.
            Some(text) => serde_json::from_str::<Value>(text)
                .map_or_else(|_| text.to_owned(), |arguments| arguments.to_string()),
            None if arguments.is_null() => "{}".to_owned(),
            None => arguments.to_string(),
        };
        format!(r#"{{"name": {}, "arguments": {arguments}}}"#, json!(name))
    };
    let calls = message.tool_calls.iter().map(call);
    let text = message.content.clone().filter(|text| !text.is_empty());
    let lines: Vec<String> = text.into_iter().chain(calls).collect();
    Message::new(message.role, lines.join("\n"))
}

/// Checks the tools of a request: their number, names and kinds of parameters.
///
/// # Errors
/// The first field that is wrong.
fn check(tools: &[Tool], within: &str) -> Result<(), ApiError> {
    if tools.len() > MOST {
        let message = format!("there are {} tools, but at most {MOST} are allowed", tools.len());
        return Err(ApiError::invalid("tools", message));
    }
    for (index, Tool { function, .. }) in tools.iter().enumerate() {
        let wrong = |field: &str, problem: &str| {
            let place = format!("tools[{index}]{within}.{field}");
            let message = format!("{place} {problem}");
            Err(ApiError::invalid(place, message))
        };
        let is_name = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        if !(1..=64).contains(&function.name.len()) || !function.name.chars().all(is_name) {
            return wrong("name", "must be 1 to 64 letters, digits, `_`, `-` or `.`");
        }
        if tools[..index].iter().any(|tool| tool.function.name == function.name) {
            return wrong("name", "is that of a tool before it");
        }
        match &function.parameters {
            Some(Value::Object(schema))
                if schema.get("type").is_none_or(|kind| kind == "object") => {}
            None => {}
            Some(_) => return wrong("parameters", "must be a schema with `\"type\": \"object\"`"),
        }
    }
    Ok(())
}
