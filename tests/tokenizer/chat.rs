//! Chat templates give what transformers makes of them, and fail with an error.

use std::collections::BTreeMap;

use slowburn::RequestError;
use slowburn::tokenizer::{FunctionCall, SpecialTokens, ToolCall};

use super::*;

fn special_tokens() -> SpecialTokens {
    [("bos_token", "<s>"), ("eos_token", "</s>")].map(|(k, v)| (k.into(), v.into())).into()
}

fn message(json: &Value) -> Message {
    let role: Role = serde_json::from_value(json["role"].clone()).unwrap();
    Message::new(role, json["content"].as_str().unwrap())
}

/// An assistant's message that calls a tool, and says nothing.
fn call(arguments: Value) -> Message {
    let function = FunctionCall { name: "feed".to_owned(), arguments };
    Message {
        content: None,
        tool_calls: vec![ToolCall { id: "call_0123456789".to_owned(), function }],
        ..Message::new(Role::Assistant, "")
    }
}

/// The conversation of a tool, as a template writes it that can take one of its forms.
fn write_call(source: &str, arguments: Value) -> String {
    let template = ChatTemplate::new(source, "test.jinja");
    let answer = Message {
        tool_call_id: Some("call_0123456789".to_owned()),
        ..Message::new(Role::Tool, "fed")
    };
    let messages = [
        Message::new(Role::User, "Feed it."),
        call(arguments),
        answer,
    ];
    let adapted = template.adapt(&messages, &special_tokens(), &ChatOptions::default());
    template.render(&adapted, &special_tokens(), &ChatOptions::default()).unwrap()
}

