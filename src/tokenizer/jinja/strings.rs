//! The methods of Python's strings.

use minijinja::value::Tuple;
use minijinja::{Error, ErrorKind, Value};

use super::args::{self, bind, given, integer_or, is_true, required};
use super::budget::{Budget, KEEP, refuse};
use super::collections::{iterate, join_texts};
use super::format;
use super::python;

/// All methods, without those of bytes.
pub(super) const NAMES: [&str; 44] = [
    "capitalize",
    "casefold",
    "center",
    "count",
    "endswith",
    "expandtabs",
    "find",
    "format",
    "format_map",
    "index",
    "isalnum",
    "isalpha",
    "isascii",
    "isdecimal",
    "isdigit",
    "isidentifier",
    "islower",
    "isnumeric",
    "isprintable",
    "isspace",
    "istitle",
    "isupper",
    "join",
    "ljust",
    "lower",
    "lstrip",
    "partition",
    "removeprefix",
    "removesuffix",
    "replace",
    "rfind",
    "rindex",
    "rjust",
    "rpartition",
    "rsplit",
    "rstrip",
    "split",
    "splitlines",
    "startswith",
    "strip",
    "swapcase",
    "title",
    "upper",
    "zfill",
];

/// Calls a method of `text`.
pub(super) fn call(
    budget: &Budget,
    text: &str,
    method: &str,
    args: &[Value],
) -> Result<Value, Error> {
    let bare = |value: Value| args::none(args).map(|()| value);
    match method {
        "capitalize" => bare(capitalize(text).into()),
        "casefold" => bare(casefold(text).into()),
        "lower" => bare(text.to_lowercase().into()),
        "swapcase" => bare(swap_case(text).into()),
        "title" => bare(title(text).into()),
        "upper" => bare(text.to_uppercase().into()),
        "isalnum" => bare(all(text, |c| c.is_alphabetic() || is_numeric(c)).into()),
        "isalpha" => bare(all(text, char::is_alphabetic).into()),
        "isascii" => bare(text.is_ascii().into()),
        "isdecimal" => bare(all(text, is_decimal).into()),
        "isdigit" => bare(all(text, is_digit).into()),
        "isidentifier" => bare(is_identifier(text).into()),
        "islower" => bare(has_only_case(text, char::is_lowercase, char::is_uppercase).into()),
        "isnumeric" => bare(all(text, is_numeric).into()),
        "isprintable" => bare(text.chars().all(python::is_printable).into()),
        "isspace" => bare(all(text, python::is_space).into()),
        "istitle" => bare(is_title(text).into()),
        "isupper" => bare(has_only_case(text, char::is_uppercase, char::is_lowercase).into()),
        "center" => filled(args)
            .and_then(|(width, fill)| center(budget, text, width, fill))
            .map(Value::from),
        "ljust" => filled(args)
            .and_then(|(width, fill)| Ok(text.to_owned() + &fill_of(budget, text, width, fill)?))
            .map(Value::from),
        "rjust" => filled(args)
            .and_then(|(width, fill)| Ok(fill_of(budget, text, width, fill)? + text))
            .map(Value::from),
        "zfill" => {
            let [width] = bind(args, ["width"])?;
            zero_fill(budget, text, args::integer(&required(width)?)?).map(Value::from)
        }
        "expandtabs" => expand_tabs(budget, text, args),
        "count" | "endswith" | "find" | "index" | "rfind" | "rindex" | "startswith" => {
            search(budget, text, method, args)
        }
        "format" => format::str_format(budget, text, args),
        "format_map" => {
            let [map] = bind(args, ["mapping"])?;
            format::str_format_map(budget, text, &required(map)?)
        }
        "join" => {
            let [items] = bind(args, ["iterable"])?;
            let texts = iterate(&required(items)?)?
                .into_iter()
                .map(|item| args::text(&item).map(str::to_owned));
            join_texts(budget, &texts.collect::<Result<Vec<String>, Error>>()?, text)
        }
        "partition" => separator(args).map(|at| match text.split_once(&at) {
            Some((before, after)) => three(before, &at, after),
            None => three(text, "", ""),
        }),
        "rpartition" => separator(args).map(|at| match text.rsplit_once(&at) {
            Some((before, after)) => three(before, &at, after),
            None => three("", "", text),
        }),
        "removeprefix" => {
            one_text(args).map(|start| text.strip_prefix(&start).unwrap_or(text).into())
        }
        "removesuffix" => one_text(args).map(|end| text.strip_suffix(&end).unwrap_or(text).into()),
        "replace" => {
            let [from, to, count] = bind(args, ["old", "new", "count"])?;
            let (from, to) = (required(from)?, required(to)?);
            let (from, to) = (args::text(&from)?, args::text(&to)?);
            replace(budget, text, from, to, integer_or(count, -1)?).map(Value::from)
        }
        "split" => Pieces::parse(args).and_then(|pieces| pieces.split(budget, text)),
        "rsplit" => Pieces::parse(args).and_then(|pieces| pieces.rsplit(budget, text)),
        "splitlines" => {
            let [keep] = bind(args, ["keepends"])?;
            let lines = lines(text, is_true(keep.as_ref()));
            budget.spend_times(lines.len() + 1, 2 * KEEP as usize)?;
            Ok(lines.into_iter().map(Value::from).collect::<Vec<Value>>().into())
        }
        "strip" | "lstrip" | "rstrip" => {
            let [chars] = bind(args, ["chars"])?;
            strip(budget, text, chars.as_ref(), method != "rstrip", method != "lstrip")
        }
        _ => Err(Error::from(ErrorKind::UnknownMethod)),
    }
}

