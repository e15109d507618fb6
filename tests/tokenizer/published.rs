//! Chat templates as they are published give what transformers makes of them, or fail where it fails.

use std::collections::BTreeMap;

use serde::Deserialize;
use slowburn::tokenizer::{ChatEnding, FunctionCall, SpecialTokens, ToolCall, Variable};

use super::*;

#[derive(Deserialize)]
struct Conversation {
    messages: Vec<Sent>,
    variables: BTreeMap<String, Variable>,
}

#[derive(Deserialize)]
struct Sent {
    role: Role,
    content: Option<String>,
    #[serde(default)]
    tool_calls: Vec<SentCall>,
    tool_call_id: Option<String>,
    name: Option<String>,
    reasoning: Option<String>,
}

#[derive(Deserialize)]
struct SentCall {
    id: String,
    function: SentFunction,
}

#[derive(Deserialize)]
struct SentFunction {
    name: String,
    arguments: Value,
}

/// A template, with a text for each conversation, or none where transformers fails.
#[derive(Deserialize)]
struct Published {
    name: String,
    template: String,
    texts: Vec<Option<String>>,
}

fn message(sent: &Sent) -> Message {
    let call = |SentCall { id, function }: &SentCall| {
        let SentFunction { name, arguments } = function;
        let function = FunctionCall { name: name.clone(), arguments: arguments.clone() };
        ToolCall { id: id.clone(), function }
    };
    Message {
        role: sent.role,
        content: sent.content.clone(),
        tool_calls: sent.tool_calls.iter().map(call).collect(),
        tool_call_id: sent.tool_call_id.clone(),
        name: sent.name.clone(),
        reasoning: sent.reasoning.clone(),
    }
}

#[test]
fn published_templates_render_as_in_transformers_or_fail_as_there() {
    let text = std::fs::read_to_string(fixture("chat/published.jsonl")).unwrap();
    let mut lines = text.lines();
    let conversations: Vec<Conversation> = serde_json::from_str(lines.next().unwrap()).unwrap();
    let special: SpecialTokens =
        [("bos_token", "<s>"), ("eos_token", "</s>")].map(|(k, v)| (k.into(), v.into())).into();
    let now = jiff::civil::date(2025, 3, 9).at(14, 5, 0, 0);
    let (mut templates, mut failed) = (0, Vec::new());
    for line in lines {
        let Published { name, template, texts } = serde_json::from_str(line).unwrap();
        let template = ChatTemplate::new(template, &*name);
        assert_eq!(texts.len(), conversations.len(), "{name}");
        templates += 1;
        for (index, (conversation, expected)) in conversations.iter().zip(&texts).enumerate() {
            let mut variables = conversation.variables.clone();
            // The one that the options have a field for.
            let ending = match variables.remove("add_generation_prompt") {
                Some(_) => ChatEnding::Message,
                None => ChatEnding::Answer,
            };
            let messages: Vec<Message> = conversation.messages.iter().map(message).collect();
            let options =
                ChatOptions { variables, now: Some(now), ending, ..ChatOptions::default() };
            let found = template.render(&messages, &special, &options);
            if found.as_ref().ok() != expected.as_ref() {
                failed.push(format!("{name}, {index}\n  is    {expected:?}\n  gives {found:?}"));
            }
        }
    }
    assert!(templates >= 15, "{templates}");
    assert!(failed.is_empty(), "{} differ:\n{}", failed.len(), failed.join("\n"));
}
