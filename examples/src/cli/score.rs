//! `--score`, and `slowburn score`: the likelihood of a text under the model.

use std::fmt::Write;

use clap::Args;
use serde_json::json;
use slowburn::generate;
use slowburn::pretrained::Pretrained;

use super::{DIM, GenerateArgs, ModelArgs, PromptIds, Result, bar, print, quoted, whole};

/// The flags of a score.
#[derive(Debug, Clone, Args)]
pub struct ScoreArgs {
    /// The text to score
    #[arg(long, default_value = "Once upon a time", value_name = "TEXT")]
    pub prompt: String,

    /// Token ids to score, instead of a text: 0,12,345
    #[arg(long, conflicts_with = "prompt", value_name = "IDS")]
    pub prompt_ids: Option<PromptIds>,

    #[command(flatten)]
    pub model: ModelArgs,

    /// Show how likely each token was, beside the N most likely ones
    #[arg(long, value_name = "N", value_parser = whole::<usize>(..))]
    pub logprobs: Option<usize>,

    /// Print one JSON object, and nothing else, on standard output
    #[arg(long)]
    pub json: bool,
}

/// Scores the text with a model that [`ModelArgs::load`] has loaded, and prints as [`score`] does.
///
/// # Errors
/// A text that the model cannot read; a closed standard output.
pub fn score_text(args: &ScoreArgs, pretrained: &Pretrained) -> Result<()> {
    let ids = match &args.prompt_ids {
        Some(ids) => ids.clone().or_begin(pretrained)?,
        None => pretrained.prompt_ids(&args.prompt)?,
    };
    pretrained.model.check_prompt(&ids)?;
    show(pretrained, &ids, args.logprobs, args.json)
}

/// Loads the model, and scores the prompt.
///
/// # Errors
/// As [`GenerateArgs::load`], [`GenerateArgs::prompt_ids`] and [`score`].
pub fn score_prompt(args: &GenerateArgs) -> Result<()> {
    let (pretrained, _) = args.load()?;
    score(args, &pretrained, &args.prompt_ids(&pretrained)?)
}

/// Scores the prompt and prints its log-probability and perplexity; with `--logprobs`, also those
/// of its tokens.
///
/// # Errors
/// As [`generate::score`]; a closed standard output.
pub fn score(args: &GenerateArgs, pretrained: &Pretrained, prompt: &[u32]) -> Result<()> {
    show(pretrained, prompt, args.logprobs, args.json)
}

fn show(
    pretrained: &Pretrained,
    prompt: &[u32],
    logprobs: Option<usize>,
    as_json: bool,
) -> Result<()> {
    let score = generate::score(&pretrained.model, prompt, logprobs.unwrap_or(0))?;
    let perplexity = score.perplexity();
    let json = json!({
        "prompt_ids": prompt,
        "logprob": score.logprob(),
        "perplexity": perplexity,
        "logprobs": logprobs.map(|_| &score.tokens),
    });

    let mut text = String::new();
    if logprobs.is_some() {
        for token in &score.tokens {
            let p = f64::from(token.logprob).exp();
            let name = quoted(&pretrained.tokenizer, token.id);
            let likelier: Vec<String> =
                token.top.iter().map(|&(id, _)| quoted(&pretrained.tokenizer, id)).collect();
            let likelier = likelier.join(" ");
            let _ = writeln!(
                text,
                "{name:<16}{:>6.1}%  {:<20} {DIM}{likelier}{DIM:#}",
                100.0 * p,
                bar(p, 20)
            );
        }
        text.push('\n');
    }
    let (n, nats) = (score.tokens.len(), -score.logprob());
    let _ = match perplexity {
        Some(perplexity) => writeln!(
            text,
            "{n} tokens after the first: {nats:.2} nats of surprise, perplexity {perplexity:.2}"
        ),
        None => writeln!(text, "one token only, which nothing foretold: it has no perplexity"),
    };
    print(as_json, &json, &text)
}
