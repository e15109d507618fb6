//! Checks on a template's source before parsing: the engine's parser recurses for each operator and
//! each `elif`, and does not limit these.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use minijinja::machinery::{Span, Token, tokenize};
use minijinja::syntax::SyntaxConfig;

use super::objects::{KWARGS, VARARGS};

/// The longest published templates have about 40,000 bytes.
const MAX_BYTES: usize = 1 << 20;

/// The maximum depth of an expression. All tokens between two commas, brackets included, count as
/// nested.
const MAX_EXPRESSION: usize = 250;

/// The most `elif` branches of one `if`.
const MAX_ELIF: usize = 250;

/// Checks a template, and returns the source to compile in its place.
///
/// The compiler computes operators between literals itself, before anything can be counted. An `if`
/// between them keeps it from `*` and `~`, which make a long text of a short one.
/// `{% generation %}`, which marks the assistant's tokens for training, becomes `{% with %}`: a
/// block that leaves its content unchanged and has its own scope. What else is rewritten here means
/// something else to the engine than to Jinja.
pub(super) fn prepare(source: &str, syntax: &SyntaxConfig) -> Result<String, String> {
    if source.len() > MAX_BYTES {
        return Err(format!("it has {} bytes, and {MAX_BYTES} is the limit", source.len()));
    }
    // As in Jinja, lines of the prompt end in `\n`, however those of the file do.
    let source = &source.replace("\r\n", "\n").replace('\r', "\n");
    // Invalid tokens are left to the engine, whose error gives their position.
    let tokens = tokenize(source, false, syntax.clone()).map_while(Result::ok);
    let mut program = Program { source, tokens: tokens.collect(), edits: BTreeMap::new() };
    program.check_and_rewrite()?;
    program.rewrite_with();
    program.rewrite_macros();
    Ok(program.text(0..program.tokens.len()) + &source[program.end()..])
}

/// A template in tokens, of which some are replaced.
struct Program<'a> {
    source: &'a str,
    tokens: Vec<(Token<'a>, Span)>,
    /// For the place of a token: until which one the new text stands for them. It stands before the
    /// token if that is the same.
    edits: BTreeMap<usize, (usize, String)>,
}

