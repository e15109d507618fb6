//! A conversation: each turn reads only what is new, as the blocks of the turns before are kept.
//!
//! cargo run --example chat
//! cargo run --features hub --example chat -- --model hf:HuggingFaceTB/SmolLM2-135M-Instruct

use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use slowburn::inference::{GenerateRequest, InferenceBuilder, streaming_handler};
use slowburn::tokenizer::{ChatOptions, END_OF_PARAGRAPH, Message, Role};
use slowburn_examples::cli::{self, Bundled, DIM, ModelArgs, SamplingArgs};

/// Answers line by line, and says how much of each prompt was in the prefix cache
#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    sampling: SamplingArgs,

    #[command(flatten)]
    model: ModelArgs,
}

fn main() -> ExitCode {
    cli::exit(run(&cli::parse()))
}

// ANCHOR: run
fn run(Cli { sampling, model }: &Cli) -> cli::Result<()> {
    let pretrained = Arc::new(model.or(Bundled::Spark).load()?.0);
    let inference =
        InferenceBuilder::new().with_model(pretrained.clone()).build(streaming_handler)?;
    let mut messages = Vec::new();
    while let Some(line) = cli::ask("> ")? {
        messages.push(Message::new(Role::User, line));
        let prompt = pretrained.conversation_ids(&messages, &ChatOptions::default())?;

        let mut request = GenerateRequest::new(prompt).with_sampling(sampling.params());
        if !pretrained.tokenizer.has_chat_template() {
            request = request.with_stop(END_OF_PARAGRAPH);
        }
        let job = inference.infer(request).spawn();
        let (mut answer, mut shown) = (String::new(), cli::Stream::start());
        for token in &job.stream {
            shown.show(&token.token)?;
            answer.push_str(&token.token);
        }
        messages.push(Message::new(Role::Assistant, answer));

        let usage = job.join()?.usage;
        cli::write(&format!(
            "\n{DIM}{} of {} prompt tokens from the cache{DIM:#}\n",
            usage.cached_tokens, usage.prompt_tokens
        ))?;
    }
    Ok(())
}
// ANCHOR_END: run