fn one_text(args: &[Value]) -> Result<String, Error> {
    let [text] = bind(args, ["text"])?;
    args::text(&required(text)?).map(str::to_owned)
}

/// A separator, which is not empty.
fn separator(args: &[Value]) -> Result<String, Error> {
    match one_text(args)? {
        at if at.is_empty() => Err(refuse("a separator is empty")),
        at => Ok(at),
    }
}

fn three(before: &str, at: &str, after: &str) -> Value {
    let parts = [before, at, after].map(Value::from).to_vec();
    Value::from(Tuple::from(parts))
}

/// Whether a text has characters, all of this kind.
fn all(text: &str, is: impl Fn(char) -> bool) -> bool {
    !text.is_empty() && text.chars().all(is)
}

fn has_only_case(text: &str, is: fn(char) -> bool, is_other: fn(char) -> bool) -> bool {
    text.chars().any(is) && !text.chars().any(|c| is_other(c) || is_titlecase(c))
}

/// The digits zero that begin the decimal digits of each script.
const ZEROS: [u32; 66] = [
    0x30, 0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66,
    0xde6, 0xe50, 0xed0, 0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90,
    0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10,
    0x104a0, 0x10d30, 0x11066, 0x110f0, 0x11136, 0x111d0, 0x112f0, 0x11450, 0x114d0, 0x11650,
    0x116c0, 0x11730, 0x118e0, 0x11950, 0x11c50, 0x11d50, 0x11da0, 0x16a60, 0x16ac0, 0x16b50,
    0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec, 0x1d7f6, 0x1e140, 0x1e2f0, 0x1e950, 0x1fbf0,
];

/// Digits that are no decimal ones, such as those above a line or in a circle.
const OTHER_DIGITS: [(u32, u32); 20] = [
    (0xb2, 0xb3),
    (0xb9, 0xb9),
    (0x1369, 0x1371),
    (0x19da, 0x19da),
    (0x2070, 0x2070),
    (0x2074, 0x2079),
    (0x2080, 0x2089),
    (0x2460, 0x2468),
    (0x2474, 0x247c),
    (0x2488, 0x2490),
    (0x24ea, 0x24ea),
    (0x24f5, 0x24fd),
    (0x24ff, 0x24ff),
    (0x2776, 0x277e),
    (0x2780, 0x2788),
    (0x278a, 0x2792),
    (0x10a40, 0x10a43),
    (0x10e60, 0x10e68),
    (0x11052, 0x1105a),
    (0x1f100, 0x1f10a),
];

/// Letters that are numbers, of the Chinese script.
const NUMBER_LETTERS: &str = "㐅㒃㠪㭍一七万三九二五亖亿什仟仨伍佰億兆兩八六十千卄卅卌叁参參叄四壱壹幺廾廿弌弍弎弐拾捌\
                              柒漆玖百肆萬貮貳贰阡陆陌陸零";

fn is_decimal(c: char) -> bool {
    let code = u32::from(c);
    let next = ZEROS.partition_point(|&zero| zero <= code);
    next > 0 && code - ZEROS[next - 1] < 10
}

fn is_digit(c: char) -> bool {
    let code = u32::from(c);
    is_decimal(c) || OTHER_DIGITS.iter().any(|&(first, last)| (first..=last).contains(&code))
}

