//! Jinja's filters of texts.

use std::slice;

use minijinja::value::ValueKind;
use minijinja::{Error, Value};

use super::args::{self, bind, is_true, required};
use super::budget::{Budget, KEEP, refuse};
use super::format;
use super::library::OwnFilter;
use super::python;
use super::strings;

pub(super) const ALL: [(&str, OwnFilter); 20] = [
    ("capitalize", |_, values| {
        text_of(values).map(|text| strings::capitalize(&text).into())
    }),
    ("center", center),
    ("e", escape),
    ("escape", escape),
    ("forceescape", |budget, values| escaped(budget, &text_of(values)?)),
    ("format", formatted),
    ("indent", indent),
    ("lower", |_, values| text_of(values).map(|text| text.to_lowercase().into())),
    ("pprint", |_, values| value_of(values).map(|value| python::repr(&value).into())),
    ("replace", replace),
    ("safe", |_, values| text_of(values).map(Value::from_safe_string)),
    ("string", string),
    ("striptags", strip_tags),
    ("title", |_, values| text_of(values).map(|text| title(&text).into())),
    ("trim", trim),
    ("truncate", truncate),
    ("upper", |_, values| text_of(values).map(|text| text.to_uppercase().into())),
    ("urlencode", |budget, values| {
        urlencode(budget, &value_of(values)?).map(Value::from)
    }),
    ("wordcount", |_, values| text_of(values).map(|text| count_words(&text).into())),
    ("wordwrap", wrap),
];

/// The only argument.
fn value_of(values: &[Value]) -> Result<Value, Error> {
    let [value] = bind(values, ["s"])?;
    required(value)
}

/// The only argument, as text.
fn text_of(values: &[Value]) -> Result<String, Error> {
    value_of(values).map(|value| python::printed(&value))
}

fn string(_: &Budget, values: &[Value]) -> Result<Value, Error> {
    let value = value_of(values)?;
    Ok(if value.as_str().is_some() {
        value
    } else {
        Value::from(python::printed(&value))
    })
}

fn center(budget: &Budget, values: &[Value]) -> Result<Value, Error> {
    let [value, width] = bind(values, ["value", "width"])?;
    let text = python::printed(&required(value)?);
    strings::center(budget, &text, args::count_or(width, 80)?, ' ').map(Value::from)
}

fn escape(budget: &Budget, values: &[Value]) -> Result<Value, Error> {
    let value = value_of(values)?;
    if value.is_safe() {
        Ok(value)
    } else {
        escaped(budget, &python::printed(&value))
    }
}

fn escaped(budget: &Budget, text: &str) -> Result<Value, Error> {
    budget.spend_times(text.len(), 5)?;
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '\'' => safe.push_str("&#39;"),
            '"' => safe.push_str("&#34;"),
            c => safe.push(c),
        }
    }
    Ok(Value::from_safe_string(safe))
}

/// `'%s' | format(x)`: values by place, or by name.
fn formatted(budget: &Budget, values: &[Value]) -> Result<Value, Error> {
    let [text, values @ ..] = values else {
        return Err(refuse("`format` needs a text"));
    };
    let text = python::printed(text);
    match args::split(values) {
        (values, None) => format::printf(budget, &text, values, None),
        ([], Some(named)) => {
            let names = named.args().map(|name| Ok((name.to_owned(), named.get::<Value>(name)?)));
            let names = Value::from_pairs(names.collect::<Result<Vec<(String, Value)>, Error>>()?);
            format::printf(budget, &text, slice::from_ref(&names), Some(&names))
        }
        _ => Err(refuse("`format` takes values by place or by name, and not both")),
    }
}

fn indent(budget: &Budget, values: &[Value]) -> Result<Value, Error> {
    let [value, width, first, blank] = bind(values, ["s", "width", "first", "blank"])?;
    let value = required(value)?;
    let text = args::text(&value)?.to_owned() + "\n";
    let by = width.unwrap_or_else(|| Value::from(4));
    let lines = strings::lines(&text, false);
    let width = match by.as_str() {
        Some(by) => by.len(),
        None => args::count_or(Some(by.clone()), 4)?,
    };
    budget.spend_times(lines.len() + 1, width)?;
    let by = by.as_str().map_or_else(|| " ".repeat(width), str::to_owned);
    let mut indented = if is_true(first.as_ref()) {
        by.clone()
    } else {
        String::new()
    };
    for (index, line) in lines.iter().enumerate() {
        if index > 0 {
            indented.push('\n');
            if !line.is_empty() || is_true(blank.as_ref()) {
                indented.push_str(&by);
            }
        }
        indented.push_str(line);
    }
    Ok(Value::from(indented))
}

