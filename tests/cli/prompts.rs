//! What a text begins with.

use super::*;

#[test]
fn no_prompt_starts_from_the_begin_of_sequence_token() {
    for prompt in [["--prompt", ""], ["--prompt-ids", ""]] {
        for name in [NAIVE, CACHED] {
            let report = succeed_in_json(name, &[&prompt[..], &SHORT].concat());
            assert_eq!(report["prompt_ids"], json!([0]), "{name} {prompt:?}");
        }
        let model = llama_gqa();
        let args = [&prompt[..], &["--model", model.to_str().unwrap()], &SHORT].concat();
        assert_eq!(succeed_in_json(CACHED, &args)["prompt_ids"], json!([0]), "{prompt:?}");
    }
}

#[test]
fn no_prompt_and_no_token_to_begin_with_exits_with_2() {
    let folder = copy_with_config(&llama_gqa(), |config| {
        // Without the field it would be 1, as in transformers.
        config["bos_token_id"] = Value::Null;
    });
    write(folder.path(), "generation_config.json", b"{}");
    for prompt in [["--prompt", ""], ["--prompt-ids", ""]] {
        let args = [&prompt[..], &["--model", folder.path().to_str().unwrap()]].concat();
        fail(CACHED, &args, 2, "the prompt is empty");
    }
}

#[test]
fn a_model_without_a_chat_template_is_not_asked() {
    for name in [NAIVE, CACHED] {
        fail(name, &["--chat"], 2, "this model has no chat template");
        let model = llama_gqa();
        let args = ["--chat", "--model", model.to_str().unwrap(), "--json"];
        fail(name, &args, 2, "this model has no chat template");
    }
}

#[test]
fn a_chat_prompt_is_what_the_template_makes_of_it() {
    let folder = chat_model(
        "{{ bos_token }}{% for m in messages %}{{ m.role[0] ~ m.content }}{% endfor %}\
         {{ loud if loud is defined }}{{ tools[0].name if tools }}",
    );
    let model = folder.path().to_str().unwrap();
    let tokenizer = load("llama-gqa", &device()).tokenizer;
    for (args, text) in [
        (&["--chat", "--prompt", "one"][..], "uone"),
        (&["--chat", "--prompt", "one", "--system", "two"], "stwouone"),
        (&["--chat", "--prompt", "one", "--chat-arg", "loud=3"], "uone3"),
        (&["--chat", "--prompt", "one", "--chat-arg", "loud=a=b"], "uonea=b"),
        (
            &[
                "--chat",
                "--prompt",
                "one",
                "--chat-arg",
                r#"tools=[{"name": "add"}]"#,
            ],
            "uoneadd",
        ),
    ] {
        let expected = [&[0][..], &tokenizer.encode(text).unwrap()].concat();
        for name in [NAIVE, CACHED] {
            let args = [args, &["--model", model], &SHORT].concat();
            assert_eq!(succeed_in_json(name, &args)["prompt_ids"], json!(expected), "{args:?}");
        }
    }
    for argument in [
        "messages=[]",
        "add_generation_prompt=false",
        "tools=3",
        "documents=[1]",
    ] {
        let args = ["--chat", "--model", model, "--chat-arg", argument];
        fail_in_clap(CACHED, &args, argument.split('=').next().unwrap());
    }
    // `chat_template.jinja` comes first.
    write(folder.path(), "chat_template.jinja", b"{{ messages[0].content }}!");
    let args = [&["--chat", "--prompt", "one", "--model", model], &SHORT[..]].concat();
    let expected = tokenizer.encode("one!").unwrap();
    assert_eq!(succeed_in_json(CACHED, &args)["prompt_ids"], json!(expected));
}

/// Of a conversation, only the answer is shown.
#[test]
fn a_chat_prints_the_answer_alone() {
    let folder = chat_model("{{ bos_token }}{{ messages[0].content }}");
    let model = folder.path().to_str().unwrap();
    let args = [&["--chat", "--prompt", "one", "--model", model], &SHORT[..]].concat();
    for name in [NAIVE, CACHED] {
        let report = succeed_in_json(name, &args);
        let text = report["text"].as_str().unwrap();
        assert!(!text.is_empty());
        assert_eq!(succeed(name, &args), format!("{text}\n"));
    }
}

#[test]
fn a_chat_template_that_fails_exits_with_1() {
    for template in [
        "{{ raise_exception('say please') }}",
        "{% if %}",
        "{{ nothing.more }}",
    ] {
        let folder = chat_model(template);
        let model = folder.path().to_str().unwrap();
        fail(CACHED, &["--chat", "--model", model], 1, "tokenizer_config.json");
        // It does not stand in the way of a text.
        succeed(CACHED, &[&["--model", model], &SHORT[..]].concat());
    }
    let folder = chat_model("");
    write(folder.path(), "tokenizer_config.json", b"{");
    fail(
        CACHED,
        &["--model", folder.path().to_str().unwrap()],
        1,
        "tokenizer_config.json",
    );
}
