//! The methods of Python's strings that the engine lacks, or has otherwise.

use minijinja::value::{Kwargs, Tuple, from_args};
use minijinja::{Error, ErrorKind, Value};

use super::budget::{Budget, KEEP, refuse};

/// Calls a method of `text`. Nothing, if it is none of these: then it is the engine's, or unknown.
pub(super) fn call(
    budget: &Budget,
    text: &str,
    method: &str,
    args: &[Value],
) -> Option<Result<Value, Error>> {
    Some(match method {
        "title" => no_args(args).map(|()| Value::from(title(text))),
        "swapcase" => no_args(args).map(|()| Value::from(swap_case(text))),
        "split" => Pieces::parse(args).and_then(|pieces| pieces.split(budget, text)),
        "rsplit" => Pieces::parse(args).and_then(|pieces| pieces.rsplit(budget, text)),
        "partition" => separator(args).map(|at| match text.split_once(at) {
            Some((before, after)) => three(before, at, after),
            None => three(text, "", ""),
        }),
        "rpartition" => separator(args).map(|at| match text.rsplit_once(at) {
            Some((before, after)) => three(before, at, after),
            None => three("", "", text),
        }),
        "removeprefix" => {
            one_text(args).map(|start| text.strip_prefix(start).unwrap_or(text).into())
        }
        "removesuffix" => one_text(args).map(|end| text.strip_suffix(end).unwrap_or(text).into()),
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
            from_args(args).and_then(|(width,)| zero_fill(budget, text, width)).map(Value::from)
        }
        _ => return None,
    })
}

fn no_args(args: &[Value]) -> Result<(), Error> {
    from_args(args)
}

fn one_text(args: &[Value]) -> Result<&str, Error> {
    from_args(args).map(|(text,)| text)
}

/// A separator, which is not empty.
fn separator(args: &[Value]) -> Result<&str, Error> {
    match one_text(args)? {
        "" => Err(refuse("a separator is empty")),
        at => Ok(at),
    }
}

fn three(before: &str, at: &str, after: &str) -> Value {
    let parts = [before, at, after].map(Value::from).to_vec();
    Value::from(Tuple::from(parts))
}

/// Each word begins with a capital letter. Whatever is no letter ends a word: `Don'T`.
fn title(text: &str) -> String {
    let mut titled = String::with_capacity(text.len());
    let mut in_word = false;
    for c in text.chars() {
        if in_word {
            titled.extend(c.to_lowercase());
        } else {
            titled.extend(c.to_uppercase());
        }
        in_word = c.is_lowercase() || c.is_uppercase();
    }
    titled
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

/// The width of a filled text, and the character that fills it.
fn filled(args: &[Value]) -> Result<(usize, char), Error> {
    let (width, fill): (i64, Option<&str>) = from_args(args)?;
    let mut fill = fill.unwrap_or(" ").chars();
    match (fill.next(), fill.next()) {
        (Some(fill), None) => Ok((usize::try_from(width).unwrap_or(0), fill)),
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
        let (separator, most, named): (Option<Value>, Option<i64>, Kwargs) = from_args(args)?;
        let separator = match separator {
            None => named.get::<Option<Value>>("sep")?,
            given => given,
        };
        let separator = separator.filter(|separator| !separator.is_none());
        let most = most.or(named.get("maxsplit")?).unwrap_or(-1);
        named.assert_all_used()?;
        let separator = separator.map(|separator| match separator.as_str() {
            Some("") => Err(refuse("a separator is empty")),
            Some(text) => Ok(text.to_owned()),
            None => Err(Error::new(ErrorKind::InvalidOperation, "a separator is a text")),
        });
        let most = usize::try_from(most).map_or(usize::MAX, |most| most.saturating_add(1));
        Ok(Self { separator: separator.transpose()?, most })
    }

    fn split(&self, budget: &Budget, text: &str) -> Result<Value, Error> {
        let pieces: Vec<&str> = match &self.separator {
            Some(at) => {
                self.charge(budget, text.matches(at.as_str()).count() + 1)?;
                text.splitn(self.most, at.as_str()).collect()
            }
            None => {
                self.charge(budget, text.split_whitespace().count())?;
                words(text, self.most, str::trim_start, |rest| {
                    rest.split_once(char::is_whitespace).unwrap_or((rest, ""))
                })
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
                self.charge(budget, text.split_whitespace().count())?;
                words(text, self.most, str::trim_end, |rest| {
                    let split = rest.rsplit_once(char::is_whitespace);
                    split.map_or((rest, ""), |(rest, word)| (word, rest))
                })
            }
        };
        pieces.reverse();
        Ok(pieces.into_iter().map(Value::from).collect())
    }

    fn charge(&self, budget: &Budget, pieces: usize) -> Result<(), Error> {
        budget.spend_times(pieces.min(self.most), 2 * KEEP as usize)
    }
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