impl Program<'_> {
    fn check_and_rewrite(&mut self) -> Result<(), String> {
        let mut expression = Expression::default();
        let mut elifs = 0;
        let mut previous = &Token::VariableEnd;
        for (at, (token, span)) in self.tokens.iter().enumerate() {
            let replacement = match (previous, token) {
                // `f(*list)`
                (Token::ParenOpen | Token::Comma, Token::Mul) => None,
                (_, Token::Mul) => Some("* (1 if 1) *".to_owned()),
                (_, Token::Tilde) => Some("~ ('' if 1) ~".to_owned()),
                // The engine has no sign of a number that changes nothing.
                (previous, Token::Plus) if is_before_value(previous) => Some(String::new()),
                (Token::BlockStart, Token::Ident("generation")) => Some("with".to_owned()),
                (Token::BlockStart, Token::Ident("endgeneration")) => Some("endwith".to_owned()),
                // A template stands alone: there are no others to import or extend.
                (Token::BlockStart, Token::Ident("from")) => {
                    return Err("`import` is not supported".to_owned());
                }
                (
                    Token::BlockStart,
                    Token::Ident(tag @ ("block" | "import" | "extends" | "include")),
                ) => {
                    return Err(format!("`{tag}` is not supported"));
                }
                (_, Token::Str(_) | Token::String(_)) => literal(&self.source[range(*span)])?,
                _ => None,
            };
            if let Some(replacement) = replacement {
                self.edits.insert(at, (at + 1, replacement));
            }
            if matches!(token, Token::TemplateData(_)) && loses_break(self.source, range(*span)) {
                self.edits.insert(at, (at, "\n".to_owned()));
            }
            match token {
                Token::TemplateData(_) | Token::VariableStart | Token::BlockStart => {
                    expression = Expression::default();
                }
                Token::Ident("elif") => elifs += 1,
                token => expression.take(token)?,
            }
            if elifs > MAX_ELIF {
                return Err(format!("it has more than {MAX_ELIF} `elif`"));
            }
            previous = token;
        }
        Ok(())
    }

    /// `{% with a = 1, b = a %}`: no assignment sees the others, which is so for one of a tuple.
    fn rewrite_with(&mut self) {
        for at in self.tags("with") {
            let Some(end) = self.end_of_tag(at) else {
                continue;
            };
            let assignments = self.split(at + 1..end);
            if assignments.len() < 2 {
                continue;
            }
            let sides: Option<Vec<(String, String)>> = assignments
                .into_iter()
                .map(|part| {
                    let sign = self.find(part.clone(), |token| matches!(token, Token::Assign))?;
                    Some((self.text(part.start..sign), self.text(sign + 1..part.end)))
                })
                .collect();
            if let Some(sides) = sides {
                let (targets, values): (Vec<String>, Vec<String>) = sides.into_iter().unzip();
                let text = format!(" ({}) = ({}) ", targets.join(","), values.join(","));
                self.replace(at + 1..end, text);
            }
        }
    }

    /// `{% macro m(a, b=a) %}`: a default that names another parameter becomes the first statement of
    /// the body, as the engine computes the last one first. A macro that reads `varargs` or `kwargs`
    /// has them as parameters, which [`Macro`](super::objects::Macro) fills.
    fn rewrite_macros(&mut self) {
        let takers = self.macros_that_take_more();
        for at in self.tags("macro") {
            let Some(end) = self.end_of_tag(at) else {
                continue;
            };
            let Some(open) = self.find(at + 1..end, |token| matches!(token, Token::ParenOpen))
            else {
                continue;
            };
            let Some(close) =
                (open..end).rev().find(|&at| matches!(self.tokens[at].0, Token::ParenClose))
            else {
                continue;
            };
            let parameters = self.split(open + 1..close);
            let names: Vec<&str> =
                parameters.iter().filter_map(|part| self.ident(part.start)).collect();
            let defaults: Vec<(&str, usize, Range<usize>)> = parameters
                .iter()
                .filter_map(|part| {
                    let sign = self.find(part.clone(), |token| matches!(token, Token::Assign))?;
                    Some((self.ident(part.start)?, sign, sign + 1..part.end))
                })
                .collect();
            let names_another = |(_, _, value): &(&str, usize, Range<usize>)| {
                value.clone().any(|at| self.ident(at).is_some_and(|name| names.contains(&name)))
            };
            let mut body = String::new();
            let mut removed = Vec::new();
            if defaults.iter().any(names_another) {
                for (name, sign, value) in &defaults {
                    let text = self.text(value.clone());
                    body += &format!(
                        " %}}{{% if {name} is undefined %}}{{% set {name} = ({text}) %}}{{% endif "
                    );
                    removed.push(*sign..value.end);
                }
            }
            let has_own = names.iter().any(|name| [VARARGS, KWARGS].contains(name));
            let is_taker = takers.contains(&at) && !has_own;
            let comma = !matches!(self.tokens[close - 1].0, Token::Comma | Token::ParenOpen);
            for range in removed {
                self.replace(range, String::new());
            }
            if is_taker {
                let comma = if comma { ", " } else { "" };
                self.replace(close..close, format!("{comma}{VARARGS}=none, {KWARGS}=none"));
            }
            if !body.is_empty() {
                self.replace(end..end, body);
            }
        }
    }

    /// The places of the macros whose bodies read `varargs` or `kwargs`.
    fn macros_that_take_more(&self) -> BTreeSet<usize> {
        let (mut open, mut found) = (Vec::new(), BTreeSet::new());
        for at in 1..self.tokens.len() {
            match (&self.tokens[at - 1].0, self.ident(at)) {
                (Token::BlockStart, Some("macro")) => open.push(at),
                (Token::BlockStart, Some("endmacro")) => drop(open.pop()),
                (Token::Dot, _) => {}
                (_, Some(VARARGS | KWARGS)) => found.extend(open.last()),
                _ => {}
            }
        }
        found
    }

    /// The places of the names of these tags.
    fn tags(&self, name: &str) -> Vec<usize> {
        let is_tag = |&at: &usize| {
            matches!(self.tokens[at - 1].0, Token::BlockStart) && self.ident(at) == Some(name)
        };
        (1..self.tokens.len()).filter(is_tag).collect()
    }

    fn ident(&self, at: usize) -> Option<&str> {
        match self.tokens.get(at)?.0 {
            Token::Ident(name) => Some(name),
            _ => None,
        }
    }

    fn end_of_tag(&self, at: usize) -> Option<usize> {
        (at..self.tokens.len()).find(|&at| matches!(self.tokens[at].0, Token::BlockEnd))
    }

    /// The first such token that is in no bracket.
    fn find(&self, range: Range<usize>, is: impl Fn(&Token<'_>) -> bool) -> Option<usize> {
        let mut depth = 0;
        range.into_iter().find(|&at| {
            let found = &self.tokens[at].0;
            let is_it = depth == 0 && is(found);
            depth += bracket(found);
            is_it
        })
    }

    /// The parts between commas that are in no bracket.
    fn split(&self, range: Range<usize>) -> Vec<Range<usize>> {
        let mut parts = Vec::new();
        let mut rest = range;
        while let Some(comma) = self.find(rest.clone(), |token| matches!(token, Token::Comma)) {
            parts.push(rest.start..comma);
            rest = comma + 1..rest.end;
        }
        if !rest.is_empty() {
            parts.push(rest);
        }
        parts
    }

    fn replace(&mut self, range: Range<usize>, text: String) {
        let text = match self.edits.get(&range.start) {
            // What stands before a token that is itself replaced.
            Some((end, old)) if range.is_empty() => {
                self.edits.insert(range.start, (*end, text + old));
                return;
            }
            _ => text,
        };
        self.edits.insert(range.start, (range.end, text));
    }

    /// Where the last token ends.
    fn end(&self) -> usize {
        self.tokens.last().map_or(0, |(_, span)| span.end_offset as usize)
    }

    /// The new text of these tokens, with what is before each.
    fn text(&self, range: Range<usize>) -> String {
        let end_before = |at: usize| match at {
            0 => 0,
            at => self.tokens[at - 1].1.end_offset as usize,
        };
        let mut text = String::new();
        let mut at = range.start;
        while at < range.end {
            let (start, end) =
                (self.tokens[at].1.start_offset as usize, self.tokens[at].1.end_offset as usize);
            text.push_str(&self.source[end_before(at)..start]);
            let edit = self.edits.get(&at);
            if let Some((_, new)) = edit {
                text.push_str(new);
            }
            match edit {
                Some((next, _)) if *next > at => at = *next,
                _ => {
                    text.push_str(&self.source[start..end]);
                    at += 1;
                }
            }
        }
        text
    }
}

