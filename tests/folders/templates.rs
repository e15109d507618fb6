//! What a folder says of conversations, as transformers writes it.

use slowburn::tokenizer::{ChatOptions, Message, Role};

use super::*;

/// Templates that write one special token each, and the token ids of a message by them.
#[test]
fn templates_and_special_tokens_are_read_from_their_files() {
    let folder = copy_of(&fixture("models/llama-gqa"));
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("chat_template.jinja", "{{ bos_token }}{{ messages[0].content }}");
    std::fs::create_dir(folder.path().join("additional_chat_templates")).unwrap();
    let named = |name: &str, text: &str| write(&format!("additional_chat_templates/{name}"), text);
    named("tool_use.jinja", "{{ eos_token }}{{ tools | length }}");
    named("rag.jinja", "{{ bos_token }}{{ eos_token }}");
    named("notes.txt", "{% no template %}");
    // The names of the two are the wrong way round, which no other file says.
    let map = json!({"bos_token": "</s>", "eos_token": {"content": "<s>", "lstrip": false}});
    write("special_tokens_map.json", &map.to_string());

    let pretrained = Pretrained::load(folder.path(), &device(), Precision::F32).unwrap();
    let template = pretrained.tokenizer.chat_template().unwrap();
    assert_eq!(template.names().collect::<Vec<_>>(), ["default", "rag", "tool_use"]);
    let bare = |text: &str| pretrained.tokenizer.encode_bare(text).unwrap();
    let with_tools = || ChatOptions {
        variables: [("tools".to_owned(), r#"[{"name": "add"}]"#.parse().unwrap())].into(),
        ..ChatOptions::default()
    };
    let rag = ChatOptions { template: Some("rag".to_owned()), ..ChatOptions::default() };
    for (options, expected) in [
        (ChatOptions::default(), [vec![1], bare("fox")].concat()),
        (with_tools(), [vec![0], bare("1")].concat()),
        (rag, vec![1, 0]),
    ] {
        let ids = pretrained.chat_ids(&[Message::new(Role::User, "fox")], &options).unwrap();
        assert_eq!(ids, expected, "{options:?}");
    }
}
