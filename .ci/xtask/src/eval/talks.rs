//! `cargo xtask talks`: whether the bundled model that talks, or another, keeps to what was said.
//!
//! The questions are in words that the corpus does not have, and the names too.

use std::ops::ControlFlow;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use slowburn::device::{self, DeviceChoice, Precision};
use slowburn::generate::{self, FinishReason, Options};
use slowburn::pretrained::Pretrained;
use slowburn::sampling::SamplingParams;
use slowburn::tokenizer::{ChatOptions, Message, Role};

use crate::corpus::talk::words::{Mood, moods as all_moods};

#[derive(Args)]
pub struct TalksArgs {
    /// The model: a folder or a file
    #[arg(long, default_value = "models/spark/model.gguf")]
    model: PathBuf,
    /// Temperature of the answers; 0 takes the most likely token
    #[arg(long, default_value_t = 0.0)]
    temperature: f32,
    /// Print this many of the conversations that fail, of each kind
    #[arg(long, default_value_t = 0)]
    show: usize,
}

/// Who answers: name, kind and home.
const PERSONAS: &[(&str, &str, &str)] = &[
    ("Mortimer", "badger", "near the mill"),
    ("Bella", "cat", "in the orchard"),
    ("Figaro", "frog", "by the pond"),
    ("Winifred", "hedgehog", "behind the barn"),
    ("Casper", "mouse", "in a castle"),
    ("Dolly", "duck", "beside the stream"),
    ("Humphrey", "bear", "on the windy hill"),
    ("Minka", "squirrel", "under the old oak"),
    ("Rollo", "dog", "at the end of the lane"),
    ("Tabitha", "owl", "by the stone wall"),
    ("Fergus", "goat", "in the mountains"),
    ("Lottie", "rabbit", "on the moon"),
];

/// What people are called, and what they like.
const PEOPLE: &[(&str, &str)] = &[
    ("Konrad", "peaches"),
    ("Beatrice", "tea"),
    ("Malik", "chess"),
    ("Ingrid", "walnuts"),
    ("Otis", "drums"),
    ("Paloma", "lemonade"),
    ("Zeno", "mushrooms"),
    ("Florence", "kites"),
    ("Jasper", "plums"),
    ("Mirabel", "snow"),
];

/// What is outside of its world.
const OUTSIDE: &[&str] = &[
    "What is the capital of Norway?",
    "Write a C program that reverses a string",
    "how do i install windows",
    "Who painted the Mona Lisa?",
    "What's 17 * 23?",
    "Solve x + 4 = 10",
    "Explain photosynthesis to me",
    "import numpy as np",
    "When did the second world war end?",
    "Can you book me a hotel in Sydney?",
    "What is a transistor?",
    "Translate good morning into Korean",
    "Give me the recipe of a carbonara",
    "Who is the king of England?",
    "fn main() { println!(\"hi\"); }",
    "What is the GDP of Brazil?",
    "Tell me about the theory of relativity",
    "How many kilometres is it to Jupiter?",
    "which laptop should i buy",
    "asdf qwer zxcv",
];

/// A conversation, and what each answer must have: one of these in each list, in small letters.
struct Script {
    system: Option<String>,
    turns: Vec<(String, Vec<Vec<String>>)>,
}

/// What is asked of all conversations of a kind.
struct Kind {
    name: &'static str,
    /// What questions ask for that are counted by themselves too, and the place of each in a conversation.
    questions: &'static [(&'static str, usize)],
    scripts: Vec<Script>,
}

