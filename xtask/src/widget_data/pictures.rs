//! The figures that replace the widgets without JavaScript. They are narrow, so that their text is
//! legible on a phone.

use std::fmt::Write;

use anyhow::Result;
use slowburn::device::Precision;
use slowburn::kernels::Quantized;
use slowburn::sampling::{Sampler, SamplingParams};
use slowburn::storage::Storage;

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

/// A prompt and the first tokens of its story, a box for each.
pub fn story(distribution: &OpenDistribution) -> Result<String> {
    let prompt = "Once upon a time";
    let mut picture = Picture::new();
    let tokens = distribution.tokens(prompt)?.into_iter().skip(1);
    let tokens = tokens.map(|(_, text)| (text, String::new(), "kept"));
    let story = distribution.story(prompt, 18)?.into_iter();
    let story = story.map(|text| (text, String::new(), "new"));
    boxes(&mut picture, tokens.chain(story), 1);
    Ok(picture.finish("A beginning of four tokens, and the first that ember writes after it"))
}

/// The tokens of a text with their ids, a box for each.
pub fn tokens(distribution: &OpenDistribution) -> Result<String> {
    let mut picture = Picture::new();
    let tokens = distribution.tokens("Once upon a time, a hedgehog ate 12")?.into_iter();
    boxes(&mut picture, tokens.map(|(id, text)| (text, id.to_string(), "kept")), 1);
    Ok(picture.finish("The tokens of a text, each with its id"))
}

/// Boxes with a token and a line below it, as many in a row as fit, from `top` down. Returns where they
/// end.
fn boxes(
    picture: &mut Picture,
    tokens: impl Iterator<Item = (String, String, &'static str)>,
    top: usize,
) -> usize {
    /// The width of a letter.
    const LETTER: usize = 8;
    let (mut x, mut y) = (1, top);
    for (text, below, class) in tokens {
        let text = text.replace(' ', "\u{2423}");
        let width = LETTER * text.chars().count().max(below.len()) + 12;
        let height = if below.is_empty() { ROW } else { 2 * ROW - 8 };
        if x + width > WIDTH {
            (x, y) = (1, y + height + 6);
        }
        picture.rect(x, y, width as f64, height, class);
        picture.text(x + width / 2, y + 16, "mono middle", &text);
        if !below.is_empty() {
            picture.text(x + width / 2, y + 33, "small middle", &below);
        }
        x += width + 4;
    }
    picture.bottom
}

/// What the heads of the last layer attend to, from the last position of a text: the darker, the more.
pub fn anatomy(distribution: &OpenDistribution) -> Result<String> {
    let mut picture = Picture::new();
    let (tokens, heads) = distribution.attention("Finn met a fox. Then Finn")?;
    for (head, row) in heads.iter().enumerate() {
        let y = 14 + head * (2 * ROW + 12);
        picture.text(0, y, "small bold", &format!("head {}", head + 1));
        for (column, (token, weight)) in tokens.iter().zip(row).enumerate() {
            let width = WIDTH / tokens.len();
            let x = column * width;
            let height = (24.0 * weight).round().max(1.0) as usize;
            picture.rect(x + 4, y + 30 - height, (width - 8) as f64, height, "bar");
            picture.text(x + width / 2, y + 44, "small middle", token.trim());
        }
    }
    Ok(picture.finish("What each head of the last layer takes up from the tokens before"))
}

/// A greedy story in int8 and in int4, to the token after the one where they part.
pub fn formats() -> Result<String> {
    let mut picture = Picture::new();
    let stories = [("int8", Quantized::Int8), ("int4", Quantized::Int4)].map(|(name, format)| {
        let storage = Storage {
            layers: Some(format),
            embedding: Some(format),
            ..Precision::F32.into()
        };
        Ok((
            name,
            OpenDistribution::stored_as(storage)?.greedy_story("Once upon a time", 100)?,
        ))
    });
    let stories = stories.into_iter().collect::<Result<Vec<_>>>()?;
    let pairs = stories[0].1.iter().zip(&stories[1].1);
    let parts = pairs.take_while(|(a, b)| a == b).count();
    let mut y = 14;
    for (name, tokens) in &stories {
        let first = parts.saturating_sub(4);
        picture.text(0, y, "small bold", &format!("{name}, from token {}", first + 1));
        let shown = tokens.iter().enumerate().skip(first).take(7);
        let shown = shown.map(|(i, text)| {
            let class = if i < parts { "kept" } else { "chosen" };
            (text.clone(), String::new(), class)
        });
        let bottom = boxes(&mut picture, shown, y + 8);
        y = bottom + 24;
    }
    Ok(picture.finish("A story in int8 and in int4: the same tokens, and then another one"))
}

/// Three requests with their block tables, of which two share their beginning.
pub fn scheduler() -> String {
    let mut picture = Picture::new();
    let tables: [(&str, &[usize]); 3] = [("A", &[0, 1, 2]), ("B", &[0, 1, 3]), ("C", &[4])];
    for (row, (name, blocks)) in tables.into_iter().enumerate() {
        let y = row * CELL + 2;
        picture.text(0, y + 16, "bold", name);
        for (column, block) in blocks.iter().enumerate() {
            let is_shared = tables.iter().filter(|(_, blocks)| blocks.contains(block)).count() > 1;
            let class = if is_shared { "chosen" } else { "new" };
            picture.cell(column + 1, y, class, &block.to_string());
        }
    }
    picture.finish("The block tables of three requests: A and B share the blocks 0 and 1")
}

pub fn greedy(distribution: &OpenDistribution) -> Result<String> {
    let greedy = SamplingParams { temperature: 0.0, ..SamplingParams::default() };
    let columns = [("the model", SamplingParams::default()), ("greedy", greedy)];
    bars(distribution, "Eight tokens: the model's probabilities, and greedy", 8, columns)
}

pub fn top_k(distribution: &OpenDistribution) -> Result<String> {
    let at = |k| SamplingParams { top_k: Some(k), ..SamplingParams::default() };
    let columns = [
        ("the model", SamplingParams::default()),
        ("k = 5", at(5)),
        ("k = 2", at(2)),
    ];
    bars(distribution, "Eight tokens: all, and those of top-k with 5 and 2", 8, columns)
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
fn bars<const N: usize>(
    distribution: &OpenDistribution,
    title: &str,
    rows: usize,
    columns: [(&str, SamplingParams); N],
) -> Result<String> {
    let mut picture = Picture::new();
    for (column, (label, params)) in columns.iter().enumerate() {
        let x = 84 + column * 92;
        let probabilities = Sampler::new(params)?.distribution(&distribution.logits, &[], &[])?;
        picture.text(x, 14, "small bold", label);
        for (row, (id, text)) in distribution.best(rows)?.into_iter().enumerate() {
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