/// Each of these is read by the templates of some models, and by those of others not.
#[test]
fn a_template_gets_calls_in_a_form_that_it_can_take() {
    let before = "{% for m in messages %}{% for c in m.tool_calls or [] %}{% set f = c.function %}";
    let after = "{% endfor %}{% endfor %}";
    let with = |body: &str| format!("{before}{body}{after}");
    let text = json!(r#"{"n": 1.0, "a": "é"}"#);
    let object = json!({"n": 1.0, "a": "é"});
    for (body, expected) in [
        // As a text, in a way that Python prints a dictionary otherwise, or fails.
        ("{{ f.arguments }}", r#"{"n": 1.0, "a": "é"}"#),
        ("{{ 'x' + f.arguments }}", r#"x{"n": 1.0, "a": "é"}"#),
        // As an object, where a text would be a text in quotes, fail or be left out.
        ("{{ f.arguments | tojson }}", r#"{"n": 1.0, "a": "é"}"#),
        ("{{ f | tojson }}", r#"{"name": "feed", "arguments": {"n": 1.0, "a": "é"}}"#),
        (
            "{% for k, v in f.arguments | items %}{{ k }}={{ v }};{% endfor %}",
            "n=1.0;a=é;",
        ),
        (
            "{% if f.arguments is mapping %}{{ f.arguments | tojson }}{% endif %}",
            r#"{"n": 1.0, "a": "é"}"#,
        ),
        // By the names of its fields.
        ("{{ f.name }}({{ f.arguments.a }})", "feed(é)"),
        ("{{ f.arguments['n'] }}", "1.0"),
    ] {
        for arguments in [&text, &object] {
            let found = write_call(&with(body), arguments.clone());
            // An object is written as Rust writes JSON where a template wants a text.
            let found = found.replace(r#""n":1.0,"a":"#, r#""n": 1.0, "a": "#);
            assert_eq!(found, expected, "{body}, {arguments}");
        }
    }
    // What a template takes in either form stays as it was sent.
    let either = "{{ f.arguments if f.arguments is string else f.arguments | tojson }}";
    assert_eq!(write_call(&with(either), json!(r#"{"n":  1}"#)), r#"{"n":  1}"#);
    assert_eq!(write_call(&with(either), json!({"n": 1})), r#"{"n": 1}"#);
    // None are an object without any, and what is no JSON stays.
    for nothing in [json!(""), json!(" "), json!(null)] {
        assert_eq!(write_call(&with("{{ f.arguments | tojson }}"), nothing.clone()), "{}");
        assert_eq!(write_call(&with("{{ 'x' + f.arguments }}"), nothing), "x{}");
    }
    assert_eq!(write_call(&with("{{ f.arguments }}"), json!("{\"n")), "{\"n");
    // A template without tools sees the conversation as it is.
    assert_eq!(
        write_call("{% for m in messages %}{{ m.role }} {% endfor %}", text),
        "user assistant tool "
    );
}

#[test]
fn a_template_gets_no_content_as_it_can_take_it() {
    let calls = "{% for c in m.tool_calls or [] %}{{ c.function.arguments }}{% endfor %}";
    for (body, expected) in [
        // `none`, by which some tell a call from an answer.
        ("{% if m.content is none %}CALLS{% else %}{{ m.content }}{% endif %}", "CALLS"),
        // A text, where `none` would be printed or fail.
        ("{{ m.content }}", ""),
        ("{{ '' + m.content }}", ""),
        ("{{ m.content | trim }}", ""),
    ] {
        let source = format!(
            "{{% for m in messages if m.role == 'assistant' %}}{body}{calls}{{% endfor %}}"
        );
        assert_eq!(write_call(&source, json!("{}")), format!("{expected}{{}}"), "{body}");
    }
}

/// Templates of Mistral refuse calls by any other names than nine letters and digits.
#[test]
fn a_template_gets_short_names_of_calls_only_where_it_takes_no_others() {
    let id = "{% for m in messages %}{% for c in m.tool_calls or [] %}{{ c.id }}{{ c.function.arguments }}\
              {% endfor %}{{ m.tool_call_id }}{% endfor %}";
    assert_eq!(write_call(id, json!("{}")), "call_0123456789{}call_0123456789");
    let strict = format!(
        "{id}{{% for m in messages %}}{{% if m.tool_call_id and m.tool_call_id | length != 9 %}}\
         {{{{ raise_exception('nine') }}}}{{% endif %}}{{% endfor %}}"
    );
    let written = write_call(&strict, json!("{}"));
    let (call, answer) = written.split_once("{}").unwrap();
    assert_eq!(call, answer);
    assert!(
        call.len() == 9 && call.bytes().all(|byte| byte.is_ascii_alphanumeric()),
        "{call}"
    );
    let [a, b] = [0, u128::MAX].map(slowburn::tokenizer::short_id);
    assert!(a != b && b.len() == 9, "{a}, {b}");
}

/// The moment at which the fixtures were written.
fn then() -> ChatOptions {
    let now = jiff::civil::date(2025, 3, 9).at(14, 5, 0, 0);
    ChatOptions { now: Some(now), ..ChatOptions::default() }
}

fn render(source: &str, options: &ChatOptions) -> slowburn::Result<String> {
    let messages = [Message::new(Role::User, "Hello")];
    ChatTemplate::new(source, "test.jinja").render(&messages, &special_tokens(), options)
}

#[test]
fn templates_render_as_in_transformers() {
    let cases = read_json(&fixture("chat/expected.json"));
    let mut failed = Vec::new();
    for case in cases.as_array().unwrap() {
        let name = case["template"].as_str().unwrap();
        let path = fixture(&format!("chat/{name}.jinja"));
        let template = ChatTemplate::new(std::fs::read_to_string(path).unwrap(), name);
        let messages: Vec<_> = case["messages"].as_array().unwrap().iter().map(message).collect();
        let variables = serde_json::from_value(case["variables"].clone()).unwrap();
        let options = ChatOptions { variables, ..then() };
        let found = template.render(&messages, &special_tokens(), &options);
        let same = match (&found, case["text"].as_str()) {
            (Ok(text), Some(expected)) => text == expected,
            (Err(error), None) => error.to_string().contains(case["error"].as_str().unwrap()),
            _ => false,
        };
        if !same {
            failed.push(format!("{case:#}\ngave {found:#?}"));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Without a date a template can notice that, and otherwise fails.
#[test]
fn a_template_can_do_without_a_date() {
    let source = "{% if strftime_now is defined %}{{ strftime_now('%-d %B %Y, %H:%M') }}\
                  {% else %}no date{% endif %}";
    assert_eq!(render(source, &then()).unwrap(), "9 March 2025, 14:05");
    assert_eq!(render(source, &ChatOptions::default()).unwrap(), "no date");
    let error = render("{{ strftime_now('%Y') }}", &ChatOptions::default()).unwrap_err();
    assert!(error.to_string().contains("strftime_now"), "{error}");
}

/// As in Jinja, and other than in the engine by itself.
#[test]
fn a_macro_may_set_a_namespace_that_it_does_not_read() {
    let source = "{% set ns = namespace(x=1, y=1) %}\
        {% macro m() %}{% set ns.x = 2 %}{% set ns.y %}3{% endset %}{% endmacro %}{{ m() }}{{ ns.x }}{{ ns.y }}";
    assert_eq!(render(source, &then()).unwrap(), "23");
}

/// These mark the assistant's tokens for training.
#[test]
fn the_tags_of_a_generation_have_no_effect() {
    let source = "a{%- generation %}{% set x = 1 %}b{%endgeneration%}{{ x is defined }}\
        {# {% generation %} #}{{ '{% generation %}' }}{% raw %}{% generation %}{% endraw %}";
    assert_eq!(render(source, &then()).unwrap(), "abFalse{% generation %}{% generation %}");
}

#[test]
fn templates_that_fail_give_an_error_that_names_them() {
    let deep = "{{ ".to_owned() + &"(".repeat(10_000);
    let endless = "{% for a in range(9999) %}{% for b in range(9999) %}x{% endfor %}{% endfor %}";
    for (source, message) in [
        ("{{ raise_exception('only\\nadults') }}", "only adults"),
        ("{% for %}", "syntax error"),
        ("{% if true %}", "syntax error"),
        (deep.as_str(), "an expression"),
        ("{% generation %}", "syntax error"),
        (
            "{{ messages.nothing.more }}",
            "a value is undefined, at `messages.nothing.more` in its line 1",
        ),
        (
            "{% for m in messages %}\n{{ m.tool.name + 1 }}{% endfor %}",
            "at `m.tool.name` in its line 2",
        ),
        ("{{ no_such_function() }}", "no_such_function"),
        ("{{ 'x' | no_such_filter }}", "no_such_filter"),
        ("{{ 'x'.no_such_method() }}", "no_such_method"),
        ("{{ strftime_now('%!') }}", "unrecognized"),
        ("{{ 1 | tojson(indent=1000000000) }}", "too much work"),
        ("{{ 1 | tojson(nothing=true) }}", "nothing"),
        ("{{ 1 | tojson(separators=[1]) }}", "separators"),
        ("{{ 1 // 0 }}", "1 // 0"),
        ("{% include 'other' %}", "`include` is not supported"),
        (endless, "fuel"),
        (
            "{% set s = 'x' * 1000000 %}{% for a in range(100) %}{{ s }}{% endfor %}",
            "it writes more than",
        ),
        ("{{ 'x' * 200000001 }}", "too much work"),
    ] {
        let error = render(source, &then()).unwrap_err();
        assert!(
            matches!(error, Error::Request(RequestError::ChatTemplate { .. })),
            "{source}: {error:?}"
        );
        let text = error.to_string();
        assert!(text.starts_with("test.jinja: the chat template"), "{text}");
        assert!(text.contains(message), "{source}: `{message}` is not in: {text}");
        assert_eq!(text.lines().count(), 1, "{source}: {text}");
    }
}

/// Every role reaches the template by its name. A template that does not know it raises, or writes
/// it, or leaves the message out, as in transformers.
#[test]
fn a_template_gets_every_role_by_its_name() {
    let source = "{% for m in messages %}{{ m.role }}:{{ m.content }};{% endfor %}";
    let roles = ["system", "developer", "user", "assistant", "tool"];
    let role = |name: &str| serde_json::from_value::<Role>(json!(name)).unwrap();
    let messages: Vec<_> = roles.iter().map(|name| Message::new(role(name), "x")).collect();
    let render = |source: &str, messages: &[Message]| {
        let options = ChatOptions::default();
        ChatTemplate::new(source, "test.jinja").render(messages, &special_tokens(), &options)
    };
    assert_eq!(
        render(source, &messages).unwrap(),
        "system:x;developer:x;user:x;assistant:x;tool:x;"
    );
    let strict = "{% for m in messages %}{% if m.role not in ['system', 'user'] %}\
                  {{ raise_exception('no ' + m.role) }}{% endif %}{{ m.role }};{% endfor %}";
    let error = render(strict, &messages).unwrap_err().to_string();
    assert!(error.contains("no developer"), "{error}");
    assert!(serde_json::from_value::<Role>(json!("robot")).is_err());
}

#[test]
fn what_a_developer_says_is_the_systems_where_the_template_knows_no_developer() {
    let plain = "{% for m in messages %}{{ m.role }} {% endfor %}";
    let knows = "{% for m in messages %}{{ m.role }} {% if m.role == 'developer' %}!{% endif %}{% endfor %}";
    let messages = [Role::Developer, Role::User].map(|role| Message::new(role, "Hello"));
    for (source, expected) in [(plain, "system user "), (knows, "developer !user ")] {
        let template = ChatTemplate::new(source, "test.jinja");
        let tokenizer = read_tokenizer("byte-level", |_| ()).with_chat_template(template.clone());
        let ids = tokenizer.encode_chat(&messages, &ChatOptions::default()).unwrap();
        assert_eq!(ids, tokenizer.encode(expected).unwrap());
        let adapted = template.adapt(&messages, &special_tokens(), &ChatOptions::default());
        assert_eq!(adapted[0].content.as_deref(), Some("Hello"));
    }
    // Of two programs, the one that is run must know it.
    let with_tools = with_variable("tools", "[]");
    for (default, tool_use, without, with) in [
        (plain, knows, "system user ", "developer !user "),
        (knows, plain, "developer !user ", "system user "),
    ] {
        let config = json!({"chat_template": [
            {"name": "default", "template": default},
            {"name": "tool_use", "template": tool_use},
        ]});
        let tokenizer = with_config(read_tokenizer("byte-level", |_| ()), &config);
        for (options, expected) in [(&ChatOptions::default(), without), (&with_tools, with)] {
            let ids = tokenizer.encode_chat(&messages, options).unwrap();
            assert_eq!(ids, tokenizer.encode(expected).unwrap(), "{default}, {tool_use}");
        }
    }
}

#[test]
fn the_template_comes_from_either_file() {
    let plain = read_tokenizer("byte-level", |_| ());
    assert!(matches!(
        encode_hello(&plain),
        Err(Error::Request(RequestError::NoChatTemplate))
    ));
    assert!(matches!(
        encode_hello(&with_config(plain.clone(), &json!({"chat_template": null}))),
        Err(Error::Request(RequestError::NoChatTemplate))
    ));

    let one = json!({"chat_template": "a{{ messages[0].content }}"});
    let several = json!({"chat_template": [
        {"name": "tool_use", "template": "wrong"},
        {"name": "default", "template": "a{{ messages[0].content }}"},
    ]});
    let file = ChatTemplate::new("b{{ messages[0].content }}", "chat_template.jinja");
    for config in [one, several] {
        let tokenizer = with_config(plain.clone(), &config);
        assert_eq!(encode_hello(&tokenizer).unwrap(), plain.encode("aHello").unwrap());
        let tokenizer = tokenizer.with_chat_template(file.clone());
        assert_eq!(encode_hello(&tokenizer).unwrap(), plain.encode("bHello").unwrap());
    }
    let without_default = json!({"chat_template": [{"name": "rag", "template": "wrong"}]});
    let tokenizer = with_config(plain.clone(), &without_default);
    assert!(matches!(
        encode_hello(&tokenizer),
        Err(Error::Request(RequestError::NoChatTemplate))
    ));
}

#[test]
fn configurations_of_another_kind_are_refused() {
    for text in [
        "",
        "[]",
        "{\"bos_token\": 3}",
        "{\"bos_token\": {\"id\": 3}}",
        "{\"chat_template\": 1}",
        "{\"chat_template\": [\"x\"]}",
    ] {
        let tokenizer = read_tokenizer("byte-level", |_| ());
        let error = tokenizer.with_config(text.as_bytes(), "tokenizer_config.json").unwrap_err();
        assert!(error.to_string().starts_with("tokenizer_config.json"), "{text}: {error}");
    }
}

/// What Python's jinja2 makes of each, in the environment of transformers: a text, or an error.
#[test]
fn fragments_of_templates_render_as_in_python() {
    let fixture = read_json(&fixture("chat/fragments.json"));
    let cases: Vec<(String, Option<String>)> =
        serde_json::from_value(fixture["cases"].clone()).unwrap();
    assert!(cases.len() > 1000);
    let variables = serde_json::from_value(fixture["variables"].clone()).unwrap();
    let options = ChatOptions { variables, ..then() };
    let mut failed = Vec::new();
    for (source, expected) in cases {
        let found = ChatTemplate::new(&source, "test.jinja").render(
            &[Message::new(Role::User, "Hello")],
            &SpecialTokens::new(),
            &options,
        );
        if found.as_ref().ok() != expected.as_ref() {
            failed.push(format!("{source}\n  is    {expected:?}\n  gives {found:?}"));
        }
    }
    assert!(failed.is_empty(), "{} differ:\n{}", failed.len(), failed.join("\n"));
}

fn with_variable(name: &str, value: &str) -> ChatOptions {
    let Ok(value) = value.parse();
    let variables = BTreeMap::from([(name.to_owned(), value)]);
    ChatOptions { variables, ..ChatOptions::default() }
}

/// As in transformers: lists of objects, in their order, and `none` where there are none.
#[test]
fn tools_and_documents_reach_the_template() {
    let source = "{{ tools | tojson }} {{ documents[0].title if documents else documents }}";
    assert_eq!(render(source, &ChatOptions::default()).unwrap(), "null None");
    let tools = r#"[{"type": "function", "function": {"name": "add", "a": 1.5}}]"#;
    let text = render(source, &with_variable("tools", tools)).unwrap();
    assert_eq!(text, format!("{tools} None"));
    let documents = r#"[{"title": "One", "text": "..."}]"#;
    assert_eq!(render(source, &with_variable("documents", documents)).unwrap(), "null One");
    assert_eq!(render(source, &with_variable("tools", "[]")).unwrap(), "[] None");
    for name in ["tools", "documents"] {
        for value in ["x", "{}", "[1]", "[\"x\"]", "[{}, 1]", "null"] {
            let error = render(source, &with_variable(name, value)).unwrap_err();
            assert!(matches!(error, Error::Request(RequestError::Parameter { .. })), "{error:?}");
            let text = error.to_string();
            assert!(
                text.contains(&format!("`{name}`")) && text.contains("list"),
                "{value}: {text}"
            );
        }
    }
}

/// As in transformers, which takes a list without any tools for tools too.
#[test]
fn conversations_with_tools_may_have_a_template_of_their_own() {
    let config = json!({"chat_template": [
        {"name": "default", "template": "a{{ messages[0].content }}"},
        {"name": "tool_use", "template": "\nb{{ tools | length }}"},
    ]});
    let tokenizer = with_config(read_tokenizer("byte-level", |_| ()), &config);
    let messages = [Message::new(Role::User, "Hello")];
    let file = ChatTemplate::new("c{{ tools | length }}", "chat_template.jinja");
    let replaced = tokenizer.clone().with_chat_template(file);
    for (tokenizer, options, text) in [
        (&tokenizer, ChatOptions::default(), "aHello"),
        (&tokenizer, with_variable("tools", r#"[{"name": "add"}]"#), "\nb1"),
        (&tokenizer, with_variable("tools", "[]"), "\nb0"),
        (&replaced, with_variable("tools", "[]"), "c0"),
    ] {
        let ids = tokenizer.encode_chat(&messages, &options).unwrap();
        assert_eq!(ids, tokenizer.encode(text).unwrap(), "{text}");
    }
}

#[test]
fn a_template_of_another_name_is_used_by_it() {
    let template =
        ChatTemplate::new("a", "test.jinja").with_named("rag", "b").with_named("tool_use", "c");
    assert_eq!(template.names().collect::<Vec<_>>(), ["default", "rag", "tool_use"]);
    let messages = [Message::new(Role::User, "Hello")];
    let render = |name: Option<&str>, options: ChatOptions| {
        let options = ChatOptions { template: name.map(str::to_owned), ..options };
        template.render(&messages, &SpecialTokens::new(), &options)
    };
    assert_eq!(render(None, ChatOptions::default()).unwrap(), "a");
    assert_eq!(render(Some("rag"), ChatOptions::default()).unwrap(), "b");
    assert_eq!(render(None, with_variable("tools", "[]")).unwrap(), "c");
    assert_eq!(render(Some("default"), with_variable("tools", "[]")).unwrap(), "a");
    let error = render(Some("no"), ChatOptions::default()).unwrap_err().to_string();
    assert!(error.contains("`no`"), "{error}");
}

/// transformers writes it into a folder beside the default.
#[test]
fn a_named_template_of_a_file_is_used_for_tools() {
    let tokenizer = read_tokenizer("byte-level", |_| ());
    let file = ChatTemplate::new("a{{ messages[0].content }}", "chat_template.jinja");
    let tokenizer =
        tokenizer.with_chat_template(file).with_named_template("tool_use", "b", "tool_use.jinja");
    let messages = [Message::new(Role::User, "Hello")];
    for (options, text) in [
        (ChatOptions::default(), "aHello"),
        (with_variable("tools", "[]"), "b"),
    ] {
        let ids = tokenizer.encode_chat(&messages, &options).unwrap();
        assert_eq!(ids, tokenizer.encode(text).unwrap());
    }
}

/// What the conversation decides is not replaced, and not dropped without a word.
#[test]
fn variables_that_the_conversation_decides_are_refused() {
    for (name, value) in [("messages", "[]"), ("add_generation_prompt", "false")] {
        let error = render("x", &with_variable(name, value)).unwrap_err();
        assert!(matches!(error, Error::Request(RequestError::Parameter { .. })), "{error:?}");
        assert!(error.to_string().contains(&format!("`{name}`")), "{error}");
    }
    let switch = with_variable("switch", r#"{"on": true}"#);
    assert_eq!(render("{{ switch.on }} {{ eos_token }}", &switch).unwrap(), "True </s>");
    // As in transformers, a special token is a variable like any other.
    assert_eq!(render("{{ eos_token }}", &with_variable("eos_token", "!")).unwrap(), "!");
}
