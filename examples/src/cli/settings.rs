//! One prompt under several sampler settings: the output of `02_top_k` and `03_temperature`.

use std::fmt::Write;
use std::ops::ControlFlow;

use serde_json::{Value, json};
use slowburn::generate::{self, Options, Score};
use slowburn::pretrained::Pretrained;
use slowburn::sampling::statistics::{effective_tokens, entropy_bits, ranked, survivors};
use slowburn::sampling::{Sampler, SamplingParams, softmax};

use super::{BOLD, DIM, GenerateArgs, Result, bar, print, quoted};

/// The number of tokens to show of each distribution.
const SHOWN: usize = 8;

/// The next-token distribution and a sample text of one setting.
pub struct Setting {
    /// The name, such as `k = 5`.
    pub label: String,
    /// The next-token distribution after every rule, `[vocab]`.
    pub probabilities: Vec<f32>,
    /// A text sampled with this setting.
    ids: Vec<u32>,
    /// The perplexity of that text under the model's own distribution.
    perplexity: Option<f64>,
}

impl Setting {
    /// Computes the distribution after `prompt` from its `logits`, `[vocab]`, and samples a text of
    /// 40 tokens, unless the flags set another length.
    ///
    /// # Errors
    /// Parameters out of range; unusable logits.
    pub fn new(
        label: String,
        params: SamplingParams,
        args: &GenerateArgs,
        pretrained: &Pretrained,
        prompt: &[u32],
        logits: &[f32],
    ) -> Result<Self> {
        let probabilities = Sampler::new(&params)?.distribution(logits, prompt, &[])?;
        let options = Options {
            max_tokens: args.max_tokens.unwrap_or(40),
            sampling: params,
            logprobs: Some(0),
            ..args.options()
        };
        let text = generate::cached(&pretrained.model, prompt, &options, &mut |_| {
            ControlFlow::Continue(())
        })?;
        let perplexity = Score { tokens: text.logprobs }.perplexity();
        Ok(Self { label, probabilities, ids: text.ids, perplexity })
    }

    fn json(&self, all: &[(u32, f32)], text: &str) -> Value {
        let Self { label, probabilities, ids, perplexity } = self;
        json!({
            "label": label,
            "survivors": survivors(probabilities),
            "mass_kept": mass_kept(all, self),
            "entropy_bits": entropy_bits(probabilities),
            "effective_tokens": effective_tokens(probabilities),
            "top": ranked(probabilities).into_iter().take(40).collect::<Vec<_>>(),
            "ids": ids,
            "text": text,
            "perplexity": perplexity,
        })
    }
}

/// Prints the settings side by side: the most likely tokens, statistics of the distributions, and
/// the texts. `logits`, `[vocab]`, are those of the next token.
///
/// # Errors
/// Ids that cannot be decoded; a closed standard output.
pub fn settings(
    args: &GenerateArgs,
    pretrained: &Pretrained,
    prompt: &[u32],
    logits: &[f32],
    settings: &[Setting],
) -> Result<()> {
    let tokenizer = &pretrained.tokenizer;
    let all = ranked(&softmax(logits));
    let mut out = String::new();
    let _ = writeln!(out, "The next token after {:?}\n", tokenizer.decode(prompt)?);

    let head: String =
        settings.iter().map(|setting| format!("{BOLD}{:>12}{BOLD:#}", setting.label)).collect();
    let _ = writeln!(out, "{:<18}{head}", "");
    for &(id, _) in all.iter().take(SHOWN) {
        let cell = |setting: &Setting| match setting.probabilities[id as usize] {
            0.0 => format!("{DIM}{:>12}{DIM:#}", "-"),
            p => format!(" {:<4}{:>6.1}%", bar(f64::from(p), 4), 100.0 * p),
        };
        let cells: String = settings.iter().map(cell).collect();
        let _ = writeln!(out, "{:<18}{cells}", quoted(tokenizer, id));
    }
    let mut row = |name: &str, value: &dyn Fn(&Setting) -> String| {
        let cells: String = settings.iter().map(|s| format!("{:>12}", value(s))).collect();
        let _ = writeln!(out, "{name:<18}{cells}");
    };
    row("tokens kept", &|s| survivors(&s.probabilities).to_string());
    row("probability kept", &|s| format!("{:.1}%", 100.0 * mass_kept(&all, s)));
    row("entropy, bits", &|s| format!("{:.2}", entropy_bits(&s.probabilities)));
    row("effective choices", &|s| format!("{:.1}", effective_tokens(&s.probabilities)));

    for setting in settings {
        let perplexity = match setting.perplexity {
            Some(perplexity) => format!("perplexity {perplexity:.2}"),
            None => "no tokens".to_owned(),
        };
        let text = tokenizer.decode(&[prompt, &setting.ids].concat())?;
        let _ =
            writeln!(out, "\n{BOLD}{}{BOLD:#} {DIM}({perplexity}){DIM:#}\n{text}", setting.label);
    }
    let json = |setting: &Setting| Ok(setting.json(&all, &tokenizer.decode(&setting.ids)?));
    let json: Result<Vec<Value>> = settings.iter().map(json).collect();
    print(args.json, &json!({ "prompt_ids": prompt, "settings": json? }), &out)
}

/// The probability mass of the model's own distribution that a setting keeps.
fn mass_kept(all: &[(u32, f32)], setting: &Setting) -> f64 {
    let kept = all.iter().filter(|(id, _)| setting.probabilities[*id as usize] > 0.0);
    kept.map(|&(_, p)| f64::from(p)).sum()
}
