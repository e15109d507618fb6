//! How the widgets look: on a desk and a phone, in light and dark, and that nothing jumps.

use std::path::Path;

use anyhow::{Result, ensure};

use super::Proof;
use crate::browser::Look;
use crate::browser::SEEN;

const SCRIPT: &str = include_str!("looks.js");

/// The pages that have widgets.
pub const PAGES: [&str; 22] = [
    "introduction.html",
    "first-light.html",
    "tokens.html",
    "greedy.html",
    "top-k.html",
    "temperature.html",
    "top-p.html",
    "naive-loop.html",
    "kv-cache.html",
    "batching.html",
    "quantized.html",
    "scheduler.html",
    "paged-kv.html",
    "model.html",
    "constrained.html",
    "kernels.html",
    "streaming.html",
    "gpus.html",
    "other-models.html",
    "beyond.html",
    "states.html",
    "server.html",
];

/// Of a window that moves by its whole height, the score is 1. Google calls 0.1 good.
const MOST_SHIFT: f64 = 0.02;

/// How far the page has moved since the engine was asked for, and the fonts of mdBook have come, which
/// move it too.
const SHIFT: &str = "new Promise((resolve) => {
    // A long page takes a while to be laid out with new fonts.
    const after = ({ name, responseEnd }) => responseEnd + (/woff/.test(name) ? 600 : 150);
    const loaded = performance.getEntriesByType('resource').filter(({ name }) => /woff|worker/.test(name));
    const begin = Math.max(0, ...loaded.map(after));
    setTimeout(() => resolve(0), 300);
    new PerformanceObserver((list) => resolve(list.getEntries()
        .filter(({ startTime }) => startTime > begin)
        .reduce((sum, { value }) => sum + value, 0))).observe({ type: 'layout-shift', buffered: true });
})";

pub fn check(proof: &mut Proof, pictures: &Path) -> Result<()> {
    let mut problems = Vec::new();
    for page in PAGES {
        for (size, place) in [(Look::DESK, "desk"), (Look::PHONE, "phone")] {
            for (is_dark, scheme) in [(false, "light"), (true, "dark")] {
                proof.open(page, Look { is_dark, ..size })?;
                let name = page.trim_end_matches(".html");
                let found: Vec<String> =
                    proof.browser.get(&format!("(() => {{ {SEEN}\n{SCRIPT} }})()"))?;
                let shift: f64 = proof.browser.get(SHIFT)?;
                let shifts = (shift > MOST_SHIFT).then(|| format!("moves by {shift:.3}"));
                let found = found.into_iter().chain(shifts).chain(proof.browser.errors());
                problems
                    .extend(found.map(|problem| format!("{name}, {place}, {scheme}: {problem}")));
                proof.pictures(pictures, &format!("{name}-{place}-{scheme}"))?;
            }
        }
    }
    ensure!(problems.is_empty(), "{}", problems.join("\n"));
    Ok(())
}
