//! The numbers that there are in few bits, relative to the greatest, and where weights lie between them.

use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, Result};
use slowburn::kernels::GROUP;

use super::{Error, Group, Matrix, greatest, others, rows};
use crate::small_float::{E2M1, E4M3, SmallFloat};

/// How uneven groups are: their greatest magnitude, relative to the root mean square of their other weights.
const UNEVEN: [(&str, [f64; 2]); 4] = [
    ("below 2", [0.0, 2.0]),
    ("2 to 3", [2.0, 3.0]),
    ("3 to 4", [3.0, 4.0]),
    ("above 4", [4.0, f64::INFINITY]),
];

/// `cargo xtask quantization numbers`
pub fn run(matrices: &[Matrix], chart: Option<&Path>) -> Result<()> {
    let grids = grids();
    println!("| | numbers | step next to 0 | step next to the greatest |");
    println!("| --- | ---: | ---: | ---: |");
    for (name, numbers) in &grids {
        // The greatest magnitude is the first number.
        let zero = numbers.partition_point(|number| *number < 0.0);
        let [next, last] = [zero - 1, 0].map(|i| 100.0 * (numbers[i + 1] - numbers[i]));
        println!("| {name} | {} | {next:.4}% | {last:.2}% |", numbers.len());
    }
    match chart {
        Some(path) => std::fs::write(path, draw(&groups(matrices).concat(), &grids))
            .with_context(|| format!("cannot write {}", path.display())),
        None => Ok(()),
    }
}

/// `cargo xtask quantization uneven`
pub fn uneven(matrices: &[Matrix]) -> Result<()> {
    let grids = grids();
    let groups = groups(matrices);
    println!("| greatest / others | groups | int4: error of the others | E2M1 | int8 | E4M3 |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: |");
    for (name, [from, to]) in UNEVEN {
        let is_so = |group: &&Vec<f32>| (from..to).contains(&unevenness(group));
        let found: Vec<f32> = groups.iter().filter(is_so).flatten().copied().collect();
        let share = 100.0 * found.len() as f64 / groups.iter().flatten().count() as f64;
        let errors = grids.iter().map(|(_, numbers)| {
            let stored: Vec<f32> = found.iter().map(|weight| nearest(*weight, numbers)).collect();
            format!("{:.1}%", Error::of(&found, &stored).percent())
        });
        let errors = errors.collect::<Vec<_>>().join(" | ");
        println!("| {name} | {share:.0}% | {errors} |");
    }
    println!("\nGroups of {GROUP}, with scales in f32 that reach the greatest weight exactly.");
    Ok(())
}

/// The numbers of each format in a group whose greatest weight is -1, in order.
fn grids() -> [(&'static str, Vec<f32>); 4] {
    let integers = |from: i32, to: i32| (from..=to).map(move |i| i as f32 / -from as f32).collect();
    let floats = |float: SmallFloat| {
        float.numbers().into_iter().map(|number| number / float.greatest).collect()
    };
    [
        ("int4", integers(-8, 7)),
        ("E2M1", floats(E2M1)),
        ("int8", integers(-127, 127)),
        ("E4M3", floats(E4M3)),
    ]
}

/// The weights of each group but the greatest, relative to it: it would be -1.
fn groups(matrices: &[Matrix]) -> Vec<Vec<f32>> {
    let groups = rows(matrices).flat_map(|row| row.as_chunks::<GROUP>().0);
    let relative = |group: &Group| {
        let one = greatest(group);
        others(group, one).into_iter().map(|weight| weight / -group[one]).collect()
    };
    groups.filter(|group| group[greatest(group)] != 0.0).map(relative).collect()
}

fn unevenness(others: &[f32]) -> f64 {
    let mean = Error::of(others, others).weights / others.len() as f64;
    1.0 / mean.sqrt()
}

fn nearest(weight: f32, numbers: &[f32]) -> f32 {
    let above = numbers.partition_point(|number| *number < weight).clamp(1, numbers.len() - 1);
    let [below, above] = [numbers[above - 1], numbers[above]];
    if weight - below < above - weight {
        below
    } else {
        above
    }
}

/// A line for each format with a mark at each number, and above them how many weights are where.
fn draw(weights: &[f32], grids: &[(&str, Vec<f32>)]) -> String {
    const WIDTH: f32 = 400.0;
    const HIGHEST: f32 = 56.0;
    const BINS: usize = 40;
    const LEFT: f32 = 46.0;
    let x = |number: f32| LEFT + (number + 1.0) / 2.0 * (WIDTH - LEFT - 14.0);
    let mut counts = [0_usize; BINS];
    for weight in weights {
        counts[(((weight + 1.0) / 2.0 * BINS as f32) as usize).min(BINS - 1)] += 1;
    }
    let most = counts.iter().copied().max().unwrap_or(1) as f32;
    let mut body = String::new();
    let mut line = |text: &str| {
        let _ = writeln!(body, "{text}");
    };
    let text = |x: f32, y: f32, class: &str, text: &str| {
        format!("<text x=\"{x:.1}\" y=\"{y}\" class=\"small {class}\">{text}</text>")
    };
    line(&text(4.0, 14.0, "bold", "how many of ember's weights are where"));
    let floor = 24.0 + HIGHEST;
    for (i, count) in counts.iter().enumerate() {
        let [from, to] = [i, i + 1].map(|i| x(2.0 * i as f32 / BINS as f32 - 1.0));
        let height = HIGHEST * *count as f32 / most;
        line(&format!(
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{height:.1}\" class=\"bar\"/>",
            from + 0.5,
            floor - height,
            to - from - 1.0,
        ));
    }
    line(&format!("<path d=\"M{:.1} {floor}H{:.1}\" class=\"grid\"/>", x(-1.0), x(1.0)));
    for (i, (name, numbers)) in grids.iter().enumerate() {
        let y = floor + 24.0 + 30.0 * i as f32;
        line(&text(4.0, y + 4.0, "bold", name));
        line(&format!("<path d=\"M{:.1} {y}H{:.1}\" class=\"grid\"/>", x(-1.0), x(1.0)));
        // Where marks are denser than this, they would be one.
        let mut last = f32::NEG_INFINITY;
        let mut marks = String::new();
        for number in numbers {
            if x(*number) - last >= 1.0 {
                last = x(*number);
                let _ = write!(marks, "M{last:.1} {}v16", y - 8.0);
            }
        }
        line(&format!("<path d=\"{marks}\" class=\"mark\"/>"));
    }
    let bottom = floor + 24.0 + 30.0 * grids.len() as f32;
    for (number, label) in [
        (-1.0, "−1"),
        (-0.5, "−½"),
        (0.0, "0"),
        (0.5, "½"),
        (1.0, "1"),
    ] {
        line(&text(x(number), bottom, "middle", label));
    }
    line(&text(
        x(0.0),
        bottom + 20.0,
        "middle",
        "times the greatest magnitude of the group",
    ));
    let height = bottom + 28.0;
    let em = WIDTH / 12.0;
    format!(
        "<svg class=\"fig\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" style=\"max-width:{em:.2}em\">\n\
         <title>The numbers of int4, E2M1, int8 and E4M3, and where weights lie</title>\n\
         <desc>The numbers of integers are equally far apart. Those of floating point are dense around 0, where \
         most of the weights are, and far apart near the greatest.</desc>\n{body}</svg>\n"
    )
}