fn is_numeric(c: char) -> bool {
    c.is_numeric() || NUMBER_LETTERS.contains(c)
}

fn is_identifier(text: &str) -> bool {
    let is_start = |c: char| c == '_' || c.is_alphabetic();
    text.starts_with(is_start) && text.chars().all(|c| is_start(c) || c.is_alphanumeric())
}

/// One of the four letters whose capital has only its first half in capitals.
fn is_titlecase(c: char) -> bool {
    matches!(c, 'ǅ' | 'ǈ' | 'ǋ' | 'ǲ')
}

/// A letter at the beginning of a word.
fn titlecase(c: char) -> String {
    match c {
        'Ǆ' | 'ǅ' | 'ǆ' => "ǅ".to_owned(),
        'Ǉ' | 'ǈ' | 'ǉ' => "ǈ".to_owned(),
        'Ǌ' | 'ǋ' | 'ǌ' => "ǋ".to_owned(),
        'Ǳ' | 'ǲ' | 'ǳ' => "ǲ".to_owned(),
        // Georgian has capitals, but begins no word with one.
        'ა'..='ჿ' => c.to_string(),
        // Of a letter that is two in capitals, only the first is one.
        'ß' | 'ﬀ'..='ﬆ' | 'և' | 'ﬓ'..='ﬗ' => {
            with_first(&c.to_uppercase().to_string().to_lowercase(), |first| {
                first.to_uppercase().collect()
            })
        }
        c => c.to_uppercase().collect(),
    }
}

/// A text whose first character is mapped, and whose others are in lower case.
pub(super) fn with_first(text: &str, map: impl Fn(char) -> String) -> String {
    let mut chars = text.chars();
    chars.next().map(map).unwrap_or_default() + &chars.as_str().to_lowercase()
}

pub(super) fn capitalize(text: &str) -> String {
    with_first(text, titlecase)
}

/// A text as it is compared without regard to case.
fn casefold(text: &str) -> String {
    // Two letters of one sound that lower case keeps apart.
    text.replace('ß', "ss").to_lowercase().replace('ς', "σ")
}

/// Each word begins with a capital letter. Whatever is no letter ends a word: `Don'T`.
fn title(text: &str) -> String {
    let mut titled = String::with_capacity(text.len());
    let mut in_word = false;
    for c in text.chars() {
        if in_word {
            titled.extend(c.to_lowercase());
        } else {
            titled.push_str(&titlecase(c));
        }
        in_word = is_cased(c);
    }
    titled
}

fn is_cased(c: char) -> bool {
    c.is_lowercase() || c.is_uppercase() || is_titlecase(c)
}

fn is_title(text: &str) -> bool {
    let (mut in_word, mut has_word) = (false, false);
    for c in text.chars() {
        let is_capital = c.is_uppercase() || is_titlecase(c);
        if is_capital && in_word || c.is_lowercase() && !in_word {
            return false;
        }
        in_word = is_cased(c);
        has_word |= in_word;
    }
    has_word
}

fn swap_case(text: &str) -> String {
    let mut swapped = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_uppercase() {
            swapped.extend(c.to_lowercase());
        } else {
            swapped.extend(c.to_uppercase());
        }
    }
    swapped
}

fn expand_tabs(budget: &Budget, text: &str, args: &[Value]) -> Result<Value, Error> {
    let [size] = bind(args, ["tabsize"])?;
    let size = args::count_or(size, 8)?;
    budget.spend_times(text.matches('\t').count(), size)?;
    let (mut expanded, mut column) = (String::new(), 0);
    for c in text.chars() {
        match c {
            '\t' if size > 0 => {
                let spaces = size - column % size;
                expanded.push_str(&" ".repeat(spaces));
                column += spaces;
            }
            '\t' => {}
            '\n' | '\r' => {
                expanded.push(c);
                column = 0;
            }
            c => {
                expanded.push(c);
                column += 1;
            }
        }
    }
    Ok(Value::from(expanded))
}