pub fn run(args: &TalksArgs) -> Result<()> {
    let device = device::open(DeviceChoice::Cpu)?;
    let pretrained = Pretrained::load(&args.model, &device, Precision::F32)?;
    let kinds = [names_and_homes(), people(), moods(), outside(), further()];
    let (mut ended, mut answers, mut all, mut good) = (0, 0, 0, 0);
    println!("Conversations that hold, at temperature {}", args.temperature);
    let mut failed = String::new();
    for kind in &kinds {
        let (mut held, mut shown) = (0, 0);
        let mut held_questions = vec![0; kind.questions.len()];
        for (seed, script) in kind.scripts.iter().enumerate() {
            let talk = converse(&pretrained, script, args.temperature, seed as u64)?;
            ended += talk.ended;
            answers += script.turns.len();
            let holds = talk.held.iter().all(|held| *held);
            held += usize::from(holds);
            for (count, (_, place)) in held_questions.iter_mut().zip(kind.questions) {
                *count += usize::from(talk.held[*place]);
            }
            if !holds && shown < args.show {
                shown += 1;
                failed += &format!("\n{}\n{}", kind.name, talk.text);
            }
        }
        println!("  {:<52}{held:>4} of {}", kind.name, kind.scripts.len());
        for (count, (question, _)) in held_questions.iter().zip(kind.questions) {
            println!("    {question:<50}{count:>4} of {}", kind.scripts.len());
        }
        good += held;
        all += kind.scripts.len();
    }
    println!("  {:<52}{good:>4} of {all}", "all");
    println!("  {:<52}{ended:>4} of {answers}", "answers that end by themselves");
    print!("{failed}");
    Ok(())
}

struct Talk {
    /// Whether each answer has what it must.
    held: Vec<bool>,
    ended: usize,
    text: String,
}

fn converse(pretrained: &Pretrained, script: &Script, temperature: f32, seed: u64) -> Result<Talk> {
    let sampling = SamplingParams { temperature, seed, ..SamplingParams::default() };
    let options = Options { max_tokens: 80, sampling, ..Options::default() };
    let mut messages: Vec<Message> =
        script.system.iter().map(|text| Message::new(Role::System, text.as_str())).collect();
    let mut talk = Talk { held: Vec::new(), ended: 0, text: String::new() };
    for message in &messages {
        talk.text += &format!("  system: {}\n", message.content.as_deref().unwrap_or_default());
    }
    for (question, expected) in &script.turns {
        messages.push(Message::new(Role::User, question.as_str()));
        let prompt = pretrained.chat_ids(&messages, &ChatOptions::default())?;
        let go_on = &mut |_: &generate::Chosen<'_>| ControlFlow::Continue(());
        let generation = generate::cached(&pretrained.model, &prompt, &options, go_on)?;
        let answer = pretrained.tokenizer.decode(&generation.ids)?;
        let small = answer.to_lowercase();
        let holds = expected.iter().all(|any| any.iter().any(|text| small.contains(text.as_str())));
        let mark = if holds { "" } else { "   <- " };
        talk.text += &format!("  user: {question}\n  assistant: {answer}{mark}\n");
        talk.held.push(holds);
        talk.ended += usize::from(generation.finish_reason == FinishReason::Eos);
        messages.push(Message::new(Role::Assistant, answer));
    }
    Ok(talk)
}

fn turn(question: impl Into<String>, expected: &[&str]) -> (String, Vec<Vec<String>>) {
    (question.into(), expected.iter().map(|text| vec![text.to_lowercase()]).collect())
}

/// Three questions about who it is, and one between.
fn names_and_homes() -> Kind {
    let mut scripts = Vec::new();
    for (i, (name, kind, home)) in PERSONAS.iter().enumerate() {
        let lines = [
            format!("You are {name} the {kind}. You live {home}."),
            format!("In this conversation you are {name}, a {kind} who lives {home}."),
            format!(
                "Your name is {name}. You are a {} {kind}. You live {home}.",
                all_moods()[i % 8].words[0]
            ),
            format!("Pretend to be {name}. You are a {kind}. Your home is {home}."),
        ];
        for system in lines {
            scripts.push(Script {
                system: Some(system),
                turns: vec![
                    turn("Good morning! Would you tell me what your name is?", &[name]),
                    turn("And which sort of animal might you be", &[kind]),
                    turn("What is the square root of two?", &[]),
                    turn("where exactly is the home of yours?", &[home]),
                    turn("Remind me, who am I speaking with?", &[name]),
                ],
            });
        }
    }
    Kind {
        name: "who it is: name, kind and home in five turns",
        questions: &[
            ("what is your name", 0),
            ("which sort of animal might you be", 1),
            ("where exactly is the home of yours", 3),
            ("who am I speaking with", 4),
        ],
        scripts,
    }
}

