//! How a conversation is written: what a request says of it, checked, for the library.

use std::collections::BTreeMap;

use slowburn::tokenizer::{ChatEnding, ChatOptions, Variable, check_variable};

use super::error::ApiError;
use super::service::Service;
use super::wire::{ChatMessage, TemplateOptions, WireRole};

/// The variables of a template that have fields of their own in a request.
const OWN_FIELDS: [&str; 6] = [
    "messages",
    "tools",
    "documents",
    "chat_template",
    "add_generation_prompt",
    "continue_final_message",
];

/// The options of a conversation.
///
/// # Errors
/// Fields that contradict each other; variables that a template cannot be given; fields that only a
/// template reads, for a model that has none.
pub(super) fn options(
    service: &Service,
    template: TemplateOptions,
    messages: &[ChatMessage],
    parse_special: bool,
) -> Result<ChatOptions, ApiError> {
    let ending = ending(&template, messages)?;
    if !service.pretrained.tokenizer.has_chat_template() {
        check_without_template(&template, messages)?;
    }
    let TemplateOptions {
        chat_template_kwargs,
        documents,
        reasoning_effort,
        enable_thinking,
        ..
    } = template;
    let mut variables = of_effort(reasoning_effort);
    if let Some(is_enabled) = enable_thinking {
        // DeepSeek's and Granite's templates have the shorter name.
        let names = ["enable_thinking", "thinking"].map(str::to_owned);
        variables.extend(names.map(|name| (name, Variable::from(is_enabled))));
    }
    if let Some(documents) = documents {
        let wrong = |_| {
            let message =
                "documents must be a list of objects, such as {\"title\": ..., \"text\": ...}";
            ApiError::invalid("documents", message)
        };
        check_variable("documents", &documents).map_err(wrong)?;
        variables.insert("documents".to_owned(), documents);
    }
    for (name, value) in chat_template_kwargs.into_iter().flatten() {
        let place = format!("chat_template_kwargs.{name}");
        if name == "chat_template" {
            let message = format!("`{place}` is not supported here: leave it out");
            return Err(ApiError::unsupported(place, message));
        }
        if OWN_FIELDS.contains(&&*name) {
            let message = format!("{place} has a field of its own: send it as `{name}`");
            return Err(ApiError::invalid(place, message));
        }
        variables.insert(name, value);
    }
    Ok(ChatOptions { variables, parse_special, ending, ..ChatOptions::default() })
}

/// The options of a conversation in `/v1/responses`.
///
/// # Errors
/// As [`options`].
pub(super) fn of_response(
    service: &Service,
    template: TemplateOptions,
) -> Result<ChatOptions, ApiError> {
    if template.reasoning_effort.is_some() && !service.pretrained.tokenizer.has_chat_template() {
        return Err(without_template("reasoning.effort".to_owned()));
    }
    options(service, template, &[], false)
}

fn of_effort(effort: Option<String>) -> BTreeMap<String, Variable> {
    let variable = |effort| ("reasoning_effort".to_owned(), Variable::from(effort));
    effort.map(variable).into_iter().collect()
}

/// How the conversation ends.
fn ending(template: &TemplateOptions, messages: &[ChatMessage]) -> Result<ChatEnding, ApiError> {
    let last = messages.len().saturating_sub(1);
    let mut is_prefix = false;
    for (index, message) in messages.iter().enumerate() {
        if message.prefix != Some(true) {
            continue;
        }
        if index != last || !matches!(message.role, WireRole::Assistant) {
            let place = format!("messages[{index}].prefix");
            let message = format!(
                "{place} is true, but only the last message can be continued, and only if it is the assistant's"
            );
            return Err(ApiError::invalid(place, message));
        }
        is_prefix = true;
    }
    let is_continued = template.continue_final_message.unwrap_or(is_prefix);
    if is_prefix && !is_continued {
        let message = "continue_final_message is false, but the last message has \"prefix\": true: leave out one of the two";
        return Err(ApiError::invalid("continue_final_message", message));
    }
    match (is_continued, template.add_generation_prompt) {
        (true, Some(true)) => {
            let message = "add_generation_prompt and a message to continue exclude each other: an answer is begun, or the last message goes on";
            Err(ApiError::invalid("add_generation_prompt", message))
        }
        (true, _) => Ok(ChatEnding::Continued),
        (false, Some(false)) => Ok(ChatEnding::Message),
        (false, _) => Ok(ChatEnding::Answer),
    }
}

/// Refuses what only a template reads.
fn check_without_template(
    template: &TemplateOptions,
    messages: &[ChatMessage],
) -> Result<(), ApiError> {
    let variables = template.chat_template_kwargs.as_ref();
    let mut messages = messages.iter().enumerate();
    let reasoning = messages.find_map(|(index, message)| Some((index, message.reasoning()?.0)));
    let field = if variables.is_some_and(|variables| !variables.is_empty()) {
        "chat_template_kwargs".to_owned()
    } else if template.documents.is_some() {
        "documents".to_owned()
    } else if template.enable_thinking.is_some() {
        "enable_thinking".to_owned()
    } else if template.reasoning_effort.is_some() {
        "reasoning_effort".to_owned()
    } else if let Some((index, name)) = reasoning {
        format!("messages[{index}].{name}")
    } else {
        return Ok(());
    };
    Err(without_template(field))
}

/// What is said of a field that only a chat template reads, where the model has none.
pub(super) fn without_template(field: String) -> ApiError {
    let message = format!(
        "`{field}` is for a chat template, and this model has none: leave it out, or serve a model that was trained for chat"
    );
    ApiError::unsupported(field, message)
}