fn range(span: Span) -> Range<usize> {
    span.start_offset as usize..span.end_offset as usize
}

/// Whether this is the text of a `{% raw %}` and begins with a line break. Jinja keeps that one, and the engine
/// takes it away as it does behind other tags.
fn loses_break(source: &str, text: Range<usize>) -> bool {
    let tag = source[..text.start].strip_suffix("%}");
    let before = tag.and_then(|tag| tag.trim_end().strip_suffix("raw"));
    let is_raw = |before: &str| before.trim_end().trim_end_matches(['-', '+']).ends_with("{%");
    before.is_some_and(is_raw) && source[text].starts_with('\n')
}

/// How many more brackets are open behind a token.
fn bracket(token: &Token<'_>) -> i32 {
    match token {
        Token::ParenOpen | Token::BracketOpen | Token::BraceOpen => 1,
        Token::ParenClose | Token::BracketClose | Token::BraceClose => -1,
        _ => 0,
    }
}

/// Whether a value follows, and no operator.
fn is_before_value(token: &Token<'_>) -> bool {
    !matches!(
        token,
        Token::Ident(_)
            | Token::Str(_)
            | Token::String(_)
            | Token::Int(_)
            | Token::Int128(_)
            | Token::Float(_)
            | Token::ParenClose
            | Token::BracketClose
            | Token::BraceClose
            | Token::VariableEnd
            | Token::BlockEnd
            | Token::TemplateData(_)
    ) || matches!(token, Token::Ident("if" | "else" | "in" | "and" | "or" | "not" | "elif"))
}

