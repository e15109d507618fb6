//! The memory of a grammar.

use llguidance::TokenParser;

use super::ends::Rules;

/// What `llguidance` takes for any grammar: its stacks, and tables of bytes.
const ANY: usize = 750 << 10;
/// What it takes for a lexeme and for a symbol of a rule, with their names and all that grows with their number.
const LEXEME: usize = 1500;
const SYMBOL: usize = 250;

/// An estimate of what a grammar takes, in bytes. `llguidance` says how large the tables of its lexer are, and
/// nothing of the rest: `tests/grammar_memory.rs` measures that.
pub(super) fn of(parser: &TokenParser) -> usize {
    let parser = &parser.parser;
    let grammar = parser.grammar();
    let spec = grammar.lexer_spec();
    let symbols = Rules::of(grammar, spec.alloc_lexeme_set()).symbols().len();
    let tables = parser.lexer_stats().num_bytes + spec.regex_builder.exprset().num_bytes();
    ANY + tables + spec.lexemes.len() * LEXEME + symbols * SYMBOL
}
