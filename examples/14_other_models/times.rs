//! `--measure`: times, on models that are too large for the caches of a processor.

use std::fmt::Write;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use slowburn::kv::KvCache;
use slowburn::model::{Input, Logits, Model};

use slowburn_examples::cli::Result;

use super::shapes::{Mixture, WindowPattern, random};

/// The window, and the lengths of text at which a token is timed.
const WINDOW: usize = 512;
const LENGTHS: [usize; 5] = [512, 1024, 2048, 4096, 8192];
/// The prompt tokens of a pass, and the steps at each length or batch size.
const CHUNK: usize = 512;
const STEPS: usize = 15;
/// The experts that are timed.
const MIXTURE: Mixture = Mixture { count: 8, per_token: 2, d_ff: 1024 };

/// The time of a token at several lengths, with windows in some of the layers.
///
/// # Errors
/// Too little memory.
pub(super) fn windows() -> Result<(String, Value)> {
    let mut columns = Vec::new();
    for pattern in WindowPattern::ALL {
        let model = random(256, 512, pattern.layers(WINDOW))?;
        let mut cache = model.new_cache(LENGTHS[LENGTHS.len() - 1])?;
        let mut times = Vec::new();
        for length in LENGTHS {
            while cache.length() < length - STEPS {
                let count = CHUNK.min(length - STEPS - cache.length());
                let ids: Vec<u32> = (0..count as u32).map(|id| id % 500).collect();
                let input = Input::after(&mut cache, &ids).with_logits(Logits::None);
                model.forward(&mut [input])?;
            }
            times.push(middle(|| step(&model, std::slice::from_mut(&mut cache)))?);
        }
        columns.push((pattern, times));
    }
    let mut out = String::new();
    let heads: String =
        columns.iter().map(|(pattern, _)| format!("{:>16}", pattern.name())).collect();
    let _ = writeln!(out, "{:<10}{heads}   ms, window {WINDOW}", "tokens");
    for (i, length) in LENGTHS.iter().enumerate() {
        let cell = |(_, times): &(WindowPattern, Vec<Duration>)| {
            format!("{:>16.2}", 1e3 * times[i].as_secs_f64())
        };
        let cells: String = columns.iter().map(cell).collect();
        let _ = writeln!(out, "{length:<10}{cells}");
    }
    let json = columns.iter().map(|(pattern, times)| {
        let times: Vec<f64> = times.iter().map(Duration::as_secs_f64).collect();
        json!({ "windows": pattern.name(), "lengths": LENGTHS, "seconds": times })
    });
    Ok((out, json.collect()))
}

/// Tokens a second in batches, of a model with experts and of two dense ones.
///
/// # Errors
/// Too little memory.
pub(super) fn experts() -> Result<(String, Value)> {
    let models = MIXTURE.models_of(512, 4)?;
    let mut rows = Vec::new();
    for size in Mixture::BATCH_SIZES {
        let mut rates = [0.0; 3];
        for (rate, model) in rates.iter_mut().zip(&models) {
            let mut caches =
                (0..size).map(|_| model.new_cache(2 * STEPS)).collect::<Result<Vec<_>, _>>()?;
            let time = middle(|| step(model, &mut caches))?;
            *rate = size as f64 / time.as_secs_f64();
        }
        rows.push((size, rates));
    }
    let alone = rows.first().map_or([1.0; 3], |(_, rates)| *rates);
    let mut out = String::new();
    let names = ["experts", "same work", "same size"].iter().zip(&models);
    let head =
        |(name, model): (&&str, &Model)| format!("{name}, {:.0} MB", model.bytes() as f64 / 1e6);
    let heads: String = names.map(head).map(|head| format!("{head:>22}")).collect();
    let _ = writeln!(out, "{:<8}{heads}", "batch");
    for (size, rates) in &rows {
        // The bracket stays at its number, whatever the width: what compares outputs reads words.
        let gain = |i: usize| format!("({:.1} x)", rates[i] / alone[i]);
        let cell = |i: usize| format!("{:>13.0} {:>8}", rates[i], gain(i));
        let cells: String = (0..3).map(cell).collect();
        let _ = writeln!(out, "{size:<8}{cells}");
    }
    let json =
        rows.iter().map(|(size, rates)| json!({ "batch": size, "tokens_per_second": rates }));
    Ok((out, json.collect()))
}

/// A decode step of the sequences of these caches. Each takes another token, so that experts differ.
fn step(model: &Model, caches: &mut [KvCache]) -> Result<()> {
    let next = |i: usize, cache: &KvCache| ((7919 * i + 104_729 * cache.length()) % 500) as u32;
    let ids: Vec<u32> = caches.iter().enumerate().map(|(i, cache)| next(i, cache)).collect();
    let inputs = caches.iter_mut().zip(ids.chunks(1)).map(|(cache, id)| Input::after(cache, id));
    model.forward(&mut inputs.collect::<Vec<_>>())?;
    Ok(())
}

/// The middle one of the times that `work` takes.
fn middle(mut work: impl FnMut() -> Result<()>) -> Result<Duration> {
    let mut times = [Duration::ZERO; STEPS];
    for time in &mut times {
        let start = Instant::now();
        work()?;
        *time = start.elapsed();
    }
    times.sort();
    Ok(times[STEPS / 2])
}