/// A text in quotes whose escapes are those of Python, for the engine. None if it has no escapes.
fn literal(quoted: &str) -> Result<Option<String>, String> {
    let inside = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
    if !inside.contains('\\') {
        return Ok(None);
    }
    let mut text = String::with_capacity(quoted.len());
    let mut chars = inside.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            text.push(c);
            continue;
        }
        let Some(kind) = chars.next() else { break };
        let mut number = |digits: usize, radix: u32, first: &str| {
            let rest = chars.as_str();
            let end =
                rest.char_indices().take(digits).take_while(|(_, c)| c.is_digit(radix)).count();
            let (taken, after) = rest.split_at(end);
            chars = after.chars();
            let is_whole = radix == 8 || end == digits;
            u32::from_str_radix(&format!("{first}{taken}"), radix).ok().filter(|_| is_whole)
        };
        let code = match kind {
            '\n' => continue,
            '\\' | '\'' | '"' => kind.into(),
            'a' => 7,
            'b' => 8,
            't' => 9,
            'n' => 10,
            'v' => 11,
            'f' => 12,
            'r' => 13,
            'x' => number(2, 16, "").ok_or(BAD_ESCAPE)?,
            'u' => {
                let code = number(4, 16, "").ok_or(BAD_ESCAPE)?;
                let is_high = (0xD800..0xDC00).contains(&code);
                match chars.as_str().strip_prefix("\\u").filter(|_| is_high) {
                    Some(rest) => {
                        chars = rest.chars();
                        let low = chars.by_ref().take(4).collect::<String>();
                        let low = u32::from_str_radix(&low, 16).map_err(|_| BAD_ESCAPE)?;
                        0x10000 + ((code - 0xD800) << 10) + (low.wrapping_sub(0xDC00) & 0x3FF)
                    }
                    None => code,
                }
            }
            'U' => number(8, 16, "").ok_or(BAD_ESCAPE)?,
            '0'..='7' => number(2, 8, &kind.to_string()).ok_or(BAD_ESCAPE)?,
            'N' => return Err("`\\N` in a text is not supported: write the character".to_owned()),
            kind => {
                text.extend(['\\', kind]);
                continue;
            }
        };
        text.push(char::from_u32(code).ok_or(BAD_ESCAPE)?);
    }
    let mut literal = String::with_capacity(text.len() + 2);
    literal.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => literal.extend(['\\', c]),
            c => literal.push(c),
        }
    }
    Ok(Some(literal + "\""))
}

const BAD_ESCAPE: &str = "a text in quotes has a wrong escape: `\\x` has two hexadecimal digits behind it, `\\u` four \
                          and `\\U` eight";

/// An upper bound on the depth of an expression's syntax tree.
#[derive(Default)]
struct Expression {
    /// For each open bracket: the depth around it, and the greatest depth before a comma.
    open: Vec<(usize, usize)>,
    /// The depth within the innermost bracket since the last comma.
    here: usize,
    /// The greatest depth before that comma.
    deepest: usize,
}

impl Expression {
    fn take(&mut self, token: &Token<'_>) -> Result<(), String> {
        match token {
            Token::ParenOpen | Token::BracketOpen | Token::BraceOpen => {
                self.open.push((self.here + 1, self.deepest));
                (self.here, self.deepest) = (0, 0);
            }
            Token::ParenClose | Token::BracketClose | Token::BraceClose => {
                let (around, deepest) = self.open.pop().unwrap_or_default();
                self.here = around + self.here.max(self.deepest);
                self.deepest = deepest;
            }
            Token::Comma => {
                self.deepest = self.deepest.max(self.here);
                self.here = 0;
            }
            _ => self.here += 1,
        }
        if self.here <= MAX_EXPRESSION && self.open.len() <= MAX_EXPRESSION {
            Ok(())
        } else {
            Err("it has an expression whose parts lie too deep in each other".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str) -> Result<(), String> {
        super::prepare(source, &SyntaxConfig::default()).map(drop)
    }

    #[test]
    fn long_lists_are_no_deep_expressions() {
        let names: Vec<String> = (0..5000).map(|n| format!("'{n}': f({n}, [1, 2])")).collect();
        check(&format!("{{% set names = {{ {} }} %}}", names.join(", "))).unwrap();
        check(&"{{ a + b | trim }}".repeat(5000)).unwrap();
    }

    #[test]
    fn what_becomes_a_deep_tree_is_refused() {
        for source in [
            format!("{{{{ 1{} }}}}", " + 1".repeat(20_000)),
            format!("{{{{ {} 1 }}}}", "not ".repeat(20_000)),
            format!("{{{{ x{} }}}}", "|trim".repeat(20_000)),
            format!("{{{{ x{} }}}}", "(1, 2)".repeat(20_000)),
            format!("{{{{ 1{} }}}}", " if x else 1".repeat(20_000)),
            format!("{{{{ [{}1, {}2] }}}}", "(1 + ".repeat(100), "+ 1)".repeat(200)),
        ] {
            check(&source).unwrap_err();
        }
        let elifs = "{% elif x %}".repeat(20_000);
        check(&format!("{{% if x %}}{elifs}{{% endif %}}")).unwrap_err();
        check(&" ".repeat(2 << 20)).unwrap_err();
    }
}
