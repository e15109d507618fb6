//! Whether every text that a grammar lets begin can come to its end.
//!
//! `llguidance` follows each rule as far as its symbols go. A symbol that nothing can complete, such as the name
//! of a property that no text is, or a rule that needs itself, is found out only where a text has to go on with
//! it: its tokens before were allowed, and then none is.

use std::collections::{HashMap, HashSet};

use llguidance::TokenParser;
use llguidance::earley::regexvec::LexemeSet;
use llguidance::earley::{CGrammar, CSymIdx};

/// # Errors
/// A grammar that no text satisfies, or with texts that can begin and not end.
pub(super) fn check(parser: &mut TokenParser) -> Result<(), String> {
    // The lexer leaves out what matches nothing.
    let lexemes = parser.parser.with_recognizer(|reader| {
        let all = reader.lexer().lexer_spec().all_lexemes();
        let start = reader.lexer_mut().start_state(&all);
        reader.lexer().possible_lexemes(start).clone()
    });
    Rules::of(parser.parser.grammar(), lexemes).check()
}

pub(super) struct Rules<'a> {
    grammar: &'a CGrammar,
    /// Those that match something.
    lexemes: LexemeSet,
    symbols: Vec<CSymIdx>,
    /// In the rules of which symbols each symbol is.
    users: HashMap<usize, Vec<CSymIdx>>,
}

impl<'a> Rules<'a> {
    pub(super) fn of(grammar: &'a CGrammar, lexemes: LexemeSet) -> Self {
        let mut rules = Self { grammar, lexemes, symbols: Vec::new(), users: HashMap::new() };
        let mut left = vec![grammar.start()];
        let mut known = HashSet::from([grammar.start().as_index()]);
        while let Some(symbol) = left.pop() {
            rules.symbols.push(symbol);
            for &part in rules.of_symbol(symbol).flatten() {
                rules.users.entry(part.as_index()).or_default().push(symbol);
                if known.insert(part.as_index()) {
                    left.push(part);
                }
            }
        }
        rules
    }

    /// All symbols that it uses.
    pub(super) fn symbols(&self) -> &[CSymIdx] {
        &self.symbols
    }

    /// The symbols of each rule of a symbol.
    pub(super) fn of_symbol(
        &self,
        symbol: CSymIdx,
    ) -> impl Iterator<Item = &'a [CSymIdx]> + use<'a> {
        let grammar = self.grammar;
        grammar.rules_of(symbol).iter().map(|&rule| grammar.rule_rhs(rule).0)
    }

    fn is_empty(&self, symbol: CSymIdx) -> bool {
        let symbol = self.grammar.sym_data(symbol);
        symbol.is_nullable || !symbol.cond_nullable.is_empty()
    }

    /// Whether a symbol is one of the lexer's that match something. None if it has rules.
    fn matches(&self, symbol: CSymIdx) -> Option<bool> {
        self.grammar.sym_data(symbol).lexeme.map(|lexeme| self.lexemes.contains(lexeme))
    }

    /// The symbols of which something holds that may follow from others.
    fn where_holds(&self, holds: impl Fn(CSymIdx, &HashSet<usize>) -> bool) -> HashSet<usize> {
        let mut found = HashSet::new();
        let mut left = self.symbols.clone();
        while let Some(symbol) = left.pop() {
            if !found.contains(&symbol.as_index()) && holds(symbol, &found) {
                found.insert(symbol.as_index());
                left.extend(self.users.get(&symbol.as_index()).into_iter().flatten());
            }
        }
        found
    }

    fn check(&self) -> Result<(), String> {
        let can_end = self.where_holds(|symbol, found| {
            let is_found = |part: &CSymIdx| found.contains(&part.as_index());
            let by_rules = || self.of_symbol(symbol).any(|rule| rule.iter().all(is_found));
            self.matches(symbol).unwrap_or_else(|| self.is_empty(symbol) || by_rules())
        });
        if !can_end.contains(&self.grammar.start().as_index()) {
            return Err("nothing satisfies it: what it asks for excludes itself, or needs itself without end".to_owned());
        }
        let can_begin = self.where_holds(|symbol, found| {
            let begins = |rule: &[CSymIdx]| {
                let mut first = rule
                    .iter()
                    .skip_while(|part| !found.contains(&part.as_index()) && self.is_empty(**part));
                first.next().is_some_and(|part| found.contains(&part.as_index()))
            };
            self.matches(symbol).unwrap_or_else(|| self.of_symbol(symbol).any(begins))
        });
        let mut left = vec![self.grammar.start()];
        let mut known = HashSet::from([self.grammar.start().as_index()]);
        while let Some(symbol) = left.pop() {
            for rule in self.of_symbol(symbol) {
                let mut has_begun = false;
                for part in rule {
                    has_begun |= can_begin.contains(&part.as_index());
                    if !can_end.contains(&part.as_index()) {
                        if has_begun {
                            return Err("some texts can begin and never end: name no property that a pattern of `patternProperties` is made for alone, and let no part need itself without end".to_owned());
                        }
                        // Nothing is read by this rule.
                        break;
                    }
                    if known.insert(part.as_index()) {
                        left.push(*part);
                    }
                }
            }
        }
        Ok(())
    }
}
