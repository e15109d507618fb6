//! Values that may be long, in a line that can be read.

use std::fmt::Debug;

/// How many characters of a value are shown.
const WIDTH: usize = 160;

/// A text without its middle, if it is longer than [`WIDTH`].
pub fn shortened(text: &str) -> String {
    shortened_to(WIDTH, text)
}

/// `name = value` in a line of about [`WIDTH`].
pub fn argument(name: &str, value: &str) -> String {
    let left = WIDTH.saturating_sub(name.chars().count()).max(WIDTH / 4);
    format!("{name} = {}", shortened_to(left, value))
}

fn shortened_to(width: usize, text: &str) -> String {
    let count = text.chars().count();
    if count <= width {
        return text.to_owned();
    }
    let (begin, end) = (width * 2 / 3, width / 4);
    let left_out = count - begin - end;
    let (begin, end) = (part(text, 0, begin), part(text, count - end, end));
    format!("{begin} ... ({left_out} characters) ... {end}")
}

/// Two texts that differ. If one is too long, both are shown around the first difference.
pub fn around_difference(one: &str, other: &str) -> (String, String) {
    if one.chars().count().max(other.chars().count()) <= WIDTH {
        return (one.to_owned(), other.to_owned());
    }
    let same = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let from = same.saturating_sub(WIDTH / 3);
    let around = |text: &str| {
        let begin = if from > 0 {
            format!("(from character {from}) ... ")
        } else {
            String::new()
        };
        let length = WIDTH * 2 / 3;
        let end = if text.chars().count() > from + length {
            " ..."
        } else {
            ""
        };
        format!("{begin}{}{end}", part(text, from, length))
    };
    (around(one), around(other))
}

/// A list, or, if that is too long, its part around an index.
pub fn list_around<T: Debug>(list: &[T], index: usize) -> String {
    let all = format!("{list:?}");
    if all.chars().count() <= WIDTH {
        return all;
    }
    let range = index.saturating_sub(3)..list.len().min(index + 4);
    let shown = shortened(&format!("{:?}", &list[range.clone()]));
    format!("{shown} (indices {} to {} of {})", range.start, range.end - 1, list.len())
}

fn part(text: &str, from: usize, length: usize) -> String {
    text.chars().skip(from).take(length).collect()
}
