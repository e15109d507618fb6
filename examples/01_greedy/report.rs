//! The output of `01_greedy`: the choices, the text, and the repetition loop.

use std::fmt::Write;

use serde_json::json;
use slowburn::generate::{FinishReason, Generation, Hypothesis, Repetition};
use slowburn::sampling::TokenLogprobs;
use slowburn::tokenizer::Tokenizer;

use slowburn_examples::cli::{BOLD, DIM, GenerateArgs, Result, bar, print, quoted};

/// A finished greedy generation and its analysis.
pub struct GreedyReport<'a> {
    pub args: &'a GenerateArgs,
    pub tokenizer: &'a Tokenizer,
    pub prompt: &'a [u32],
    /// The generation, with log-probabilities at each step.
    pub greedy: Generation,
    /// The number of steps to show.
    pub shown: usize,
    pub repetition: Option<Repetition>,
    /// The results of beam search, if requested.
    pub beams: Vec<Hypothesis>,
}

impl GreedyReport<'_> {
    /// Prints the report as text or JSON.
    ///
    /// # Errors
    /// Ids that cannot be decoded; a closed standard output.
    pub fn print(&self) -> Result<()> {
        let beam = |found: &Hypothesis| {
            Ok(json!({
                "ids": found.ids,
                "text": self.tokenizer.decode(&found.ids)?,
                "logprob": found.logprob,
                "score": found.score,
                "finish_reason": found.finish_reason,
            }))
        };
        let json = json!({
            "prompt_ids": self.prompt,
            "ids": self.greedy.ids,
            "text": self.tokenizer.decode(&self.greedy.ids)?,
            "finish_reason": self.greedy.finish_reason,
            "logprobs": self.greedy.logprobs,
            "repetition": self.repetition.map(|found| json!({ "start": found.start, "period": found.period })),
            "beams": self.beams.iter().map(beam).collect::<Result<Vec<_>>>()?,
        });
        print(self.args.json, &json, &self.text()?)
    }

    fn text(&self) -> Result<String> {
        let mut out = String::new();
        let steps = &self.greedy.logprobs;
        let shown = &steps[..self.shown.min(steps.len())];
        if !shown.is_empty() {
            out.push_str("chosen                                 then came\n");
        }
        for step in shown {
            let _ = writeln!(out, "{}", self.step(step));
        }
        let more = steps.len() - shown.len();
        if more > 0 && self.shown > 0 {
            let _ = writeln!(out, "{DIM}and {more} more steps (--steps N shows N){DIM:#}");
        }
        let text = self.tokenizer.decode(&[self.prompt, &self.greedy.ids].concat())?;
        if self.shown > 0 {
            out.push('\n');
        }
        let _ = writeln!(out, "{text}\n\n{}", self.verdict()?);
        let logprob: f64 = steps.iter().map(|step| f64::from(step.logprob)).sum();
        if !self.beams.is_empty() {
            let tokens = self.greedy.ids.len();
            let _ = writeln!(out, "\nGreedy: {tokens} tokens, log-probability {logprob:.2}.");
        }
        for (i, beam) in self.beams.iter().enumerate() {
            let text = self.tokenizer.decode(&[self.prompt, &beam.ids].concat())?;
            let Hypothesis { ids, logprob, score, .. } = beam;
            let _ = writeln!(
                out,
                "\nBeam {}: {} tokens, log-probability {logprob:.2}, by length {score:.3}.\n{text}",
                i + 1,
                ids.len()
            );
        }
        Ok(out)
    }

    /// A token with its probability, and the runners-up.
    fn step(&self, step: &TokenLogprobs) -> String {
        let name = |id| quoted(self.tokenizer, id);
        let p = f64::from(step.logprob).exp();
        let others = step.top.iter().filter(|(id, _)| *id != step.id);
        let others: Vec<String> = others
            .map(|&(id, logprob)| format!("{} {:.0}%", name(id), 100.0 * logprob.exp()))
            .collect();
        format!(
            "{BOLD}{:<16}{BOLD:#}{:>4.0}% {:<15}  {DIM}{}{DIM:#}",
            name(step.id),
            100.0 * p,
            bar(p, 15),
            others.join(", ")
        )
    }

    fn verdict(&self) -> Result<String> {
        let n = self.greedy.ids.len();
        let Some(Repetition { start, period }) = self.repetition else {
            let why = match self.greedy.finish_reason {
                FinishReason::Eos => "the model ended the text",
                _ => "it was cut off there",
            };
            return Ok(format!("No loop in {n} tokens: {why}."));
        };
        let block = self.tokenizer.decode(&self.greedy.ids[start..start + period])?;
        let copies = (n - start) / period;
        let what = match period {
            1 => "the same token comes".to_owned(),
            _ => format!("the same {period} tokens come"),
        };
        Ok(format!("A loop: from token {start} on, {what} {copies} times: {block:?}"))
    }
}
