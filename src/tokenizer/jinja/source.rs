//! Checks on a template's source before parsing: the engine's parser recurses for each operator and
//! each `elif`, and does not limit these.

use minijinja::machinery::{Token, tokenize};
use minijinja::syntax::SyntaxConfig;

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
/// block that leaves its content unchanged and has its own scope.
pub(super) fn prepare(source: &str, syntax: &SyntaxConfig) -> Result<String, String> {
    if source.len() > MAX_BYTES {
        return Err(format!("it has {} bytes, and {MAX_BYTES} is the limit", source.len()));
    }
    let mut prepared = String::with_capacity(source.len());
    let mut copied = 0;
    let mut expression = Expression::default();
    let mut elifs = 0;
    let mut previous = Token::VariableEnd;
    // Invalid tokens are left to the engine, whose error gives their position.
    for (token, span) in tokenize(source, false, syntax.clone()).map_while(Result::ok) {
        let replacement = match (&previous, &token) {
            // `f(*list)`
            (Token::ParenOpen | Token::Comma, Token::Mul) => None,
            (_, Token::Mul) => Some("* (1 if 1) *"),
            (_, Token::Tilde) => Some("~ ('' if 1) ~"),
            (Token::BlockStart, Token::Ident("generation")) => Some("with"),
            (Token::BlockStart, Token::Ident("endgeneration")) => Some("endwith"),
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
            _ => None,
        };
        if let Some(replacement) = replacement {
            prepared.push_str(&source[copied..span.start_offset as usize]);
            prepared.push_str(replacement);
            copied = span.end_offset as usize;
        }
        match &token {
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
    Ok(prepared + &source[copied..])
}

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
