//! The flags and the output of `13_guess_ahead`.

use std::fmt::Write;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anstyle::{AnsiColor, Style};
use clap::Args;
use serde_json::{Value, json};
use slowburn::generate::{self, Chosen, FinishReason, Generation, Options};
use slowburn::pretrained::Pretrained;
use slowburn::speculation::{Draft, PassCosts, PromptLookup, Text};

use slowburn_examples::cli::{BOLD, DIM, GenerateArgs, ModelSource, Result, print, quoted, whole};

/// How many tokens of a story tell which one is to be told again.
const OPENING: usize = 40;

/// How much of a prompt is shown, from its end, in tokens.
const SHOWN: usize = 24;

const ACCEPTED: Style = AnsiColor::Green.on_default();
const REPLACED: Style = AnsiColor::Red.on_default().strikethrough();

/// The flags of `13_guess_ahead`.
#[derive(Debug, Clone, Args)]
pub struct GuessArgs {
    #[command(flatten)]
    pub generate: GenerateArgs,

    /// The most draft tokens of a step
    #[arg(long, default_value_t = 8, value_name = "N", value_parser = whole::<usize>(1..))]
    pub draft_tokens: usize,

    /// How many steps with draft tokens to show of each text
    #[arg(long, default_value_t = 8, value_name = "N", value_parser = whole::<usize>(..))]
    pub steps: usize,

    /// How often each text is written with and without draft tokens, in turns; the fastest counts
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = whole::<usize>(1..))]
    pub rounds: usize,

    /// Write no such texts, and print which share of the draft tokens of a draft model is accepted, by
    /// each rule and at several temperatures
    #[arg(long, conflicts_with_all = ["steps", "rounds", "draft_tokens", "temperature", "seed"])]
    pub acceptance: bool,

    /// The draft model of --acceptance, with the vocabulary of the model: as --model [default: the
    /// small one inside this program, which is for ember]
    #[arg(long, value_name = "MODEL", requires = "acceptance")]
    pub draft: Option<ModelSource>,
}

/// What a text begins with.
#[derive(Debug, Clone)]
pub struct GuessPrompt {
    name: &'static str,
    pub prompt: Vec<u32>,
}

impl GuessArgs {
    /// Two texts: one that goes on from the prompt, and the most likely one of these told again. Only
    /// the first where the context is too short for both.
    ///
    /// # Errors
    /// As [`GenerateArgs::prompt_ids`]; those of the model.
    pub fn texts(&self, pretrained: &Pretrained) -> Result<Vec<GuessPrompt>> {
        let prompt = self.generate.prompt_ids(pretrained)?;
        let config = pretrained.model.config();
        let room = (config.context_length / 2).saturating_sub(prompt.len());
        let mut texts = vec![GuessPrompt { name: "a story", prompt: prompt.clone() }];
        if room > OPENING {
            let mut options = self.options();
            options.max_tokens = room;
            options.sampling.temperature = 0.0;
            let go_on = &mut |_: &Chosen<'_>| ControlFlow::Continue(());
            let story = generate::cached(&pretrained.model, &prompt, &options, go_on)?;
            let story = [prompt, story.ids].concat();
            let end = config.eos_token_ids.first().copied();
            let opening = story.iter().copied().take(OPENING);
            let prompt = story.iter().copied().chain(end).chain(opening).collect();
            texts.push(GuessPrompt { name: "told again", prompt });
        }
        Ok(texts)
    }

    /// The options of each text: 200 tokens, the most likely one each time, unless the flags say
    /// otherwise.
    pub fn options(&self) -> Options {
        let mut options = self.generate.options();
        options.max_tokens = self.generate.max_tokens.unwrap_or(200);
        options.sampling.temperature = self.generate.sampling.temperature.unwrap_or(0.0);
        options
    }
}

/// The draft tokens of a step: after how many tokens of the text they were proposed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guess {
    at: usize,
    tokens: Vec<u32>,
}

/// Prompt lookup that keeps what it proposes.
pub struct Watched {
    draft: PromptLookup,
    steps: Guesses,
}

/// What was proposed, in order.
#[derive(Debug, Clone, Default)]
pub struct Guesses(Arc<Mutex<Vec<Guess>>>);

impl Guesses {
    /// All so far.
    pub fn take(&self) -> Vec<Guess> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Watched {
    pub fn new(draft: PromptLookup) -> Self {
        Self { draft, steps: Guesses::default() }
    }

    /// What it proposes from now on.
    pub fn steps(&self) -> Guesses {
        self.steps.clone()
    }
}

impl Draft for Watched {
    fn propose(&mut self, text: &Text<'_>, most: usize) -> slowburn::Result<Vec<u32>> {
        let tokens = self.draft.propose(text, most)?;
        let guess = Guess { at: text.tokens.len() - text.prompt, tokens: tokens.clone() };
        self.steps.0.lock().unwrap_or_else(PoisonError::into_inner).push(guess);
        Ok(tokens)
    }
}

/// A text, and how long it took from its first token on: without the prefill.
#[derive(Debug, Clone)]
pub struct Timed {
    generation: Generation,
    decode: Duration,
}

impl Timed {
    pub fn into_generation(self) -> Generation {
        self.generation
    }
}

/// Starts at the first token.
#[derive(Debug, Clone, Copy, Default)]
pub struct DecodeClock(Option<Instant>);

impl DecodeClock {
    /// Notes a token, and goes on.
    pub fn token(&mut self) -> ControlFlow<()> {
        self.0.get_or_insert_with(Instant::now);
        ControlFlow::Continue(())
    }

