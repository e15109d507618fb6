//! The bundled model that talks: its template, its special tokens, and a conversation.

use std::ops::ControlFlow;
use std::path::Path;

use slowburn::device::{self, DeviceChoice, Precision};
use slowburn::generate::{self, FinishReason, Options};
use slowburn::pretrained::Pretrained;
use slowburn::sampling::SamplingParams;
use slowburn::tokenizer::{ChatOptions, Message, Role};

fn spark() -> Pretrained {
    let device = device::open(DeviceChoice::Cpu).unwrap();
    Pretrained::bundled_chat(&device, Precision::F32).unwrap()
}

fn ids(spark: &Pretrained, messages: &[(Role, &str)]) -> Vec<u32> {
    let messages: Vec<Message> =
        messages.iter().map(|(role, text)| Message::new(*role, *text)).collect();
    spark.chat_ids(&messages, &ChatOptions::default()).unwrap()
}

#[test]
fn it_is_small() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/spark/model.gguf");
    assert!(file.metadata().unwrap().len() <= 2 << 20);
}

#[test]
fn only_the_template_writes_special_tokens() {
    const SPECIAL: [&str; 5] = [
        "<|begin|>",
        "<|end|>",
        "<|system|>",
        "<|user|>",
        "<|assistant|>",
    ];
    let spark = spark();
    assert_eq!(spark.model.config().bos_token_id, Some(0));
    assert_eq!(spark.model.config().eos_token_ids, [1]);
    let told = SPECIAL.concat();
    let written = ids(
        &spark,
        &[
            (Role::System, "You are Finn, a fox."),
            (Role::User, &told),
            (Role::Assistant, " Hello! "),
            (Role::User, "Who?"),
        ],
    );
    let special: Vec<u32> = written.iter().copied().filter(|id| *id < 5).collect();
    assert_eq!(special, [0, 2, 3, 4, 1, 3, 4]);
    let text = spark.tokenizer.decode(&written).unwrap();
    assert_eq!(text, format!("You are Finn, a fox.{told}Hello!Who?"));
    for (id, token) in (0..).zip(SPECIAL) {
        assert_eq!(spark.tokenizer.token(id).as_deref(), Some(token));
    }
}

/// What it says about itself, and what it was told before, in three turns.
#[test]
fn it_holds_a_conversation_of_three_turns() {
    let spark = spark();
    let sampling = SamplingParams { temperature: 0.0, ..SamplingParams::default() };
    let options = Options { max_tokens: 60, sampling, ..Options::default() };
    let mut said: Vec<(Role, String)> = Vec::new();
    let mut answers = Vec::new();
    for question in [
        "Hello, my name is Konrad.",
        "Where do you live?",
        "What is my name?",
    ] {
        said.push((Role::User, question.to_owned()));
        let messages: Vec<(Role, &str)> =
            said.iter().map(|(role, text)| (*role, text.as_str())).collect();
        let prompt = ids(&spark, &messages);
        let go_on = &mut |_: &generate::Chosen<'_>| ControlFlow::Continue(());
        let generation = generate::cached(&spark.model, &prompt, &options, go_on).unwrap();
        assert_eq!(generation.finish_reason, FinishReason::Eos);
        let answer = spark.tokenizer.decode(&generation.ids).unwrap();
        said.push((Role::Assistant, answer.clone()));
        answers.push(answer);
    }
    assert_eq!(
        answers,
        [
            "Nice to meet you, Konrad.",
            "I live in a den under the old oak.",
            "Your name is Konrad."
        ]
    );
}