/// Where a text is, within two places that count characters.
fn search(budget: &Budget, text: &str, method: &str, args: &[Value]) -> Result<Value, Error> {
    let (positional, None) = args::split(args) else {
        return Err(refuse(format!("the arguments of `{method}` have no names")));
    };
    let [what, start, end] = bind(positional, ["sub", "start", "end"])?;
    let what = required(what)?;
    let (start, end) = (given(start), given(end));
    // The usual case does not count characters.
    let (within, before) = if start.is_none() && end.is_none() {
        (Some(text), 0)
    } else {
        budget.spend(text.len() as u64)?;
        let length = text.chars().count();
        let place = |value: Option<Value>, default: usize| -> Result<usize, Error> {
            let Some(value) = value else {
                return Ok(default);
            };
            let place = args::integer(&value)?;
            let length = i64::try_from(length).unwrap_or(i64::MAX);
            let place = if place < 0 {
                place.saturating_add(length).max(0)
            } else {
                place
            };
            Ok(usize::try_from(place).unwrap_or(0))
        };
        let (start, end) = (place(start, 0)?, place(end, length)?.min(length));
        let byte = |at: usize| text.char_indices().nth(at).map_or(text.len(), |(at, _)| at);
        ((start <= end).then(|| &text[byte(start)..byte(end)]), start)
    };
    if matches!(method, "startswith" | "endswith") {
        let is_one = |what: &Value| {
            let what = args::text(what)?;
            let holds = |within: &str| {
                if method == "startswith" {
                    within.starts_with(what)
                } else {
                    within.ends_with(what)
                }
            };
            Ok(within.is_some_and(holds))
        };
        if !what.is_tuple() {
            return is_one(&what).map(Value::from);
        }
        for what in what.try_iter()? {
            if is_one(&what)? {
                return Ok(Value::from(true));
            }
        }
        return Ok(Value::from(false));
    }
    let what = args::text(&what)?;
    if method == "count" {
        return Ok(Value::from(within.map_or(0, |within| within.matches(what).count())));
    }
    let found = within.and_then(|within| {
        let at = if method.starts_with('r') {
            within.rfind(what)
        } else {
            within.find(what)
        };
        at.map(|at| before + within[..at].chars().count())
    });
    match found {
        Some(at) => Ok(Value::from(at)),
        None if method.ends_with("find") => Ok(Value::from(-1)),
        None => Err(refuse("a text is not in the other that should hold it")),
    }
}

/// Replaces a text, at most `count` times, and without a limit where that is below 0.
pub(super) fn replace(
    budget: &Budget,
    text: &str,
    from: &str,
    to: &str,
    count: i64,
) -> Result<String, Error> {
    let most = usize::try_from(count).unwrap_or(usize::MAX);
    budget.spend(text.len() as u64)?;
    budget.spend_times(text.matches(from).count().min(most), to.len())?;
    Ok(text.replacen(from, to, most))
}

/// A text without white space, or without some characters, at its ends.
pub(super) fn strip(
    budget: &Budget,
    text: &str,
    chars: Option<&Value>,
    at_start: bool,
    at_end: bool,
) -> Result<Value, Error> {
    let chars = chars.filter(|chars| !chars.is_none()).map(args::text).transpose()?;
    budget.spend_times(text.len(), chars.map_or(1, str::len))?;
    let is_cut = |c: char| chars.map_or_else(|| python::is_space(c), |chars| chars.contains(c));
    let text = if at_start {
        text.trim_start_matches(is_cut)
    } else {
        text
    };
    let text = if at_end {
        text.trim_end_matches(is_cut)
    } else {
        text
    };
    Ok(Value::from(text))
}

/// The lines of a text, which end as Python knows it in eleven ways.
pub(super) fn lines(text: &str, keep_ends: bool) -> Vec<&str> {
    let is_end = |c: char| {
        matches!(
            c,
            '\n' | '\r' | '\x0b' | '\x0c' | '\x1c'..='\x1e' | '\u{85}' | '\u{2028}' | '\u{2029}'
        )
    };
    let mut lines = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(is_end) {
        let end = &rest[at..];
        let width = match end.starts_with("\r\n") {
            true => 2,
            false => end.chars().next().map_or(1, char::len_utf8),
        };
        lines.push(&rest[..if keep_ends { at + width } else { at }]);
        rest = &rest[at + width..];
    }
    if !rest.is_empty() {
        lines.push(rest);
    }
    lines
}

/// The width of a filled text, and the character that fills it.
fn filled(args: &[Value]) -> Result<(usize, char), Error> {
    let [width, fill] = bind(args, ["width", "fillchar"])?;
    let width = args::count_or(Some(required(width)?), 0)?;
    let fill = fill.unwrap_or_else(|| Value::from(" "));
    let mut fill = args::text(&fill)?.chars();
    match (fill.next(), fill.next()) {
        (Some(fill), None) => Ok((width, fill)),
        _ => Err(refuse("a text is filled with one character")),
    }
}

