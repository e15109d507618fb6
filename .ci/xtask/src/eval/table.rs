//! The metrics as plain text.

use std::fmt::Display;

use super::metrics::{
    Failure, HeldOut, Metrics, NEARLY_CERTAIN, Overlap, Sample, Sampled, Settings, Spread,
};

/// The most failing stories to list, and the most problems of each.
const FAILURES: usize = 10;
const PROBLEMS: usize = 3;

/// The whole table, followed by the failing stories.
pub fn of(metrics: &Metrics) -> String {
    let settings = &metrics.settings;
    let mut out = format!("{}, on the CPU in f32\n", settings.model);
    if let Some(found) = &metrics.held_out {
        held_out(&mut out, settings, found);
    }
    if let Some(found) = &metrics.sampled {
        sampled(&mut out, settings, found);
    }
    overlap(&mut out, &metrics.four_gram_overlap);
    if let Some(found) = &metrics.sampled
        && !found.failures.is_empty()
    {
        failures(&mut out, &found.failures);
    }
    out
}

/// Sampled stories, each under its seed.
pub fn stories(samples: &[Sample]) -> String {
    let story = |sample: &Sample| {
        let end = if sample.ended { "" } else { " [does not end]" };
        format!("\nSeed {}:\n\n{}{end}\n", sample.seed, sample.text)
    };
    samples.iter().map(story).collect()
}

fn held_out(out: &mut String, settings: &Settings, found: &HeldOut) {
    let (after, seed) = (settings.first_held_out, settings.corpus_seed);
    let stories = found.stories;
    title(
        out,
        &format!("Held-out stories: {stories} after the first {after} of seed {seed}"),
    );
    if found.too_long > 0 {
        row(out, "too long for the context, left out", found.too_long);
    }
    row(out, "tokens, with the end token", found.tokens);
    row(out, "-log p a token, nats", format!("{:.4}", found.nats_per_token));
    row(out, "-log p a token, bits", format!("{:.4}", found.bits_per_token));
    row(out, "perplexity", format!("{:.3}", found.perplexity));
    row(out, "bits a story", format!("{:.1}", found.bits_per_story));
    row(
        out,
        "bits of the generator's choices",
        format!("{:.1}", found.generator_bits_per_story),
    );
    row(out, "the model's by the generator's", format!("{:.3}", found.bits_ratio));
    row(out, "words a story", format!("{:.1}", found.mean_words));
}

fn sampled(out: &mut String, settings: &Settings, found: &Sampled) {
    let Settings { temperature, top_p, first_seed, prompt, .. } = settings;
    let last_seed = first_seed + found.stories as u64 - 1;
    title(
        out,
        &format!(
            "Sampled stories: {}, seeds {first_seed} to {last_seed}, temperature {temperature}, top-p {top_p}",
            found.stories
        ),
    );
    if !prompt.is_empty() {
        out.push_str(&format!("  after the prompt {prompt:?}\n"));
    }
    row(out, "end by themselves", percent(found.ended));
    row(out, "introduce everyone with a kind", percent(found.introduced));
    row(out, "keep the kinds", percent(found.kinds_kept));
    row(out, "tell no sentence twice", percent(found.no_repeated_sentence));
    row(out, "all four", percent(found.all_four));
    row(out, "distinct", found.distinct);
    row(out, "word for word from the training", found.trained_on);
    row(out, "words a story", format!("{:.1}", found.mean_words));
    row(out, "tokens drawn", found.tokens);
    row(out, "perplexity under the model", format!("{:.3}", found.perplexity));

    title(out, "Entropy of the next token, in bits, along the sampled stories");
    let head = ["mean", "10 %", "25 %", "50 %", "75 %", "90 %"];
    columns(out, "", head.map(str::to_owned));
    spread(out, "the model's own", &found.entropy);
    spread(out, "after temperature and top-p", &found.sampled_entropy);
    let below = |which: &str| format!("below {NEARLY_CERTAIN} bit, {which}");
    row(out, &below("own"), percent(found.nearly_certain));
    row(out, &below("after both"), percent(found.sampled_nearly_certain));
    row(out, "tokens that could be drawn, mean", format!("{:.2}", found.mean_survivors));
}

fn overlap(out: &mut String, found: &Overlap) {
    title(out, "Word 4-grams of a story that the next story has too, mean");
    let share = |share: Option<f64>| share.map_or("-".to_owned(), percent);
    row(out, "sampled stories", share(found.sampled));
    row(out, "held-out stories", share(found.corpus));
}

fn failures(out: &mut String, failures: &[Failure]) {
    let listed = failures.len().min(FAILURES);
    let first = if failures.len() > listed {
        format!(", the first {listed} of them")
    } else {
        String::new()
    };
    title(out, &format!("Stories that fail: {}{first}", failures.len()));
    for Failure { seed, problems } in &failures[..listed] {
        let shown = problems.len().min(PROBLEMS);
        let more = match problems.len() - shown {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        out.push_str(&format!("  seed {seed}: {}{more}\n", problems[..shown].join("; ")));
    }
}

fn title(out: &mut String, text: &str) {
    out.push_str(&format!("\n{text}\n"));
}

fn row(out: &mut String, name: &str, value: impl Display) {
    out.push_str(&format!("  {name:<34}{value:>10}\n"));
}

fn columns(out: &mut String, name: &str, values: [String; 6]) {
    let values: String = values.iter().map(|value| format!("{value:>8}")).collect();
    out.push_str(&format!("  {name:<36}{values}\n"));
}

fn spread(out: &mut String, name: &str, found: &Spread) {
    let Spread { mean, p10, p25, p50, p75, p90 } = *found;
    columns(out, name, [mean, p10, p25, p50, p75, p90].map(|bits| format!("{bits:.3}")));
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}