    /// The text has ended.
    pub fn stop(self, generation: Generation) -> Timed {
        Timed {
            generation,
            decode: self.0.map_or(Duration::ZERO, |first| first.elapsed()),
        }
    }
}

/// A text with and without draft tokens.
#[derive(Debug)]
pub struct GuessedText {
    pub text: GuessPrompt,
    pub steps: Vec<Guess>,
    /// With a hash of its logits.
    pub watched: Generation,
    /// The same without draft tokens.
    pub reference: Generation,
    pub plain: Vec<Timed>,
    pub guessed: Vec<Timed>,
}

impl GuessedText {
    /// Whether all runs have the same tokens, and those that were hashed the same bits of all logits.
    fn is_same(&self) -> bool {
        let Generation { ids, logits_hash, .. } = &self.reference;
        let mut timed = self.plain.iter().chain(&self.guessed).map(|timed| &timed.generation);
        timed.all(|found| found.ids == *ids)
            && self.watched.ids == *ids
            && self.watched.logits_hash == *logits_hash
    }

    /// How many of the draft tokens of a step the text has too. `ends` are the tokens that end it: the
    /// last one that was accepted may be one of these.
    fn accepted(&self, guess: &Guess, ends: &[u32]) -> usize {
        let Generation { ids, finish_reason, .. } = &self.watched;
        let text = &ids[guess.at.min(ids.len())..];
        let equal = guess.tokens.iter().zip(text).take_while(|(guess, token)| guess == token);
        let equal = equal.count();
        let ends_here = |token: &u32| match finish_reason {
            FinishReason::Eos => ends.contains(token),
            FinishReason::StopId(id) => id == token,
            _ => false,
        };
        let is_end = equal == text.len() && guess.tokens.get(equal).is_some_and(ends_here);
        equal + usize::from(is_end)
    }

    /// The passes that sampled its tokens.
    fn passes(&self) -> usize {
        let Generation { ids, accepted, finish_reason, .. } = &self.watched;
        // The token that ends a text is sampled too.
        let ends = matches!(finish_reason, FinishReason::Eos | FinishReason::StopId(_));
        (ids.len() + usize::from(ends)).saturating_sub(*accepted).max(1)
    }

    /// Tokens for each pass. The first token comes with the prompt.
    fn tokens_per_pass(&self) -> f64 {
        (self.passes() + self.watched.accepted) as f64 / self.passes() as f64
    }
}

fn tokens_per_second(runs: &[Timed]) -> f64 {
    let rate = |Timed { generation, decode }: &Timed| {
        generation.ids.len().saturating_sub(1) as f64 / decode.as_secs_f64().max(1e-9)
    };
    runs.iter().map(rate).fold(0.0, f64::max)
}

/// Shows texts with their draft tokens.
pub struct GuessReport<'a> {
    args: &'a GuessArgs,
    pretrained: &'a Pretrained,
    costs: PassCosts,
    texts: Vec<GuessedText>,
}

impl<'a> GuessReport<'a> {
    /// A report without texts. Measures the passes of the model.
    ///
    /// # Errors
    /// Those of the passes.
    pub fn new(args: &'a GuessArgs, pretrained: &'a Pretrained) -> Result<Self> {
        let costs = PassCosts::measure(&pretrained.model)?;
        Ok(Self { args, pretrained, costs, texts: Vec::new() })
    }

    /// How many times as fast the text should be with its draft tokens, by the costs of its passes.
    fn expected(&self, text: &GuessedText) -> f64 {
        let passes = text.passes();
        let plain = (passes + text.watched.accepted) as f64 * self.costs.of(1);
        let rows = text.steps.iter().map(|guess| 1 + guess.tokens.len());
        let drafted: f64 = rows.clone().map(|rows| self.costs.of(rows)).sum();
        plain / (drafted + passes.saturating_sub(rows.len()) as f64 * self.costs.of(1))
    }

    /// The tokens that end a text.
    fn ends(&self) -> &[u32] {
        &self.pretrained.model.config().eos_token_ids
    }

    /// Adds a text.
    pub fn add(&mut self, text: GuessedText) {
        self.texts.push(text);
    }

