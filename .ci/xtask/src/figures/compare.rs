//! Comparison of outputs and figures, with a tolerance.

/// What bars are made of: from a full block to an eighth of one.
const BARS: std::ops::RangeInclusive<char> = '\u{2588}'..='\u{258F}';

/// Whether two texts differ only in the last digit of their numbers, and in the bars for these.
/// Another processor sums in another order, which may turn 62.55 into 62.5 or 62.6.
pub fn same_but_for_rounding(kept: &str, now: &str) -> bool {
    let (kept, now) = (pieces(kept), pieces(now));
    kept.len() == now.len() && kept.iter().zip(&now).all(|(a, b)| a == b || nearly(a, b))
}

/// A text split into numbers and the text between, without bars and spaces.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let mut in_number = None;
    for c in text.chars() {
        if c.is_whitespace() || BARS.contains(&c) {
            in_number = None;
            continue;
        }
        match pieces.last_mut().filter(|_| in_number == Some(is_number(c))) {
            Some(piece) => piece.push(c),
            None => pieces.push(c.into()),
        }
        in_number = Some(is_number(c));
    }
    pieces
}

/// Whether two numbers have the same number of decimals and differ by at most one in the last.
fn nearly(a: &str, b: &str) -> bool {
    let decimals = |number: &str| number.split_once('.').map_or(0, |(_, after)| after.len());
    let (Ok(x), Ok(y)) = (a.parse::<f64>(), b.parse::<f64>()) else {
        return false;
    };
    let places = decimals(a);
    places == decimals(b) && (x - y).abs() < 1.5 * 10f64.powi(-(places as i32))
}

/// Whether two SVG files draw the same, to a pixel.
pub fn same_figure(kept: &[u8], now: &[u8]) -> bool {
    match (std::str::from_utf8(kept), std::str::from_utf8(now)) {
        (Ok(kept), Ok(now)) => same_but_for_rounding(kept, now),
        _ => kept == now,
    }
}

/// The texts of an SVG file from top to bottom, without those that contain numbers, because
/// measured values affect the numbers on an axis too.
pub fn labels(svg: &[u8]) -> Vec<String> {
    let svg = String::from_utf8_lossy(svg);
    let texts = svg.split('>').filter_map(|piece| piece.split('<').next());
    let texts = texts.map(|text| text.trim().to_owned());
    texts
        .filter(|text| !text.is_empty() && !text.contains(|c: char| c.is_ascii_digit()))
        .collect()
}

/// Replaces each run of numbers by `#`, and leaves out bars. Units of time count as numbers: a slower
/// machine has milliseconds where another has microseconds. So do the two sides of a roof: another
/// machine may reach the other side first.
pub fn without_numbers(text: &str) -> String {
    const UNITS: [&str; 6] = ["ns", "µs", "ms", "s", "bytes", "flops"];
    let is_number = |word: &str| {
        let unit = word.trim_matches(|c: char| !c.is_alphabetic());
        word.contains(|c: char| c.is_ascii_digit()) || UNITS.contains(&unit)
    };
    let line = |line: &str| {
        let words = line.split_whitespace().filter(|word| !word.chars().all(|c| BARS.contains(&c)));
        let mut words: Vec<&str> =
            words.map(|word| if is_number(word) { "#" } else { word }).collect();
        words.dedup_by(|word, before| *word == "#" && *before == "#");
        words.join(" ")
    };
    text.lines().map(|text| line(text) + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_do_not_count_but_words_do() {
        let same = |a, b| without_numbers(a) == without_numbers(b);
        assert!(same("decode 0.12 s (2238 tokens/s)", "decode   1.1 s (99 tokens/s)"));
        assert!(!same("decode 0.12 s", "prefill 0.12 s"));
        assert!(!same("1\n2", "1 2"));
        assert!(same("with 8: 3% ███▋ of bytes.", "with 4, 8, 16: 21% ▏ of flops."));
        assert!(!same("with 8 of 9", "with 8 9"));
        assert!(same("a/4k [900 µs 1.0 ms 1.1 ms]", "a/4k [80 ns 81 ns 82 ns]"));
    }

    #[test]
    fn the_last_digit_may_differ_and_nothing_else() {
        assert!(same_but_for_rounding("\",\"  ███▏ 62.6%  5", "\",\"  ███ 62.5%   5"));
        assert!(!same_but_for_rounding("62.6%", "62.4%"));
        assert!(!same_but_for_rounding("62.6% of 5", "62.6% in 5"));
        assert!(!same_but_for_rounding("1.0 2", "1.0"));
        assert!(!same_but_for_rounding("Once 1. One", "Once 1. Two"));
    }
}
