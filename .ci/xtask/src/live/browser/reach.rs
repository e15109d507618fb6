//! *14*: what a position takes up through windows is what the masks of the exercise let through.

#[path = "../../../../../solutions/src/other_models/blocks_behind.rs"]
mod blocks_behind;
#[path = "../../../../../solutions/src/other_models/window_mask.rs"]
mod window_mask;

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::json;

use super::{Proof, patiently, same};
use crate::browser::Look;
use blocks_behind::needed_blocks;
use window_mask::window_mask;

pub fn check(proof: &mut Proof, _: &Path) -> Result<()> {
    proof.open("other-models.html", Look::DESK)?;
    // With the first position that the query takes up, of which the page speaks.
    for (query, window, layers, global, first) in [
        (15, 4, 1, 0, 12),
        (15, 4, 3, 0, 6),
        (15, 4, 4, 0, 3),
        (15, 4, 5, 0, 0),
        (15, 4, 3, 1, 0),
        (15, 4, 3, 2, 0),
        (15, 4, 3, 3, 0),
        (15, 4, 3, 4, 6),
        (15, 1, 6, 0, 15),
        (9, 3, 2, 0, 5),
        (0, 8, 6, 6, 0),
    ] {
        for (i, value) in [query, window, layers, global].into_iter().enumerate() {
            proof.slide("reach", i, &value.to_string())?;
        }
        let windows: Vec<Option<usize>> =
            (1..=layers).map(|layer| (layer != global).then_some(window)).collect();
        let length = query + 1;
        // From the last layer down: whom the query attends to, and what reaches it.
        let mut reached: Vec<bool> = (0..length).map(|position| position == query).collect();
        let (mut keys, mut kinds, mut reaches) = (0, Vec::new(), Vec::new());
        for window in windows.iter().rev() {
            let mask = window_mask(0..length, 0, *window);
            let through = |key: usize| (0..length).any(|by| reached[by] && mask[by][key]);
            reached = (0..length).map(through).collect();
            let own = &mask[query];
            keys += own.iter().filter(|sees| **sees).count();
            kinds.extend((0..16).map(|position| match position {
                _ if position == query => "chosen",
                _ if position > query || !reached[position] => "padding",
                _ if own[position] => "new",
                _ => "kept",
            }));
            reaches.insert(0, reached.iter().position(|is| *is).context("itself")?);
        }
        ensure!(reaches[0] == first, "from {} on, instead of {first}", reaches[0]);
        let needed = needed_blocks(length, &windows, 2);
        let expected = json!({
            "at": query, "wide": window, "layers": layers, "global": global, "reaches": reaches,
            "keys": keys, "blocks": needed.end, "behind": needed.start,
        });
        let what = format!("query {query}, window {window}, {layers} layers, global {global}");
        patiently(|| same(&proof.data("reach", "shown")?, &expected, &what))?;
        let drawn: Vec<String> = proof.browser.get(
            "[...document.querySelectorAll('[data-widget=reach] .widget-cells span')]\
             .map((cell) => cell.className)",
        )?;
        ensure!(drawn == kinds, "{what}: {drawn:?} instead of {kinds:?}");
    }
    Ok(())
}
