//! `13_guess_ahead --acceptance`: how many draft tokens of a draft model are accepted.

use std::fmt::Write;
use std::ops::ControlFlow;
use std::sync::Arc;

use serde_json::json;
use slowburn::generate::{self, Chosen};
use slowburn::model::Model;
use slowburn::pretrained::Pretrained;
use slowburn::sampling::SamplingParams;
use slowburn::speculation::{Acceptance, DraftLength, DraftModel, Draws, Speculator};

use slowburn_examples::cli::{BOLD, Result, print};

use super::report::GuessArgs;

const TEMPERATURES: [f32; 4] = [0.0, 0.5, 0.8, 1.2];

/// How many texts are drawn at each temperature.
const TEXTS: u64 = 16;

/// How the draft model draws, and what is accepted.
const WAYS: [(&str, Draws, Acceptance); 4] = [
    ("independent draws", Draws::Independent, Acceptance::Compare),
    ("coupled draws", Draws::Coupled, Acceptance::Compare),
    ("residual sampling", Draws::Independent, Acceptance::Residual),
    ("the most likely token", Draws::Greedy, Acceptance::Compare),
];

/// Prints which share of draft tokens is accepted in each way at several temperatures. Each step has
/// one draft token, so that each is compared.
///
/// # Errors
/// Those of the models; a closed standard output.
pub fn acceptance(args: &GuessArgs) -> Result<()> {
    let (pretrained, _) = args.generate.load()?;
    let (pretrained, draft) = args.generate.model.load_draft(args.draft.as_ref(), pretrained)?;
    let (draft, mut rows) = (Arc::new(draft), Vec::new());
    let mut out = format!("{BOLD}{:<24}", "draft tokens accepted");
    for at in TEMPERATURES {
        let _ = write!(out, "{:>9}", format!("t = {at}"));
    }
    let _ = writeln!(out, "{BOLD:#}");
    for (name, draws, acceptance) in WAYS {
        let share = |&at: &f32| share(args, &pretrained, &draft, (draws, acceptance), at);
        let shares = TEMPERATURES.iter().map(share).collect::<Result<Vec<f64>>>()?;
        let _ = write!(out, "{name:<24}");
        for share in &shares {
            let _ = write!(out, "{:>8.1}%", 100.0 * share);
        }
        let _ = writeln!(out);
        rows.push(json!({ "name": name, "accepted": shares }));
    }
    print(args.generate.json, &json!({ "temperatures": TEMPERATURES, "ways": rows }), &out)
}

/// The share that is accepted, of all draft tokens of several texts.
fn share(
    args: &GuessArgs,
    pretrained: &Pretrained,
    draft: &Arc<Model>,
    (draws, acceptance): (Draws, Acceptance),
    temperature: f32,
) -> Result<f64> {
    let (model, prompt) = (&pretrained.model, args.generate.prompt_ids(pretrained)?);
    let (mut drafted, mut accepted) = (0, 0);
    // The most likely text is one.
    for seed in 0..if temperature == 0.0 { 1 } else { TEXTS } {
        let mut options = args.options();
        options.sampling = SamplingParams { temperature, seed, ..options.sampling };
        let draft = DraftModel::new(draft.clone(), model, draws)?;
        let speculator = Speculator::new(draft, DraftLength::fixed(1));
        let go_on = &mut |_: &Chosen<'_>| ControlFlow::Continue(());
        let by = &mut speculator.with_acceptance(acceptance);
        let text = generate::speculated(model, by, &prompt, &options, go_on)?;
        drafted += text.drafted;
        accepted += text.accepted;
    }
    Ok(accepted as f64 / drafted.max(1) as f64)
}
