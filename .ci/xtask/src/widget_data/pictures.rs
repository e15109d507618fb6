//! The figures that replace the widgets without JavaScript. They are narrow, so that their text is
//! legible on a phone.

use std::fmt::Write;

use anyhow::{Context, Result};
use slowburn::device::Precision;
use slowburn::kernels::Quantized;
use slowburn::sampling::{Sampler, SamplingParams};
use slowburn::storage::{MatrixFormat, Storage};

use super::OpenDistribution;

const WIDTH: usize = 360;
const ROW: usize = 24;
const CELL: usize = 26;

/// A picture in the style of `book/figures.css`.
pub(super) struct Picture {
    body: String,
    /// The lower edge of the content.
    bottom: usize,
}

impl Picture {
    pub(super) fn new() -> Self {
        Self { body: String::new(), bottom: 0 }
    }

    fn rect(&mut self, x: usize, y: usize, width: f64, height: usize, class: &str) {
        self.bottom = self.bottom.max(y + height);
        let _ = writeln!(
            self.body,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width:.1}\" height=\"{height}\" rx=\"3\" class=\"{class}\"/>"
        );
    }

    pub(super) fn text(&mut self, x: usize, y: usize, class: &str, text: &str) {
        self.bottom = self.bottom.max(y + 4);
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        let _ = writeln!(self.body, "<text x=\"{x}\" y=\"{y}\" class=\"{class}\">{text}</text>");
    }

    fn cell(&mut self, column: usize, y: usize, class: &str, text: &str) {
        let x = column * CELL;
        self.rect(x + 1, y, (CELL - 2) as f64, CELL - 2, class);
        self.text(x + CELL / 2, y + 16, "small middle", text);
    }

    fn line(&mut self, x: usize, y: usize, width: usize) {
        let _ = writeln!(self.body, "<path d=\"M{x} {y}h{width}\" class=\"grid\"/>");
    }

    /// A square around a point.
    fn square(&mut self, x: usize, y: usize, side: f64, class: &str) {
        self.bottom = self.bottom.max(y + 12);
        let (left, top) = (x as f64 - side / 2.0, y as f64 - side / 2.0);
        let _ = writeln!(
            self.body,
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{side:.1}\" height=\"{side:.1}\" class=\"{class}\"/>"
        );
    }

    /// What the colours stand for, in a row below all else.
    fn legend(&mut self, entries: &[(&str, &str)]) {
        let (mut x, y) = (1, self.bottom + 14);
        self.body += "<g class=\"key\">\n";
        for (class, text) in entries {
            self.rect(x, y, 14.0, 14, class);
            self.text(x + 20, y + 11, "small", text);
            x += 44 + 7 * text.len();
        }
        self.body += "</g>\n";
    }

    pub(super) fn finish(self, title: &str) -> String {
        /// The units of an em: as the smallest letters are 12 units high, they have the size of a page's.
        const EM: usize = 12;
        let (height, em) = (self.bottom + 2, WIDTH / EM);
        format!(
            "<svg class=\"fig\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
             style=\"max-width:{em}em\">\n<title>{title}</title>\n{}</svg>\n",
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
    picture.legend(&[("kept", "the beginning"), ("new", "written by ember")]);
    Ok(picture.finish("A beginning of four tokens, and the first that ember writes after it"))
}

/// The tokens of a text with their ids, a box for each.
pub fn tokens(distribution: &OpenDistribution) -> Result<String> {
    let mut picture = Picture::new();
    let tokens = distribution.tokens("Once upon a time, a hedgehog ate 12")?.into_iter();
    boxes(&mut picture, tokens.map(|(id, text)| (text, id.to_string(), "fill")), 1);
    Ok(picture.finish("The tokens of a text, each with its id"))
}

/// Boxes with a token and a line below it, as many in a row as fit, from `top` down. Returns where they
/// end.
pub(super) fn boxes(
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

/// What the heads of the last layer attend to, from the last position of a text: a line for each
/// position, and a square as large as the weight for each head.
pub fn anatomy(distribution: &OpenDistribution) -> Result<String> {
    const SIDE: f64 = 20.0;
    let mut picture = Picture::new();
    let (tokens, heads) = distribution.attention("Finn met a fox. Then Finn")?;
    for head in 0..heads.len() {
        picture.text(130 + 60 * head, 14, "small bold middle", &format!("head {}", head + 1));
    }
    for (position, token) in tokens.iter().enumerate() {
        let y = ROW * (position + 1);
        picture.text(90, y + 16, "mono end", &token.replace(' ', "\u{2423}"));
        picture.line(0, y + 23, 340);
        let class = if position + 1 == tokens.len() {
            "new"
        } else {
            "kept"
        };
        for (head, row) in heads.iter().enumerate() {
            let side = SIDE * f64::from(row[position]).sqrt();
            picture.square(130 + 60 * head, y + 12, side, class);
        }
    }
    picture.legend(&[("kept", "an earlier position"), ("new", "its own")]);
    Ok(picture
        .finish("How much of each position the last one takes up, by the heads of the last layer"))
}

/// The last token of a text at some stops of its way, as bars: the first numbers of each vector.
pub fn way(distribution: &OpenDistribution) -> Result<String> {
    const BARS: usize = 24;
    let mut picture = Picture::new();
    let (token, trace) = distribution.trace("Finn met a fox. Then Finn")?;
    let block = trace.layers.first().context("the model has no layers")?;
    let stops: [(&str, &[f32]); 9] = [
        ("its row of the embedding", &trace.embedding),
        ("block 1: Q, of 4 heads", &block.rotated_query),
        ("K, of 2 heads", &block.rotated_key),
        ("V, of 2 heads", &block.value),
        ("the values, mixed by the weights", &block.mixed),
        ("with what attention adds", &block.after_attention),
        ("the gate", &block.gate),
        ("silu(gate) times up", &block.gated),
        ("the vector after block 1", &block.output),
    ];
    picture.text(0, 14, "small bold", &format!("the token {token:?}"));
    for (row, (name, numbers)) in stops.into_iter().enumerate() {
        let y = 24 + 46 * row;
        let (first, length) = (&numbers[..BARS.min(numbers.len())], numbers.len());
        picture.text(0, y + 12, "small", &format!("{name} [{length}]"));
        let shown: Vec<String> =
            first.iter().take(3).map(|number| format!("{number:.2}")).collect();
        picture.text(358, y + 12, "small end", &format!("{} …", shown.join("  ")));
        let most = first.iter().fold(f32::MIN_POSITIVE, |most, number| most.max(number.abs()));
        for (bar, number) in first.iter().enumerate() {
            let height = (12.0 * number.abs() / most).round() as usize;
            let top = y + 30 - if *number > 0.0 { height } else { 0 };
            picture.rect(15 * bar, top, 12.0, height, "bar");
        }
        picture.line(0, y + 30, 358);
    }
    let best: Vec<String> = trace
        .best
        .iter()
        .map(|(text, probability)| format!("{text:?} {:.0}%", 100.0 * probability))
        .collect();
    let y = picture.bottom + 20;
    picture.text(0, y, "small", &format!("after five blocks, the logits: {}", best.join(", ")));
    Ok(picture
        .finish("A token on its way: the first 24 numbers at each of nine stops, and the logits"))
}

/// A greedy story in int8 and in int4: the last tokens that both have, and what each writes then.
pub fn formats() -> Result<String> {
    let mut picture = Picture::new();
    let stories = [("int8", Quantized::Int8), ("int4", Quantized::Int4)].map(|(name, format)| {
        let storage = Storage {
            layers: Some(format),
            embedding: Some(MatrixFormat::Quantized(format)),
            ..Precision::F32.into()
        };
        Ok((
            name,
            OpenDistribution::stored_as(storage)?.greedy_story("Once upon a time", 100)?,
        ))
    });
    let stories = stories.into_iter().collect::<Result<Vec<_>>>()?;
    let pairs = stories[0].1.iter().zip(&stories[1].1);
    let common = pairs.take_while(|(a, b)| a == b).count();
    let (first, last) = (common.saturating_sub(8), common);
    let box_of = |class: &'static str| move |text: &String| (text.clone(), String::new(), class);
    picture.text(0, 14, "small bold", &format!("in both, up to token {last}"));
    let shown = stories[0].1[first..last].iter().map(box_of("fill"));
    let mut y = boxes(&mut picture, shown, 22) + 24;
    for (name, tokens) in &stories {
        picture.text(0, y, "small bold", &format!("{name} goes on"));
        let shown = tokens.iter().skip(common).take(6).map(box_of("box"));
        y = boxes(&mut picture, shown, y + 8) + 24;
    }
    Ok(picture.finish("A story in int8 and in int4: the same tokens, and then another one"))
}

/// Three requests with their block tables, of which two share their beginning.
pub fn scheduler() -> String {
    let mut picture = Picture::new();
    let tables: [(&str, &[(usize, &str)]); 3] = [
        ("A", &[(0, "shared"), (1, "shared"), (2, "kept")]),
        ("B", &[(0, "shared"), (1, "shared"), (3, "new")]),
        ("C", &[(4, "new")]),
    ];
    for (row, (name, blocks)) in tables.into_iter().enumerate() {
        let y = row * (CELL + 2) + 2;
        picture.text(0, y + 16, "bold", name);
        for (column, (block, class)) in blocks.iter().enumerate() {
            picture.cell(column + 1, y, class, &block.to_string());
        }
    }
    picture.legend(&[
        ("new", "written now"),
        ("kept", "kept, one owner"),
        ("shared", "kept, two"),
    ]);
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
    picture.legend(&[("new", "computed"), ("kept", "read from the cache")]);
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
    picture.legend(&[
        ("new", "computed"),
        ("chosen", "its logits are used"),
        ("padding", "for nothing"),
    ]);
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
        "new"
    };
    picture.cell(column, y, class, &format!("{}{position}", ["A", "B", "C"][prompt]));
}