/// What lacks to `width` characters.
fn fill_of(budget: &Budget, text: &str, width: usize, fill: char) -> Result<String, Error> {
    let lacks = width.saturating_sub(text.chars().count());
    budget.spend_times(lacks, fill.len_utf8())?;
    Ok(fill.to_string().repeat(lacks))
}

/// A text in the middle of `width` characters.
pub(super) fn center(
    budget: &Budget,
    text: &str,
    width: usize,
    fill: char,
) -> Result<String, Error> {
    let around = fill_of(budget, text, width, fill)?;
    let lacks = around.chars().count();
    // An odd one goes to the left if the width is odd, and to the right otherwise.
    let left = lacks / 2 + (lacks & width & 1);
    let at = around.char_indices().nth(left).map_or(around.len(), |(index, _)| index);
    let (left, right) = around.split_at(at);
    Ok([left, text, right].concat())
}

/// Zeros behind the sign of a number.
fn zero_fill(budget: &Budget, text: &str, width: i64) -> Result<String, Error> {
    let zeros = fill_of(budget, text, usize::try_from(width).unwrap_or(0), '0')?;
    let (sign, digits) = text.split_at(usize::from(text.starts_with(['+', '-'])));
    Ok([sign, &zeros, digits].concat())
}

/// How a text is split.
struct Pieces {
    /// White space, if there is none.
    separator: Option<String>,
    /// The most pieces.
    most: usize,
}

impl Pieces {
    fn parse(args: &[Value]) -> Result<Self, Error> {
        let [separator, most] = bind(args, ["sep", "maxsplit"])?;
        let separator = given(separator).map(|separator| match args::text(&separator)? {
            "" => Err(refuse("a separator is empty")),
            text => Ok(text.to_owned()),
        });
        let most = usize::try_from(integer_or(most, -1)?);
        let most = most.map_or(usize::MAX, |most| most.saturating_add(1));
        Ok(Self { separator: separator.transpose()?, most })
    }

    fn split(&self, budget: &Budget, text: &str) -> Result<Value, Error> {
        let pieces: Vec<&str> = match &self.separator {
            Some(at) => {
                self.charge(budget, text.matches(at.as_str()).count() + 1)?;
                text.splitn(self.most, at.as_str()).collect()
            }
            None => {
                self.charge(budget, word_count(text))?;
                words(
                    text,
                    self.most,
                    |rest| rest.trim_start_matches(python::is_space),
                    |rest| rest.split_once(python::is_space).unwrap_or((rest, "")),
                )
            }
        };
        Ok(pieces.into_iter().map(Value::from).collect())
    }

    fn rsplit(&self, budget: &Budget, text: &str) -> Result<Value, Error> {
        let mut pieces: Vec<&str> = match &self.separator {
            Some(at) => {
                self.charge(budget, text.matches(at.as_str()).count() + 1)?;
                text.rsplitn(self.most, at.as_str()).collect()
            }
            None => {
                self.charge(budget, word_count(text))?;
                words(
                    text,
                    self.most,
                    |rest| rest.trim_end_matches(python::is_space),
                    |rest| {
                        let split = rest.rsplit_once(python::is_space);
                        split.map_or((rest, ""), |(rest, word)| (word, rest))
                    },
                )
            }
        };
        pieces.reverse();
        Ok(pieces.into_iter().map(Value::from).collect())
    }

    fn charge(&self, budget: &Budget, pieces: usize) -> Result<(), Error> {
        budget.spend_times(pieces.min(self.most), 2 * KEEP as usize)
    }
}

fn word_count(text: &str) -> usize {
    text.split(python::is_space).filter(|word| !word.is_empty()).count()
}

/// Up to `most` words, each of which `cut` takes off the rest. The last is all that is left.
fn words<'a>(
    text: &'a str,
    most: usize,
    trim: impl Fn(&'a str) -> &'a str,
    cut: impl Fn(&'a str) -> (&'a str, &'a str),
) -> Vec<&'a str> {
    let mut words = Vec::new();
    let mut rest = trim(text);
    while !rest.is_empty() {
        if words.len() + 1 == most {
            words.push(rest);
            break;
        }
        let (word, after) = cut(rest);
        words.push(word);
        rest = trim(after);
    }
    words
}