    /// Prints the steps, and a line for each text, or all of it as JSON.
    ///
    /// # Errors
    /// Ids that cannot be decoded; a closed standard output.
    pub fn finish(&self) -> Result<()> {
        let objects = self.texts.iter().map(|text| self.object(text)).collect::<Result<Vec<_>>>();
        let costs = self.costs.relative();
        print(
            self.args.generate.json,
            &json!({ "costs": costs, "texts": objects? }),
            &self.text()?,
        )
    }

    fn object(&self, text: &GuessedText) -> Result<Value> {
        let steps: Vec<_> = text
            .steps
            .iter()
            .map(|guess| {
                let accepted = text.accepted(guess, self.ends());
                json!({ "at": guess.at, "draft": guess.tokens, "accepted": accepted })
            })
            .collect();
        let (plain, guessed) = (tokens_per_second(&text.plain), tokens_per_second(&text.guessed));
        let tokenizer = &self.pretrained.tokenizer;
        Ok(json!({
            "name": text.text.name,
            "prompt_ids": text.text.prompt,
            "ids": text.watched.ids,
            "text": tokenizer.decode(&text.watched.ids)?,
            "logits_hash": text.watched.logits_hash,
            "drafted": text.watched.drafted,
            "accepted": text.watched.accepted,
            "tokens_per_pass": text.tokens_per_pass(),
            "tokens_per_second": { "plain": plain, "guessed": guessed, "ratio": guessed / plain },
            "expected_ratio": self.expected(text),
            "same_bits": text.is_same(),
            "steps": steps,
        }))
    }

    fn text(&self) -> Result<String> {
        let mut out = String::new();
        for text in &self.texts {
            let prompt = &text.text.prompt;
            let end = prompt.len().saturating_sub(SHOWN);
            let dots = if end > 0 { "..." } else { "" };
            let prompt = self.pretrained.tokenizer.decode(&prompt[end..])?.replace('\n', " ");
            let _ = writeln!(out, "{BOLD}{}{BOLD:#}: {dots}{prompt}\n", text.text.name);
            let guesses = text.steps.iter().filter(|guess| !guess.tokens.is_empty());
            for guess in guesses.take(self.args.steps) {
                let _ = writeln!(out, "{}", self.step(text, guess));
            }
            let _ = writeln!(out);
        }
        let _ = write!(out, "{BOLD}rows of a pass{BOLD:#}");
        let costs = self.costs.relative();
        for rows in 1..=costs.len() {
            let _ = write!(out, "{rows:>5}");
        }
        let _ = write!(out, "\n{:<14}", "its cost");
        for cost in costs {
            let _ = write!(out, "{cost:>5.1}");
        }
        let _ = writeln!(
            out,
            "\n\n{BOLD}{:<12}{:>7}{:>7}{:>6}{:>9}{:>9}{:>9}{:>9}   bits{BOLD:#}",
            "tokens/s", "plain", "ahead", "ratio", "expected", "drafted", "accepted", "per pass"
        );
        for text in &self.texts {
            let (plain, guessed) =
                (tokens_per_second(&text.plain), tokens_per_second(&text.guessed));
            let Generation { drafted, accepted, .. } = text.watched;
            let share = 100.0 * accepted as f64 / drafted.max(1) as f64;
            let _ = writeln!(
                out,
                "{:<12}{plain:>7.0}{guessed:>7.0}{:>6.2}{:>9.2}{drafted:>9}{:>9}{:>9.2}   {}",
                text.text.name,
                guessed / plain,
                self.expected(text),
                format!("{share:.0}%"),
                text.tokens_per_pass(),
                if text.is_same() { "the same" } else { "others" },
            );
        }
        Ok(out)
    }

    /// A step in a line: what was accepted, what was replaced and by what, or the bonus token.
    fn step(&self, text: &GuessedText, guess: &Guess) -> String {
        let accepted = text.accepted(guess, self.ends());
        let token = |id: u32| quoted(&self.pretrained.tokenizer, id);
        let mut line = format!("{DIM}{:>4}{DIM:#} ", guess.at);
        for &id in &guess.tokens[..accepted] {
            let _ = write!(line, " {ACCEPTED}{}{ACCEPTED:#}", token(id));
        }
        let next = text.watched.ids.get(guess.at + accepted);
        let next = next.map_or_else(|| "the end".to_owned(), |&id| token(id));
        // What was guessed behind the end is not compared.
        let has_ended = guess.at + accepted > text.watched.ids.len();
        let _ = match guess.tokens.get(accepted) {
            Some(&wrong) if !has_ended => {
                let dropped = guess.tokens.len() - accepted - 1;
                let dropped = match dropped {
                    0 => String::new(),
                    dropped => format!("{DIM}, {dropped} dropped{DIM:#}"),
                };
                write!(line, " {REPLACED}{}{REPLACED:#} -> {next}{dropped}", token(wrong))
            }
            _ => write!(line, " + {BOLD}{next}{BOLD:#}"),
        };
        line
    }
}

#[cfg(test)]
mod tests;
