//! JSON schemas and Lark grammars, by `llguidance`: an Earley parser over tokens that a lexer of
//! derivatives of regular expressions finds.

mod bounds;
mod copies;
mod ends;
mod intervals;
mod lark;
mod memory;
mod numbers;
mod pairs;
mod parts;
mod place;
mod prepare;
mod reader;
mod words;

use std::fmt;
use std::slice;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use llguidance::ParserFactory;
use llguidance::api::{GrammarInit, ParserLimits, TopLevelGrammar};
use llguidance::toktrie::{ApproximateTokEnv, TokEnv, TokRxInfo, TokTrie};
use serde_json::Value;

use self::numbers::Numbers;
use self::prepare::{HOW, for_guidance};
use self::reader::Reader;
use self::words::in_words;
use super::schema::Schema;
use crate::constrained::{Cancel, Constraint, Parser, Vocabulary};
use crate::error::{Error, RequestError, Result};
use crate::{panics, priority};

/// The most bytes of a schema or a grammar.
const LONGEST: usize = 256 << 10;

/// The deepest nesting of a schema. `llguidance` reads it by a function that calls itself.
const DEEPEST: usize = 64;

/// The most brackets and terminals of a Lark grammar, without those in its strings, regular expressions and
/// JSON. Conditions, and terminals that others exclude, are read by functions that call themselves also where
/// masks are computed, and there the stack may be that of any thread.
const MOST_BRACKETS: usize = 2000;

/// The bytes of a token that no text has: of UTF-8 no byte is this one, by which `llguidance` marks
/// special tokens, and its trie has room for 1024.
const MARKER: u8 = 0xff;
const LONGEST_TOKEN: usize = 1024;

/// Reads grammars for one vocabulary.
pub(super) struct Guidance {
    vocabulary: Arc<Vocabulary>,
    factory: ParserFactory,
    /// Held while a grammar is read, which may take hundreds of MB.
    alone: Mutex<()>,
}

impl Guidance {
    /// Sorts the tokens of a vocabulary.
    ///
    /// # Errors
    /// A vocabulary with more tokens than `llguidance` has room for.
    pub(super) fn new(vocabulary: Arc<Vocabulary>) -> Result<Self> {
        let factory = contained(|| factory(&vocabulary)).flatten();
        let factory = factory.map_err(|problem| refused("vocabulary", problem))?;
        Ok(Self { vocabulary, factory, alone: Mutex::new(()) })
    }

    /// # Errors
    /// A schema that is wrong, too large or too deep, or asks for what `llguidance` does not know, with
    /// its place; one that no value satisfies.
    pub(super) fn json_schema(&self, schema: &Schema, cancel: &Cancel) -> Result<Constraint> {
        let schema = schema.json();
        let length = schema.to_string().len();
        check_size(length)?;
        let wrong = |problem| refused("JSON schema", problem);
        if let Some(place) = place::too_deep(schema, DEEPEST) {
            return Err(wrong(format!("{place} is nested deeper than {DEEPEST} levels")));
        }
        let matcher = self.read_schema(schema, length, cancel).map_err(|problem| {
            let problem_of = |part: &Value| self.read_schema(part, length, cancel).err();
            let same = |part: &Value| problem_of(part).as_ref() == Some(&problem);
            wrong(format!("{}: {problem}", place::of_problem(schema, same)))
        });
        self.constraint(matcher, cancel)
    }

    /// # Errors
    /// A grammar that is wrong, too large or has too many brackets; one that allows no text.
    pub(super) fn lark(&self, grammar: &str, cancel: &Cancel) -> Result<Constraint> {
        check_size(grammar.len())?;
        let wrong = |problem| refused("Lark grammar", problem);
        if lark::brackets_and_terminals(grammar) > MOST_BRACKETS {
            return Err(wrong(format!("it has more than {MOST_BRACKETS} brackets and terminals")));
        }
        let intersections = lark::intersections(grammar);
        if intersections > pairs::MOST_AT_ONCE {
            return Err(wrong(format!(
                "it intersects terminals {intersections} times, and may do so {} times: each doubles the work",
                pairs::MOST_AT_ONCE
            )));
        }
        check_copies(&lark::schemas(grammar), grammar.len()).map_err(wrong)?;
        let mut numbers = Numbers::of(grammar);
        let prepared = lark::with_schemas(grammar, |schema| {
            let mut prepared = for_guidance(&schema, &mut numbers)?;
            // Who writes a grammar for `llguidance` may tell it how to read a schema.
            if let (Some(how), Value::Object(fields)) = (schema.get(HOW), &mut prepared) {
                fields.insert(HOW.to_owned(), how.clone());
            }
            Ok(prepared)
        });
        let prepared = prepared.map_err(wrong)?;
        let lark = TopLevelGrammar::from_lark(prepared);
        let read = self.read(lark, &numbers, grammar.len(), cancel);
        self.constraint(read.map_err(wrong), cancel)
    }

    /// The constraint of what was read, unless it was given up.
    fn constraint(&self, read: Result<Reader>, cancel: &Cancel) -> Result<Constraint> {
        cancel.check()?;
        let mut reader = read?;
        reader.cancel_by(cancel);
        let constraint = Constraint::by_parser(Box::new(reader), self.vocabulary.clone());
        // From here on it is shared, and nobody gives it up for others.
        cancel.on_cancel(|| ());
        cancel.check()?;
        constraint
    }