fn replace(budget: &Budget, values: &[Value]) -> Result<Value, Error> {
    let [value, from, to, count] = bind(values, ["s", "old", "new", "count"])?;
    let text = python::printed(&required(value)?);
    let (from, to) = (python::printed(&required(from)?), python::printed(&required(to)?));
    let count = args::integer_or(args::given(count), -1)?;
    strings::replace(budget, &text, &from, &to, count).map(Value::from)
}

/// A text without tags and comments, its white space joined.
fn strip_tags(_: &Budget, values: &[Value]) -> Result<Value, Error> {
    let text = text_of(values)?;
    let cut = |text: &str, open: &str, close: &str| {
        let mut kept = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once(open) {
            let Some((_, after)) = after.split_once(close) else {
                break;
            };
            kept.push_str(before);
            rest = after;
        }
        kept + rest
    };
    let text = cut(&cut(&text, "<!--", "-->"), "<", ">");
    let words: Vec<&str> = text.split(python::is_space).filter(|word| !word.is_empty()).collect();
    let text = words.join(" ");
    let text = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&#39;", "'"),
        ("&#34;", "\""),
        ("&quot;", "\""),
        ("&amp;", "&"),
    ]
    .into_iter()
    .fold(text, |text, (name, c)| text.replace(name, c));
    Ok(Value::from(text))
}

/// Each word begins with a capital letter. White space and `-({[<` end a word, and `'` does not.
fn title(text: &str) -> String {
    let mut titled = String::with_capacity(text.len());
    for word in text.split_inclusive(|c: char| "-({[<".contains(c) || python::is_space(c)) {
        titled.push_str(&strings::with_first(word, |first| first.to_uppercase().collect()));
    }
    titled
}

fn trim(budget: &Budget, values: &[Value]) -> Result<Value, Error> {
    let [value, chars] = bind(values, ["value", "chars"])?;
    let text = python::printed(&required(value)?);
    strings::strip(budget, &text, chars.as_ref(), true, true)
}

/// The runs of letters, digits and `_`.
fn count_words(text: &str) -> usize {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.filter(|word| !word.is_empty()).count()
}

/// A text cut to `length` characters, if it has more than `leeway` more.
fn truncate(_: &Budget, values: &[Value]) -> Result<Value, Error> {
    let [value, length, killwords, end, leeway] =
        bind(values, ["s", "length", "killwords", "end", "leeway"])?;
    let value = required(value)?;
    let text = args::text(&value)?;
    let length = args::count_or(length, 255)?;
    let end = end.map_or_else(|| "...".to_owned(), |end| python::printed(&end));
    let leeway = args::count_or(args::given(leeway), 5)?;
    let kept = length.checked_sub(end.chars().count());
    let kept = kept.ok_or_else(|| refuse("a text is truncated to less than its end takes"))?;
    if text.chars().nth(length.saturating_add(leeway)).is_none() {
        return Ok(value);
    }
    let cut = text.char_indices().nth(kept).map_or(text.len(), |(index, _)| index);
    let kept = &text[..cut];
    let words = kept.rsplit_once(' ').map_or(kept, |(words, _)| words);
    let kept = if is_true(killwords.as_ref()) {
        kept
    } else {
        words
    };
    Ok(Value::from(kept.to_owned() + &end))
}

/// A text in lines of at most `width` characters, broken at white space and behind hyphens.
fn wrap(budget: &Budget, values: &[Value]) -> Result<Value, Error> {
    let [value, width, long, wrapstring, hyphens] = bind(
        values,
        [
            "s",
            "width",
            "break_long_words",
            "wrapstring",
            "break_on_hyphens",
        ],
    )?;
    let value = required(value)?;
    let text = args::text(&value)?;
    let width = args::count_or(width, 79)?.max(1);
    let breaks_words = long.is_none_or(|value| value.is_true());
    let breaks_hyphens = hyphens.is_none_or(|value| value.is_true());
    let wrapstring = wrapstring.map_or_else(|| "\n".to_owned(), |text| python::printed(&text));
    budget.spend_times(text.len() + 1, KEEP as usize + wrapstring.len())?;
    let lines = strings::lines(text, false).into_iter();
    let wrapped =
        lines.map(|line| wrapped_line(line, width, breaks_words, breaks_hyphens).join(&wrapstring));
    Ok(Value::from(wrapped.collect::<Vec<String>>().join(&wrapstring)))
}

