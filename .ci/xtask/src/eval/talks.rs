//! `cargo xtask talks`: whether the bundled model that talks, or another, keeps to what was said.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use serde::Deserialize;
use slowburn::device::{self, DeviceChoice, Precision};
use slowburn::generate::{self, FinishReason, Options};
use slowburn::pretrained::Pretrained;
use slowburn::sampling::SamplingParams;
use slowburn::tokenizer::{ChatOptions, Message, Role};

use crate::corpus::talk::words::{Mood, moods};

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

/// Conversations: `talks.toml` says how they are written.
#[derive(Deserialize)]
struct Kind {
    name: String,
    #[serde(default)]
    questions: Vec<(String, usize)>,
    names: Vec<String>,
    rows: Vec<Vec<String>>,
    systems: Vec<String>,
    scripts: Vec<Script>,
}

/// A conversation, and what each answer must have.
#[derive(Deserialize)]
struct Script {
    system: Option<String>,
    turns: Vec<(String, Vec<String>)>,
}

impl Kind {
    fn all() -> Result<Vec<Self>> {
        let mut all: BTreeMap<String, Vec<Self>> = toml::from_str(include_str!("talks.toml"))?;
        let mut kinds = all.remove("kind").context("talks.toml has no kinds")?;
        let is_of_moods = |kind: &&mut Self| kind.rows.is_empty();
        let of_moods = kinds.iter_mut().find(is_of_moods).context("no kind is that of moods")?;
        of_moods.rows = moods()
            .iter()
            .map(|Mood { words, before, after, feels, why, .. }| {
                let heard = [&before[..], &after[..], &[feels, why, words[0]]].concat();
                vec![
                    words[0].to_owned(),
                    words[1].to_owned(),
                    heard.join("|").to_lowercase(),
                ]
            })
            .collect();
        Ok(kinds)
    }

    fn conversations(&self) -> Vec<Script> {
        let mut all = Vec::new();
        for row in &self.rows {
            let filled = |text: &String| {
                let values = self.names.iter().zip(row);
                values.fold(text.clone(), |text, (name, value)| {
                    text.replace(&format!("{{{name}}}"), value)
                })
            };
            for system in &self.systems {
                for script in &self.scripts {
                    let system = filled(script.system.as_ref().unwrap_or(system));
                    let turns = script.turns.iter().map(|(question, expected)| {
                        (filled(question), expected.iter().map(filled).collect())
                    });
                    all.push(Script {
                        system: Some(system).filter(|line| !line.is_empty()),
                        turns: turns.collect(),
                    });
                }
            }
        }
        all
    }
}

pub fn run(args: &TalksArgs) -> Result<()> {
    let device = device::open(DeviceChoice::Cpu)?;
    let pretrained = Pretrained::load(&args.model, &device, Precision::F32)?;
    let (mut ended, mut answers, mut all, mut good) = (0, 0, 0, 0);
    println!("Conversations that hold, at temperature {}", args.temperature);
    let mut failed = String::new();
    for kind in Kind::all()? {
        let scripts = kind.conversations();
        let (mut held, mut shown) = (0, 0);
        let mut held_questions = vec![0; kind.questions.len()];
        for (seed, script) in scripts.iter().enumerate() {
            let talk = converse(&pretrained, script, args.temperature, seed as u64)?;
            ended += talk.ended;
            answers += script.turns.len();
            let holds = talk.held.iter().all(|held| *held);
            held += usize::from(holds);
            for (count, (_, place)) in held_questions.iter_mut().zip(&kind.questions) {
                *count += usize::from(talk.held[*place]);
            }
            if !holds && shown < args.show {
                shown += 1;
                failed += &format!("\n{}\n{}", kind.name, talk.text);
            }
        }
        println!("  {:<52}{held:>4} of {}", kind.name, scripts.len());
        for (count, (question, _)) in held_questions.iter().zip(&kind.questions) {
            println!("    {question:<50}{count:>4} of {}", scripts.len());
        }
        good += held;
        all += scripts.len();
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
        let has = |any: &String| any.to_lowercase().split('|').any(|text| small.contains(text));
        let holds = expected.iter().all(has);
        let mark = if holds { "" } else { "   <- " };
        talk.text += &format!("  user: {question}\n  assistant: {answer}{mark}\n");
        talk.held.push(holds);
        talk.ended += usize::from(generation.finish_reason == FinishReason::Eos);
        messages.push(Message::new(Role::Assistant, answer));
    }
    Ok(talk)
}
