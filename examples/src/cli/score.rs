//! `--score`: the likelihood of a text under the model.

use std::fmt::Write;

use serde_json::json;
use slowburn::generate;
use slowburn::pretrained::Pretrained;

use super::{DIM, GenerateArgs, Result, bar, print, quoted};

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
    let score = generate::score(&pretrained.model, prompt, args.logprobs.unwrap_or(0))?;
    let perplexity = score.perplexity();
    let json = json!({
        "prompt_ids": prompt,
        "logprob": score.logprob(),
        "perplexity": perplexity,
        "logprobs": args.logprobs.map(|_| &score.tokens),
    });

    let mut text = String::new();
    if args.logprobs.is_some() {
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
    print(args.json, &json, &text)
}