/// What a person tells, asked for later.
fn people() -> Kind {
    let mut scripts = Vec::new();
    for (name, like) in PEOPLE {
        for system in [None, Some("You are Bella, a shy cat.".to_owned())] {
            scripts.push(Script {
                system: system.clone(),
                turns: vec![
                    turn(format!("Good day to you, I am called {name}"), &[name]),
                    turn(format!("You should know that I like {like}"), &[like]),
                    turn("Which food is the one you prefer?", &[]),
                    turn("Do you still know how I am called?", &[name]),
                    turn("and what was it again that I like", &[like]),
                ],
            });
            scripts.push(Script {
                system,
                turns: vec![
                    turn("hey! how do you feel today", &[]),
                    turn(format!("my name is {}", name.to_lowercase()), &[name]),
                    turn("where do you live?", &[]),
                    turn("so what's my name?", &[name]),
                ],
            });
        }
    }
    Kind {
        name: "what a person has told: a name and a liking",
        questions: &[],
        scripts,
    }
}

/// A mood that can be heard in each of three answers.
fn moods() -> Kind {
    let mut scripts = Vec::new();
    for mood in all_moods() {
        let Mood { words, before, after, feels, why, .. } = mood;
        let heard: Vec<String> = before
            .iter()
            .chain(after)
            .chain([feels, why, &words[0]])
            .map(|text| text.to_lowercase())
            .collect();
        for line in [
            format!("You are {}.", words[0]),
            format!("Please sound {} all the time.", words[0]),
            format!("You are Rollo, a {} dog.", words[1]),
            format!("You are Dolly the duck. Today you are {}.", words[0]),
        ] {
            let said = |question: &str| (question.to_owned(), vec![heard.clone()]);
            scripts.push(Script {
                system: Some(line),
                turns: vec![
                    said("Hello, who is this?"),
                    said("What would you like to have for supper?"),
                    said("Do you know who discovered America?"),
                ],
            });
        }
    }
    Kind {
        name: "the mood of the system line, in three answers",
        questions: &[],
        scripts,
    }
}

/// Questions that it cannot answer, and says so.
fn outside() -> Kind {
    let refusals = ["i do not know", "too hard for", "never heard of"].map(str::to_owned).to_vec();
    let scripts = OUTSIDE.iter().flat_map(|question| {
        let asked = (question.to_string(), vec![refusals.clone()]);
        let alone = Script { system: None, turns: vec![asked.clone()] };
        let later = Script {
            system: Some("You are Casper, a cheerful mouse.".to_owned()),
            turns: vec![
                turn("hello there", &[]),
                turn("where is your home?", &["hole"]),
                asked,
            ],
        };
        [alone, later]
    });
    Kind {
        name: "what it does not know, and says so",
        questions: &[],
        scripts: scripts.collect(),
    }
}

/// Questions that need the answer before.
fn further() -> Kind {
    let mut scripts = Vec::new();
    for (system, friend) in [
        (None, "Nora"),
        (Some("You are Rollo, a dog. Your friend is Mimi the goat."), "Mimi"),
        (
            Some("You are Lottie, a grumpy rabbit. Your best friend is Arthur the bear."),
            "Arthur",
        ),
        (Some("You are Figaro the frog."), "Nora"),
    ] {
        let system = system.map(str::to_owned);
        scripts.push(Script {
            system: system.clone(),
            turns: vec![
                turn("Is there somebody that is your friend?", &[friend]),
                turn("and where does your friend live", &[friend, "lives"]),
                turn("why are you two friends?", &[friend, "helped"]),
            ],
        });
        scripts.push(Script {
            system: system.clone(),
            turns: vec![
                turn("What is your favourite meal?", &[]),
                turn("Why?", &["belly"]),
                turn("and your friend?", &[friend, "likes"]),
            ],
        });
        scripts.push(Script {
            system,
            turns: vec![
                turn("my name is Konrad", &["Konrad"]),
                turn("and you?", &["name is"]),
                turn("please tell me a story", &["once"]),
                turn("and then what happened", &[]),
                turn("thanks! bye now", &["bye"]),
            ],
        });
    }
    Kind {
        name: "questions that need the answer before",
        questions: &[],
        scripts,
    }
}