    fn read_schema(
        &self,
        schema: &Value,
        length: usize,
        cancel: &Cancel,
    ) -> Result<Reader, String> {
        if !schema.is_object() && !schema.is_boolean() {
            return Err("a schema must be an object, true or false".to_owned());
        }
        check_copies(slice::from_ref(schema), length)?;
        let text = schema.to_string();
        let mut numbers = Numbers::of(&text);
        let prepared = for_guidance(schema, &mut numbers)?;
        self.read(TopLevelGrammar::from_json_schema(prepared), &numbers, length, cancel)
    }

    /// Reads a grammar whose text has `length` bytes.
    fn read(
        &self,
        grammar: TopLevelGrammar,
        numbers: &Numbers<'_>,
        length: usize,
        cancel: &Cancel,
    ) -> Result<Reader, String> {
        let _alone = self.alone.lock().unwrap_or_else(PoisonError::into_inner);
        if cancel.is_cancelled() {
            return Err("nobody waits for it".to_owned());
        }
        let read = || {
            let (tokens, limits) = (self.factory.tok_env().clone(), self.factory.limits().clone());
            let (rules, lexer) = GrammarInit::Serialized(grammar)
                .to_internal(Some(tokens), limits)
                .map_err(|error| in_words(&error.to_string()))?;
            let init = GrammarInit::Internal(rules, numbers.put(lexer)?);
            let parser = self.factory.create_parser_from_init_default(init);
            let mut parser = parser.map_err(|error| in_words(&error.to_string()))?;
            ends::check(&mut parser)?;
            Ok::<_, String>(Reader::new(parser, self.vocabulary.size()))
        };
        with_room(length, || contained(read).flatten())?
    }
}

impl fmt::Debug for Guidance {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Guidance").finish_non_exhaustive()
    }
}

/// The words of a vocabulary for `llguidance`. One more id than the vocabulary has stands for the end
/// of a text.
fn factory(vocabulary: &Vocabulary) -> Result<ParserFactory, String> {
    let size = vocabulary.size() as u32;
    let word = |id| {
        let bytes = vocabulary.bytes(id);
        let has_room = bytes.len() < LONGEST_TOKEN && !bytes.contains(&MARKER);
        match bytes {
            // A token without text, which a Lark grammar can name by its id: `<[5]>`.
            [] if id < size => [&[MARKER], format!("[{id}]").as_bytes()].concat(),
            bytes => bytes.get(..).filter(|_| has_room).unwrap_or_default().to_vec(),
        }
    };
    let words: Vec<Vec<u8>> = (0..=size).map(word).collect();
    let trie = TokTrie::from(&TokRxInfo::new(size + 1, size), &words);
    // Not canonical: of several ways to spell a text by tokens, all are allowed.
    let tokens: TokEnv = Arc::new(ApproximateTokEnv::new(trie));
    let mut factory =
        ParserFactory::new_simple(&tokens).map_err(|error| in_words(&error.to_string()))?;
    factory.quiet();
    *factory.limits_mut() = ParserLimits {
        max_lexer_states: 20_000,
        // An object of a thousand properties that may be left out has four items for each of them. What
        // takes so long that others would wait is done beside the model's thread.
        max_items_in_row: 20_000,
        step_max_items: 500_000,
        verbose_errors: false,
        ..ParserLimits::default()
    };
    Ok(factory)
}

fn check_size(bytes: usize) -> Result<()> {
    match bytes {
        0..=LONGEST => Ok(()),
        _ => Err(RequestError::GrammarTooLarge { limit: LONGEST }.into()),
    }
}

/// Checks schemas in a text of `length` bytes.
fn check_copies(schemas: &[Value], length: usize) -> Result<(), String> {
    if let Some(problem) = schemas.iter().find_map(pairs::too_many) {
        return Err(problem);
    }
    match with_room(length, || schemas.iter().any(copies::are_too_many))? {
        false => Ok(()),
        true => Err(format!(
            "with the copies that references and alternatives take, it has more than {} parts: leave out fields beside `$ref` that constrain, and combine fewer alternatives",
            copies::MOST
        )),
    }
}

/// Calls a function in a thread whose stack has room for a text of `length` bytes. `llguidance` reads rules
/// and schemas that refer to one another, and the fields of an object, by functions that call themselves, as
/// `copies` does, and a stack that overflows ends the process. What is not used of it takes no memory.
fn with_room<T: Send>(length: usize, call: impl FnOnce() -> T + Send) -> Result<T, String> {
    /// Without optimization, its functions take more.
    const TIMES: usize = if cfg!(debug_assertions) { 4 } else { 1 };
    /// What is enough for nearly all.
    const LEAST: usize = TIMES * (4 << 20);
    /// A few bytes are another `$ref` to what nests up to 128 levels, which is read once for each.
    const OF_BYTE: usize = TIMES * (32 << 10);
    /// It reads 50,000 parts of a schema at most, and takes up to 4 KiB for one. For a rule it takes less,
    /// and a text of 256 KiB has no more of them.
    const MOST: usize = TIMES * (256 << 20);
    let stack = length.saturating_mul(OF_BYTE).clamp(LEAST, MOST);
    let reader = thread::Builder::new().name("slowburn grammar".to_owned()).stack_size(stack);
    thread::scope(|scope| {
        let reader = reader.spawn_scoped(scope, || {
            priority::lower();
            call()
        });
        let reader = reader.map_err(|error| format!("no thread can read it: {error}"))?;
        reader.join().map_err(|panic| panics::message(panic.as_ref()))
    })
}

/// Calls `llguidance`, which may panic on what nobody has tried.
fn contained<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    panics::contain_quietly("llguidance", call).map_err(|_| in_words(""))
}

fn refused(kind: &'static str, problem: String) -> Error {
    Error::Request(RequestError::Grammar { kind, problem })
}
