//! The flags and the output of `15_constrained`.

use std::fmt::Write;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::{Value, json};
use slowburn::constrained::{Automaton, Constraint, Follower};
use slowburn::generate::{Chosen, FinishReason, Generation};
use slowburn::grammar::Grammar;
use slowburn::pretrained::Pretrained;
use slowburn::sampling::softmax;
use slowburn_flags::WIDTH;

use slowburn_examples::cli::{
    BOLD, ConstraintArgs, DIM, GenerateArgs, Result, print, quoted, whole,
};

/// What a story goes on with, unless the flags say otherwise.
const STORY: &str = r", there was a (cat|dog|fox) called [A-Z][a-z]+\.";

/// What sentences may begin with, besides names.
const BEGINNINGS: &str = "A|All|And|As|At|Before|But|Each|Every|For|From|He|Her|His|I|If|In|It|Now|On|\
                          One|She|So|Soon|That|The|Then|There|They|This|We|What|When|Who|Why|Yes|You";

/// The flags of `15_constrained`.
#[derive(Debug, Clone, Args)]
pub struct ConstrainedArgs {
    #[command(flatten)]
    pub generate: GenerateArgs,

    #[command(flatten)]
    pub constraint: ConstraintArgs,

    /// Allow any story in which no other names occur. May be given several times
    #[arg(long, value_name = "NAME", conflicts_with_all = ["regex", "choice", "json_schema", "lark"])]
    pub name: Vec<String>,

    /// How many steps to show
    #[arg(long, default_value_t = 40, value_name = "N", value_parser = whole::<usize>(..))]
    pub steps: usize,

    /// How many of the allowed tokens to show, the most likely first
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = whole::<usize>(..))]
    pub tokens: usize,

    /// Show how long the masks took, beside the passes of the model
    #[arg(long)]
    pub measure: bool,
}

impl ConstrainedArgs {
    /// What the flags allow. Without any: a sentence about an animal.
    ///
    /// # Errors
    /// Those of [`ConstraintArgs::grammar`].
    pub fn grammar(&self) -> Result<Grammar> {
        if !self.name.is_empty() {
            return Ok(Grammar::Regex(names(&self.name)));
        }
        Ok(self.constraint.grammar()?.unwrap_or_else(|| Grammar::Regex(STORY.to_owned())))
    }
}

/// Words in small letters, these names and what sentences begin with, and between any two of them
/// something that is no letter.
fn names(names: &[String]) -> String {
    let letters: Vec<String> = names.iter().map(|name| regex_of(name)).collect();
    let word = format!("([a-z]+|{BEGINNINGS}|{})", letters.join("|"));
    format!("[^A-Za-z]*{word}([^A-Za-z]+{word})*[^A-Za-z]*")
}

/// The characters of a name, each as itself.
fn regex_of(name: &str) -> String {
    name.chars().map(|c| format!(r"\x{{{:x}}}", u32::from(c))).collect()
}

/// One step: what was allowed, and what was chosen.
#[derive(Debug)]
struct Step {
    allowed: usize,
    /// The share of the model's probability that the allowed tokens had.
    share: f32,
    chosen: u32,
    /// The most likely of those allowed, with their probabilities among them.
    top: Vec<(u32, f32)>,
    /// The time to find the mask, and whether its state was new.
    mask: (Duration, bool),
    /// The time since the step before: a pass, and all that comes with a token.
    step: Duration,
}

/// Shows a text under a constraint, step by step.
pub struct ConstrainedReport<'a> {
    args: &'a ConstrainedArgs,
    pretrained: &'a Pretrained,
    prompt: &'a [u32],
    constraint: Constraint,
    /// On a copy of the constraint, so that it finds new states new.
    follower: Follower,
    output: Vec<u32>,
    steps: Vec<Step>,
    before: Instant,
}

impl<'a> ConstrainedReport<'a> {
    /// A report without steps.
    pub fn new(
        args: &'a ConstrainedArgs,
        pretrained: &'a Pretrained,
        prompt: &'a [u32],
        constraint: Constraint,
    ) -> Self {
        let fresh = constraint.fresh();
        Self {
            args,
            pretrained,
            prompt,
            constraint,
            follower: fresh.follow(),
            output: Vec::new(),
            steps: Vec::new(),
            before: Instant::now(),
        }
    }

    /// Adds a step.
    pub fn step(&mut self, chosen: &Chosen<'_>) -> ControlFlow<()> {
        let step = self.before.elapsed();
        let seen = self.follower.constraint().seen();
        let start = Instant::now();
        // The loop has found the same mask without an error.
        let Ok(next) = self.follower.next(&self.output) else {
            return ControlFlow::Break(());
        };
        let mask = (start.elapsed(), self.follower.constraint().seen() > seen);
        let probabilities = softmax(chosen.logits);
        let mut top: Vec<(u32, f32)> =
            next.mask().ids().map(|id| (id, probabilities[id as usize])).collect();
        let share: f32 = top.iter().map(|(_, probability)| probability).sum();
        top.sort_by(|a, b| b.1.total_cmp(&a.1));
        top.truncate(self.args.tokens);
        top.iter_mut().for_each(|(_, probability)| *probability /= share);
        let chosen = chosen.token.token_id;
        let allowed = next.mask().len();
        self.steps.push(Step { allowed, share, chosen, top, mask, step });
        self.output.push(chosen);
        self.before = Instant::now();
        ControlFlow::Continue(())
    }

