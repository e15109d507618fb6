//! *06*: prompts of different lengths in one pass, padded on either side or end to end.

use serde::{Deserialize, Serialize};
use slowburn::model::pass::Pass;
use slowburn::pretrained::Pretrained;

use crate::widget::{Result, Widget, in_json};

pub struct Layout {
    pretrained: &'static Pretrained,
}

#[derive(Deserialize)]
struct Request {
    lengths: Vec<usize>,
    kind: Kind,
}

#[derive(Deserialize)]
enum Kind {
    #[serde(rename = "right")]
    Right,
    #[serde(rename = "left")]
    Left,
    #[serde(rename = "end to end")]
    EndToEnd,
}

#[derive(Serialize)]
struct Answer {
    rows: Vec<Vec<Cell>>,
    /// The cells, and those of them that are padding.
    computed: usize,
    padding: usize,
}

#[derive(Clone, Serialize)]
struct Cell {
    prompt: usize,
    /// The position in its prompt; none for padding.
    position: Option<usize>,
    /// Whether the next token is chosen from its logits.
    is_last: bool,
}

impl Layout {
    pub fn new(pretrained: &'static Pretrained) -> Self {
        Self { pretrained }
    }

    /// The cells of a pass of this crate, which has no padding.
    fn end_to_end(&self, lengths: &[usize]) -> Result<Vec<Cell>> {
        let model = &self.pretrained.model;
        let caches: slowburn::Result<Vec<_>> =
            lengths.iter().map(|&length| model.new_cache(length)).collect();
        let mut caches = caches?;
        let mut pass = Pass::default();
        for (length, cache) in lengths.iter().zip(&mut caches) {
            pass.push(*length, Some(cache));
        }
        let prompts = lengths.iter().enumerate();
        let prompts = prompts.flat_map(|(prompt, length)| (0..*length).map(move |_| prompt));
        let cells = prompts.zip(pass.positions());
        Ok(cells
            .map(|(prompt, position)| {
                let is_last = position + 1 == lengths[prompt];
                Cell { prompt, position: Some(position), is_last }
            })
            .collect())
    }
}

/// A prompt in a row of `width` columns, of which `before` at the left are padding.
fn padded(prompt: usize, length: usize, width: usize, before: usize) -> Vec<Cell> {
    let cell = |column: usize| {
        let position = column.checked_sub(before).filter(|position| *position < length);
        Cell {
            prompt,
            position,
            is_last: position.is_some_and(|position| position + 1 == length),
        }
    };
    (0..width).map(cell).collect()
}

impl Widget for Layout {
    fn answer(&mut self, request: &str) -> Result<String> {
        in_json(request, |Request { lengths, kind }| {
            let width = lengths.iter().copied().max().unwrap_or(0);
            let prompts = lengths.iter().enumerate();
            let rows: Vec<Vec<Cell>> = match kind {
                Kind::Right => prompts.map(|(i, length)| padded(i, *length, width, 0)).collect(),
                Kind::Left => {
                    prompts.map(|(i, length)| padded(i, *length, width, width - length)).collect()
                }
                Kind::EndToEnd => vec![self.end_to_end(&lengths)?],
            };
            let cells = rows.iter().flatten();
            Ok(Answer {
                computed: cells.clone().count(),
                padding: cells.filter(|cell| cell.position.is_none()).count(),
                rows,
            })
        })
    }
}