/// As `textwrap.wrap` does without changing white space within a line.
fn wrapped_line(line: &str, width: usize, breaks_words: bool, breaks_hyphens: bool) -> Vec<String> {
    let mut chunks: Vec<String> = Vec::new();
    let mut before: Option<char> = None;
    for c in line.chars() {
        let is_new = match before {
            None => true,
            Some(last) => {
                let follows_hyphen = breaks_hyphens && last == '-' && c.is_alphabetic();
                last.is_whitespace() != c.is_whitespace() || follows_hyphen
            }
        };
        match chunks.last_mut() {
            Some(chunk) if !is_new => chunk.push(c),
            _ => chunks.push(c.to_string()),
        }
        before = Some(c);
    }
    let length = |chunk: &str| chunk.chars().count();
    let is_blank = |chunk: &String| chunk.chars().all(char::is_whitespace);
    let mut lines = Vec::new();
    let mut chunks = chunks.into_iter().rev().collect::<Vec<String>>();
    while !chunks.is_empty() {
        let (mut current, mut taken) = (Vec::<String>::new(), 0);
        if !lines.is_empty() && chunks.last().is_some_and(is_blank) {
            chunks.pop();
        }
        while let Some(chunk) = chunks.pop_if(|chunk| taken + length(chunk) <= width) {
            taken += length(&chunk);
            current.push(chunk);
        }
        if let Some(chunk) =
            chunks.pop_if(|chunk| length(chunk) > width && (breaks_words || current.is_empty()))
        {
            if breaks_words {
                let room = if width > taken { width - taken } else { 1 };
                let at = chunk.char_indices().nth(room).map_or(chunk.len(), |(at, _)| at);
                let (head, tail) = chunk.split_at(at);
                current.push(head.to_owned());
                chunks.push(tail.to_owned());
            } else {
                current.push(chunk);
            }
        }
        if current.last().is_some_and(is_blank) {
            current.pop();
        }
        if !current.is_empty() {
            lines.push(current.concat());
        }
    }
    lines
}

/// A text as a part of a URL, or a dictionary, or a list of pairs, as its query.
fn urlencode(budget: &Budget, value: &Value) -> Result<String, Error> {
    let is_text = value.as_str().is_some();
    let is_query = matches!(value.kind(), ValueKind::Map | ValueKind::Seq | ValueKind::Iterable);
    if is_text || !is_query {
        return quote(budget, value, b"/");
    }
    let part = |value: &Value| -> Result<String, Error> {
        Ok(quote(budget, value, b"")?.replace("%20", "+"))
    };
    let mut query = Vec::new();
    let pairs = value.as_object().filter(|_| value.kind() == ValueKind::Map);
    match pairs.and_then(|map| map.try_iter_pairs()) {
        Some(pairs) => {
            for (key, item) in pairs {
                query.push(format!("{}={}", part(&key)?, part(&item)?));
            }
        }
        None => {
            for pair in value.try_iter()?.checked() {
                let pair: Vec<Value> = pair?.try_iter()?.collect();
                let [key, item] = &pair[..] else {
                    return Err(refuse("a query is made of pairs of a name and a value"));
                };
                query.push(format!("{}={}", part(key)?, part(item)?));
            }
        }
    }
    Ok(query.join("&"))
}

/// Percent-encodes all bytes but letters, digits, `-._~` and those of `safe`.
fn quote(budget: &Budget, value: &Value, safe: &[u8]) -> Result<String, Error> {
    let text = python::printed(value);
    budget.spend_times(text.len(), 3)?;
    let mut quoted = String::with_capacity(text.len());
    for &byte in text.as_bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) || safe.contains(&byte) {
            quoted.push(byte.into());
        } else {
            quoted.push_str(&format!("%{byte:02X}"));
        }
    }
    Ok(quoted)
}
