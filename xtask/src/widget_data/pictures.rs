//! The figures that replace the widgets without JavaScript. They are narrow, so that their text is
//! legible on a phone.

use std::fmt::Write;

use anyhow::Result;
use slowburn::sampling::{Sampler, SamplingParams};

use super::OpenDistribution;

const WIDTH: usize = 360;
const ROW: usize = 24;
const CELL: usize = 26;

/// A picture in the style of `book/figures.css`.
struct Picture {
    body: String,
    /// The lower edge of the content.
    bottom: usize,
}

impl Picture {
    fn new() -> Self {
        Self { body: String::new(), bottom: 0 }
    }

    fn rect(&mut self, x: usize, y: usize, width: f64, height: usize, class: &str) {
        self.bottom = self.bottom.max(y + height);
        let _ = writeln!(
            self.body,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width:.1}\" height=\"{height}\" rx=\"3\" class=\"{class}\"/>"
        );
    }

    fn text(&mut self, x: usize, y: usize, class: &str, text: &str) {
        self.bottom = self.bottom.max(y + 4);
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        let _ = writeln!(self.body, "<text x=\"{x}\" y=\"{y}\" class=\"{class}\">{text}</text>");
    }

    fn cell(&mut self, column: usize, y: usize, class: &str, text: &str) {
        let x = column * CELL;
        self.rect(x + 1, y, (CELL - 2) as f64, CELL - 2, class);
        self.text(x + CELL / 2, y + 16, "small middle", text);
    }

    fn finish(self, title: &str) -> String {
        let height = self.bottom + 2;
        format!(
            "<svg class=\"fig\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
             style=\"max-width:480px\">\n<title>{title}</title>\n{}</svg>\n",
            self.body
        )
    }
}

pub fn temperature(distribution: &OpenDistribution) -> Result<String> {
    let at = |temperature| SamplingParams { temperature, ..SamplingParams::default() };
    let columns = [("T = 0.5", at(0.5)), ("T = 1", at(1.0)), ("T = 2", at(2.0))];
    bars(distribution, "The same six tokens at three temperatures", 6, columns)
}

pub fn nucleus(distribution: &OpenDistribution) -> Result<String> {
    let plain = SamplingParams::default();
    let columns = [
        ("all", plain.clone()),
        ("top-k 5", SamplingParams { top_k: Some(5), ..plain.clone() }),
        ("top-p 0.9", SamplingParams { top_p: Some(0.9), ..plain }),
    ];
    bars(distribution, "Ten tokens: all, those of top-k, and those of top-p", 10, columns)
}

/// One row per token, most likely first, and one column of bars per set of rules.
fn bars(
    distribution: &OpenDistribution,
    title: &str,
    rows: usize,
    columns: [(&str, SamplingParams); 3],
) -> Result<String> {
    let mut picture = Picture::new();
    for (column, (label, params)) in columns.iter().enumerate() {
        let x = 84 + column * 92;
        let probabilities = Sampler::new(params)?.distribution(&distribution.logits, &[], &[])?;
        picture.text(x, 14, "small bold", label);
        for (row, (id, text)) in distribution.best(rows).into_iter().enumerate() {
            let y = ROW * (row + 1);
            if column == 0 {
                picture.text(0, y + 14, "mono", &format!("{text:?}"));
            }
            let probability = f64::from(probabilities[id as usize]);
            if probability == 0.0 {
                picture.text(x, y + 14, "small", "removed");
                continue;
            }
            picture.rect(x, y + 3, (44.0 * probability).max(1.0), 14, "bar");
            let percent = format!("{:.1}%", 100.0 * probability);
            picture.text(x + 84, y + 14, "small end", &percent);
        }
    }
    Ok(picture.finish(title))
}

pub fn work() -> String {
    let (prompt, steps) = (3, 4);
    let mut picture = Picture::new();
    for (loop_number, name) in ["naive", "cached"].into_iter().enumerate() {
        let left = loop_number * 7;
        picture.text(left * CELL, 14, "small bold", name);
        for step in 0..steps {
            let computed_from = if name == "naive" || step == 0 {
                0
            } else {
                prompt + step - 1
            };
            for position in 0..prompt + step {
                let class = if position < computed_from {
                    "kept"
                } else {
                    "new"
                };
                let y = ROW + step * CELL;
                picture.cell(left + position, y, class, &position.to_string());
            }
        }
    }
    let y = ROW + steps * CELL + 16;
    picture.text(0, y, "small", "18 rows computed");
    picture.text(7 * CELL, y, "small", "6 rows computed");
    picture.finish(
        "A prompt of 3 tokens and 4 steps: the naive loop computes 18 rows, the cached loop 6",
    )
}

pub fn padding() -> String {
    let lengths: [usize; 3] = [5, 2, 3];
    let longest: usize = 5;
    let mut picture = Picture::new();
    let mut y = 14;
    for (name, is_left) in [("padding right", false), ("padding left", true)] {
        picture.text(0, y, "small bold", name);
        for (prompt, &length) in lengths.iter().enumerate() {
            for column in 0..longest {
                let skipped = if is_left { longest - length } else { 0 };
                let position = column.checked_sub(skipped).filter(|&position| position < length);
                padded_cell(&mut picture, column, y + 8 + prompt * CELL, prompt, length, position);
            }
        }
        y += 3 * CELL + 34;
    }
    picture.text(0, y, "small bold", "end to end");
    let mut column = 0;
    for (prompt, &length) in lengths.iter().enumerate() {
        for position in 0..length {
            padded_cell(&mut picture, column, y + 8, prompt, length, Some(position));
            column += 1;
        }
    }
    picture
        .finish("Three prompts of 5, 2 and 3 tokens, padded to 15 cells or laid end to end in 10")
}

fn padded_cell(
    picture: &mut Picture,
    column: usize,
    y: usize,
    prompt: usize,
    length: usize,
    position: Option<usize>,
) {
    let Some(position) = position else {
        return picture.cell(column, y, "padding", "pad");
    };
    let class = if position + 1 == length {
        "chosen"
    } else {
        ["new", "kept", "box"][prompt]
    };
    picture.cell(column, y, class, &format!("{}{position}", ["A", "B", "C"][prompt]));
}