    /// Shows everything.
    ///
    /// # Errors
    /// Those of the tokenizer; a closed standard output.
    pub fn finish(&self, generation: &Generation) -> Result<()> {
        let text = self.pretrained.tokenizer.decode(&[self.prompt, &generation.ids].concat())?;
        let steps: Vec<Value> = self.steps.iter().map(Step::json).collect();
        let report = json!({
            "text": text,
            "ids": generation.ids,
            "finish_reason": generation.finish_reason,
            "states": self.constraint.automaton().map(Automaton::states),
            "states_seen": self.constraint.seen(),
            "logits_hash": generation.logits_hash,
            "steps": steps,
        });
        print(self.args.generate.json, &report, &self.text(&text, generation))
    }

    fn text(&self, text: &str, generation: &Generation) -> String {
        let mut out = self.table();
        let _ = writeln!(out, "{text}\n");
        let forced = self.steps.iter().filter(|step| step.allowed == 1).count();
        let end = match generation.finish_reason {
            FinishReason::Eos => "which match as a whole",
            _ => "unfinished",
        };
        // A parser has a stack instead.
        let seen = self.constraint.automaton().map_or_else(String::new, |automaton| {
            format!("; {} of {} states seen", self.constraint.seen(), automaton.states())
        });
        let _ = writeln!(
            out,
            "{DIM}{} tokens, {end}; {forced} without a choice{seen}{DIM:#}",
            self.steps.len()
        );
        if self.args.measure {
            out += &self.times();
        }
        out
    }

    fn table(&self) -> String {
        let mut out = String::new();
        let shown = self.steps.len().min(self.args.steps);
        if shown == 0 {
            return out;
        }
        let vocab_size = self.pretrained.model.config().vocab_size;
        let _ = writeln!(
            out,
            "{BOLD}{:>4}  {:>7}  {:>6}  {:<14}the most likely of those allowed{BOLD:#}",
            "step", "allowed", "share", "chosen"
        );
        for (index, step) in self.steps[..shown].iter().enumerate() {
            let token = |id| quoted(&self.pretrained.tokenizer, id);
            let (chosen, share) = (token(step.chosen), format!("{:.1}%", 100.0 * step.share));
            let start = format!("{index:>4}  {:>7}  {share:>6}  {chosen:<14}", step.allowed);
            let mut width = start.chars().count();
            out.push_str(&start);
            for (id, probability) in &step.top {
                let (token, percent) = (token(*id), format!("{:.0}%", 100.0 * probability));
                width += token.chars().count() + 1 + percent.len();
                if width > WIDTH {
                    break;
                }
                let _ = write!(out, "{token} {DIM}{percent}{DIM:#}  ");
                width += 2;
            }
            out.truncate(out.trim_end_matches(' ').len());
            out.push('\n');
        }
        let _ = writeln!(out, "{DIM}of {vocab_size} tokens{DIM:#}\n");
        out
    }

    fn times(&self) -> String {
        let of = |new| self.steps.iter().filter(move |step| step.mask.1 == new).map(|s| s.mask.0);
        // The first step has the prefill.
        let passes = self.steps.iter().skip(1).map(|step| step.step).collect();
        // A parser keeps no masks.
        let mut rows = match self.constraint.automaton() {
            Some(_) => vec![
                ("mask, a new state", of(true).collect()),
                ("mask, a known one", of(false).collect()),
            ],
            None => vec![("mask", of(false).collect())],
        };
        rows.push(("a step of the loop", passes));
        let mut out = String::new();
        let _ = writeln!(
            out,
            "\n{BOLD}{:<20}{:>7}{:>10}{:>10}{BOLD:#}",
            "microseconds", "times", "median", "worst"
        );
        for (name, times) in rows {
            let mut times: Vec<Duration> = times;
            times.sort_unstable();
            let micros = |at: Option<&Duration>| at.map_or(0.0, |time| time.as_secs_f64() * 1e6);
            let (median, worst) = (micros(times.get(times.len() / 2)), micros(times.last()));
            let _ = writeln!(out, "{name:<20}{:>7}{median:>10.1}{worst:>10.1}", times.len());
        }
        out
    }
}

impl Step {
    fn json(&self) -> Value {
        json!({
            "allowed": self.allowed,
            "share": self.share,
            "id": self.chosen,
            "top": self.top,
            "mask_seconds": self.mask.0.as_secs_f64(),
            "is_new_state": self.mask.1,
        })
    }
}
