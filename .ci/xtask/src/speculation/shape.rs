//! A model whose steps wait for memory, and guesses that are right at a given rate.

use std::iter::zip;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use slowburn::device::Precision;
use slowburn::generate::{self, Chosen, Generation};
use slowburn::model::Model;
use slowburn::speculation::{Draft, DraftLength, PassCosts, Speculator, Text, gain};
use slowburn_examples::chart::{self, Axis, LineChart, Series};

use super::{MOST, SpeculationArgs};
use crate::bench::{Dtype, Ours, Workload, greedy, median};
use crate::random_checkpoint::{self, Shape};

/// The draft tokens of a step, where their number is fixed.
const DRAFTED: usize = 4;
const TOKENS: usize = 64;
const ACCEPTANCES: [f64; 6] = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0];

/// Knows the text, and guesses each token right with some probability.
struct Recorded {
    ids: Vec<u32>,
    acceptance: f64,
    vocab: u32,
    generator: ChaCha8Rng,
}

impl Draft for Recorded {
    fn propose(&mut self, text: &Text<'_>, most: usize) -> slowburn::Result<Vec<u32>> {
        let done = text.tokens.len() - text.prompt;
        let next = self.ids[done.min(self.ids.len())..].iter().take(most);
        let mut guess = |id: &u32| {
            let is_right = f64::from(self.generator.next_u32()) < self.acceptance * 2f64.powi(32);
            if is_right { *id } else { (id + 1) % self.vocab }
        };
        Ok(next.map(&mut guess).collect())
    }
}

pub fn run(args: &SpeculationArgs) -> Result<()> {
    // The command is not run in the folder of the project where it draws a figure of the book.
    let folder = crate::root().join("data/smollm2-135m");
    random_checkpoint::write_missing(Shape::SmolLm2_135m, &folder, Precision::F32)?;
    let model = Ours::load(Some(&folder), Dtype::F32, args.threads)?.model;
    let costs = Arc::new(PassCosts::measure(&model)?);
    let relative = costs.relative();
    let cells = |cells: Vec<String>| println!("| {} |", cells.join(" | "));
    cells((1..=relative.len()).map(|rows| format!("{rows} rows")).collect());
    cells(relative.iter().map(|_| "---:".to_owned()).collect());
    cells(relative.iter().map(|cost| format!("{cost:.2}")).collect());

    let pass = costs.of(1 + DRAFTED) / costs.of(1);
    let text = generate(&model, None)?.0.ids;
    println!(
        "\n| acceptance | tokens a step | by the formula | measured | auto | a draft token may cost |"
    );
    println!("|---:|---:|---:|---:|---:|---:|");
    let (mut measured, mut auto) = (Vec::new(), Vec::new());
    for acceptance in ACCEPTANCES {
        let [fixed, best] = ratios(args, &model, &text, acceptance, &costs)?;
        let tokens = gain::tokens_per_step(acceptance, DRAFTED);
        // What is left of the time that the tokens save, for each draft token.
        let may_cost = (tokens - pass) / DRAFTED as f64;
        println!(
            "| {acceptance:.1} | {tokens:.2} | {:.2} | {fixed:.2} | {best:.2} | {} |",
            gain::speed_up(acceptance, DRAFTED, pass, 0.0),
            if may_cost > 0.0 {
                format!("{may_cost:.2}")
            } else {
                "-".to_owned()
            },
        );
        measured.push((acceptance, fixed));
        auto.push((acceptance, best));
    }
    args.chart.as_deref().map_or(Ok(()), |file| draw(file, &costs, measured, auto))
}

/// How many times as fast the text is with as many draft tokens as ever, and with as many as pay.
fn ratios(
    args: &SpeculationArgs,
    model: &Model,
    text: &[u32],
    acceptance: f64,
    costs: &Arc<PassCosts>,
) -> Result<[f64; 2]> {
    let mut rounds = Vec::new();
    for round in 0..=args.rounds as u64 {
        let (_, plain) = generate(model, None)?;
        let lengths = [
            DraftLength::fixed(DRAFTED),
            DraftLength::best(MOST, costs.clone(), 0.0),
        ];
        let mut ratios = [0.0; 2];
        for (length, ratio) in zip(lengths, &mut ratios) {
            let draft = Recorded {
                ids: text.to_vec(),
                acceptance,
                vocab: model.config().vocab_size as u32,
                generator: ChaCha8Rng::seed_from_u64(round),
            };
            *ratio = plain / generate(model, Some(Speculator::new(draft, length)))?.1;
        }
        rounds.extend((round > 0).then_some(ratios));
    }
    Ok([0, 1].map(|way| median(rounds.iter().map(|ratios| ratios[way]))))
}

/// The text, with draft tokens or without, and the seconds from its first token on.
fn generate(model: &Model, speculator: Option<Speculator>) -> Result<(Generation, f64)> {
    let options = greedy(TOKENS);
    let prompt = Workload::new(32, TOKENS, model.config().vocab_size).prompt;
    let mut first = None;
    let on_token = &mut |_: &Chosen<'_>| {
        first.get_or_insert_with(Instant::now);
        ControlFlow::Continue(())
    };
    let text = match speculator {
        None => generate::cached(model, &prompt, &options, on_token)?,
        Some(mut by) => generate::speculated(model, &mut by, &prompt, &options, on_token)?,
    };
    Ok((text, first.context("nothing was generated")?.elapsed().as_secs_f64()))
}

fn draw(
    file: &Path,
    costs: &PassCosts,
    measured: Vec<(f64, f64)>,
    auto: Vec<(f64, f64)>,
) -> Result<()> {
    let pass = costs.of(1 + DRAFTED) / costs.of(1);
    let formula = (0..=50).map(|i| f64::from(i) / 50.0);
    let formula = formula.map(|a| (a, gain::speed_up(a, DRAFTED, pass, 0.0)));
    let chart = LineChart {
        x: Axis::linear("acceptance rate"),
        y: Axis::linear("times as fast"),
        series: vec![
            Series::new("the formula, 4 draft tokens", formula),
            Series::new("measured, 4 draft tokens", measured),
            Series::new("measured, auto", auto),
        ],
    };
    Ok(chart::lines(file, "Speed over the acceptance rate", &[chart])?)
}
