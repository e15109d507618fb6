//! What `llguidance` says of a schema or a grammar, in words for whoever wrote it.

use super::super::words::{Meaning, OF_REGEX, meaning};

/// Its errors have a place before the problem, and traces behind it. That of a regular expression has the
/// expression first, in lines of its own.
pub(super) fn in_words(error: &str) -> String {
    // It fails on its own list of the special tokens that there are.
    if error.contains("missing special token prefix") {
        return "it names a special token, and none can be in a grammar here: write the text that you want".to_owned();
    }
    if error.is_empty() {
        return FAULT.to_owned();
    }
    let (place, error) = place(error);
    let problem = error.rsplit_once("\nerror: ").map_or(error, |(_, problem)| problem);
    let problem = problem.lines().next().unwrap_or_default();
    let problem = problem
        .strip_suffix("))")
        .and_then(|text| text.rsplit_once(" (at "))
        .map_or(problem, |(text, _)| text);
    place + &of_part(problem)
}

/// Where in a grammar a problem is.
fn place(error: &str) -> (String, &str) {
    if let Some(problem) = error.strip_prefix("at EOF: ") {
        return ("at its end: ".to_owned(), problem);
    }
    let place = || {
        let (line, rest) = error.strip_prefix("at ").unwrap_or(error).split_once('(')?;
        let (column, problem) = rest.split_once("): ")?;
        let (line, column): (usize, usize) = (line.parse().ok()?, column.parse().ok()?);
        Some((format!("line {line}, column {column}: "), problem))
    };
    place().unwrap_or((String::new(), error))
}

fn of_part(problem: &str) -> String {
    if let Some(of_schema) = problem.strip_prefix("failed to compile JSON schema: ") {
        return format!("its JSON schema is wrong: {}", of_part(of_schema));
    }
    if let Some(names) = problem.strip_prefix("Unimplemented keys: ") {
        let names = names.trim_matches(['[', ']']).replace('"', "`");
        return format!(
            "{names} cannot be kept to while a text is written: leave that out, or check the answer for it"
        );
    }
    let problem = problem.strip_prefix("Unsatisfiable schema: ").unwrap_or(problem);
    let all = OF_SCHEMA.iter().chain(&OF_LARK).chain(&OF_REGEX).chain(&OF_LIMITS);
    meaning(problem, all)
}

const OF_SCHEMA: [Meaning; 58] = [
    (
        "Unknown specification: {}",
        "`$schema` is {}, which is not known here: leave it out, or name a draft from 4 to 2020-12",
    ),
    (
        "Only absolute $ref's (#/...) are supported without 'referencing' feature; ref '{}'",
        "`$ref` is \"{}\", but must name a place in this schema, as `#/$defs/NAME` does: put what it names there",
    ),
    (
        "Reference segment '{}' not found",
        "a `$ref` names `{}`, which is not in this schema: add it, or correct the `$ref`",
    ),
    (
        "Definition not found: {}",
        "a `$ref` names `{}`, which is not in this schema: add it, or correct the `$ref`",
    ),
    ("$ref must be a string, got {}", "`$ref` is {}, but must be a string"),
    (
        "circular references with sibling keys are not supported: {}",
        "a `$ref` to `{}` leads back to itself, and has fields beside it: leave those out",
    ),
    (
        "Schema intersection stack level exceeded",
        "`$ref` and `allOf` lead from one to the next too often: combine fewer of them",
    ),
    ("Value for 'multipleOf' must be non-negative", "`multipleOf` must be above 0"),
    (
        "Value for 'multipleOf' has too many digits: {}",
        "`multipleOf` is {}, which has too many digits: round it",
    ),
    ("Invalid range: left ({}) cannot be greater than right ({})", BOUNDS),
    ("Empty range", BOUNDS),
    ("exclusiveMinimum", BOUNDS),
    ("minimum", BOUNDS),
    ("integer interval", BOUNDS),
    (
        "Failed to generate regex for",
        "its bounds have too many digits: round `minimum` and `maximum`",
    ),
    (
        "range {} does not contain a multiple of",
        "no number within its bounds is a multiple of `multipleOf`: change one of them",
    ),
    (
        "Infinite numbers not supported",
        "one of its numbers is too large: leave out that bound",
    ),
    (
        "oneOf constraints are not supported",
        "`oneOf` is supported only where no value can satisfy two of its alternatives: write `anyOf`",
    ),
    (
        "Unknown format: {}",
        "`format` is \"{}\", which cannot be kept to here: leave it out, or write a `pattern`",
    ),
    (
        "Invalid type: {}",
        "`type` is \"{}\", but must be one of \"null\", \"boolean\", \"integer\", \"number\", \"string\", \"array\" and \"object\"",
    ),
    ("type must be a string", "`type` must be a string, or a list of strings"),
    ("enum must be an array", "`enum` must be a list"),
    ("allOf must be an array", "`allOf` must be a list"),
    ("anyOf must be an array", "`anyOf` must be a list"),
    ("oneOf must be an array", "`oneOf` must be a list"),
    ("prefixItems must be an array", "`prefixItems` must be a list"),
    ("properties must be an object", "`properties` must be an object"),
    (
        "schema must be an object or boolean",
        "a schema must be an object, true or false",
    ),
    (
        "Expected f64 for numeric const, got {}",
        "a number is {}, which is too large: take one of 64 bits",
    ),
    ("Expected f64 for '{}', got {}", "`{}` is {}, but must be a number"),
    (
        "Expected string for 'required' item, got {}",
        "`required` has {} in it, but must be a list of strings",
    ),
    ("Expected string for '{}', got {}", "`{}` is {}, but must be a string"),
    ("Expected array for '{}', got {}", "`{}` is {}, but must be a list"),
    ("Expected object for '{}', got {}", "`{}` is {}, but must be an object"),
    (
        "Expected positive integer for '{}', got {}",
        "`{}` is {}, but must be a whole number of 0 or more",
    ),
    (
        "Value {} for '{}' is too large",
        "{} is too much for `{}`: take a smaller number",
    ),
    ("minLength ({}) exceeds", "`minLength` is {}, but may be 4294967295 at most"),
    ("maxLength ({}) exceeds", "`maxLength` is {}, but may be 4294967295 at most"),
    (
        "min/maxProperties only supported",
        "`minProperties` and `maxProperties` are supported only where `required` has all of `properties`: add them there",
    ),
    (
        "patternProperty regexes /{}/ and /{}/ are not disjoint",
        "a name can match two patterns of `patternProperties`, `{}` and `{}`: change one of them",
    ),
    (
        "can't determine if patternProperty regexes",
        "it takes too much work to find out whether a name can match two patterns of `patternProperties`: write simpler ones",
    ),
    (
        "minLength ({}) is greater than maxLength ({})",
        "`minLength` is {} and `maxLength` is {}, which no string satisfies: change one of them",
    ),
    (
        "minItems ({}) is greater than maxItems ({})",
        "`minItems` is {} and `maxItems` is {}, which no list satisfies: change one of them",
    ),
    (
        "minProperties ({}) is greater than number of properties ({})",
        "`minProperties` is {}, and only {} properties can be there: change one of the two",
    ),
    (
        "minProperties > maxProperties",
        "`minProperties` is above `maxProperties`, which no object satisfies: change one of them",
    ),
    (
        "required > maxProperties",
        "`required` has more names than `maxProperties` allows: change one of them",
    ),
    (
        "required property '{}' is unsatisfiable",
        "nothing satisfies the schema of the property `{}`, which is required: change that schema",
    ),
    (
        "required item is unsatisfiable",
        "nothing satisfies the schema of an item that `minItems` asks for: change that schema",
    ),
    (
        "prefixItems[{}] is unsatisfiable",
        "nothing satisfies the schema `prefixItems/{}`, which `minItems` asks for: change that schema",
    ),
    (
        "Constant {} doesn't match length constraints",
        "{} is the one string that is allowed, and is shorter than `minLength` or longer than `maxLength`: change one of them",
    ),
    (
        "Regex is empty",
        "no string satisfies all of its parts: `pattern`, `format`, `minLength` and `maxLength` exclude each other; change one of them",
    ),
    (
        "All options in anyOf are unsatisfiable",
        "nothing satisfies any of its alternatives: change one of them",
    ),
    ("No options in anyOf", NO_CHOICE),
    ("anyOf is empty", NO_CHOICE),
    ("oneOf is empty", NO_CHOICE),
    ("incompatible boolean values", EXCLUDED),
    ("incompatible types", EXCLUDED),
    ("schema is false", NO_CHOICE),
];
const BOUNDS: &str = "no number is within its bounds: `minimum` must not be above `maximum`, nor at a bound that is exclusive";
const NO_CHOICE: &str = "nothing satisfies `false`, or an empty `enum`, `anyOf` or `oneOf`: write there what is allowed";
const EXCLUDED: &str =
    "its parts ask for different types or values, and nothing satisfies all of them: leave one out";

const OF_LARK: [Meaning; 78] = [
    ("lexer error", NO_LARK),
    ("lexer special token", NO_LARK),
    (
        "expecting rule, token or statement",
        "a rule is expected here, as in `start: \"yes\" | \"no\"`",
    ),
    (
        "Expected token {}, found EOF",
        "{} is expected here, and the grammar ends: add it",
    ),
    (
        "Expected token {}, found end of input",
        "{} is expected here, and the grammar ends: add it",
    ),
    (
        "Expected token {}, found {}",
        "{} is expected here, and there is {}: correct one of them",
    ),
    (
        "Expected value",
        "a name, a text in quotes or a regular expression between slashes is expected here: add it",
    ),
    ("Expected name", "the name of a rule or a terminal is expected here: add it"),
    (
        "Expected at least one name after %declare",
        "`%declare` is not supported: leave it out",
    ),
    ("Expected '{}' ", "`{}` is expected here: add it"),
    ("no {} rule found", "it has no rule `{}`, which every text begins with: add it"),
    (
        "unknown name: {}",
        "it uses {}, which is nowhere defined: define it, or correct the name",
    ),
    (
        "rule {} not found",
        "it uses {}, which is nowhere defined: define it, or correct the name",
    ),
    (
        "duplicate rule: {}",
        "it defines the rule {} twice: leave one out, or join them by `|`",
    ),
    (
        "duplicate token: {}",
        "it defines the terminal {} twice: leave one out, or join them by `|`",
    ),
    (
        "duplicate token (in import): {}",
        "it imports the terminal {}, which it has already: leave one out",
    ),
    (
        "circular reference in token {} definition",
        "the terminal {} is made of itself, which only rules can be: write its name in small letters",
    ),
    (
        "& is only supported for tokens",
        "`&` is between terminals alone: write the name of its rule in capitals",
    ),
    (
        "*cannot be used in terminals",
        "a terminal is made of texts, regular expressions and other terminals alone: write its name in small letters, which makes it a rule",
    ),
    (
        "'%if' is not supported in terminals",
        "`%if` cannot be in a terminal: write its name in small letters, which makes it a rule",
    ),
    ("range start must be a single character", RANGE),
    ("range end must be a single character", RANGE),
    ("invalid range order", RANGE),
    ("ranges not supported with operators", REPEATED),
    ("range start must be >= 0", REPEATED),
    ("range end must be >= start", REPEATED),
    ("End number in range cannot be 0", REPEATED),
    ("unsupported operator", REPEATED),
    ("error parsing signed integer", REPEATED),
    ("error parsing unsigned integer", REPEATED),
    (
        "l-flag is not supported in regexes",
        "a regular expression has the flag `l` behind it, which is not supported: leave it out",
    ),
    (
        "flags not allowed in this context",
        "letters behind a text in quotes are not allowed here: leave them out",
    ),
    (
        "template usage not supported yet",
        "templates are not supported: write each rule out",
    ),
    ("params not supported yet", "templates are not supported: write each rule out"),
    (
        "priority not supported yet",
        "priorities are not supported: leave out the number behind the name",
    ),
    (
        "override statement not supported yet",
        "`%override` is not supported: leave it out",
    ),
    (
        "declare statement not supported yet",
        "`%declare` is not supported: leave it out",
    ),
    (
        "Unknown common regex: {};",
        "it imports `{}`, which does not exist: write it as a regular expression",
    ),
    ("numeric grammar references no longer supported", OTHER_GRAMMAR),
    ("unknown grammar", OTHER_GRAMMAR),
    (
        "Unknown attribute: {}",
        "a rule has the attribute `{}`, which does not exist: leave it out",
    ),
    ("Cannot have multiple stop", ATTRIBUTES),
    ("stop= and suffix= cannot be used together", ATTRIBUTES),
    ("stop-like is not supported for parametric rules", ATTRIBUTES),
    ("temperature= is not supported for parametric rules", ATTRIBUTES),
    ("max_tokens= is not supported for parametric rules", ATTRIBUTES),
    ("temperature mismatch", ATTRIBUTES),
    ("stop_capture_name requires", ATTRIBUTES),
    ("*temperature= and max_tokens= only", ATTRIBUTES),
    ("*arametric", PARAMETERS),
    ("*needs param", PARAMETERS),
    ("expected '_' or '[start_bit:stop_bit]'", PARAMETERS),
    ("end bit index", PARAMETERS),
    ("number {} is too large; must be <= {}", "a number is {}, but may be {} at most"),
    ("Unexpected expression '{}'", "`{}` computes no parameter here: leave it out"),
    ("Unexpected condition '{}'", "`{}` is no condition: correct it"),
    (
        "lark grammar too deeply nested",
        "its brackets lie within each other too deep: nest fewer of them",
    ),
    (
        "failed to parse %llguidance declaration: {}",
        "what is behind `%llguidance` is wrong: {}",
    ),
    ("failed to parse %regex: empty json", SUBSTRINGS),
    ("failed to parse %regex: {}", "the JSON behind `%regex` is wrong: {}"),
    ("failed to parse \"{}\": empty json", "JSON is expected behind `{}`: add it"),
    ("failed to parse \"{}\": {}", "the JSON behind `{}` is wrong: {}"),
    ("invalid digit found in string", TOKENS),
    ("number too large to fit in target type", TOKENS),
    ("cannot parse integer from empty string", TOKENS),
    ("no fields set on %regex", SUBSTRINGS),
    ("only one field can be set on %regex", SUBSTRINGS),
    ("expected regex JSON value", SUBSTRINGS),
    ("expected JSON value", "JSON is expected here: add it"),
    ("error parsing string: {}", "a text in quotes is wrong: {}"),
    ("Unmatched %lark", "a `%lark {` has no `}`: close it"),
    ("Token range end too large", TOKENS),
    ("Invalid token range", TOKENS),
    ("invalid token range", TOKENS),
    ("empty token range", TOKENS),
    ("negat", TOKENS),
    ("wildcard token range", TOKENS),
    (
        "unknown special token: {};",
        "it names the special token {}, which this model does not have: write the text that you want",
    ),
];
const NO_LARK: &str = "this is not in the syntax of Lark: write rules as `name: \"text\" | /regular expression/`, \
    with names of letters, digits and `_`";
const RANGE: &str =
    "a range has one character on each side, the lower one first, as in \"a\"..\"z\": correct it";
const REPEATED: &str = "a repetition is wrong: write `?`, `*`, `+` or `{2,5}`, the smaller number first, and one of \
    them alone";
const OTHER_GRAMMAR: &str =
    "it refers to another grammar by `@`, and there is none: write its rules out";
const ATTRIBUTES: &str =
    "the attributes of a rule, between `[` and `]`, do not go together: leave some out";
const PARAMETERS: &str = "a rule that takes a parameter is defined or used without one, or one that takes none with \
    one: write `name::_` for both, or for neither";
const SUBSTRINGS: &str =
    "behind `%regex` an object with one field is expected, such as `substring_words`: correct it";
const TOKENS: &str = "between `<[` and `]>` are the ids of tokens that the vocabulary has, as in `<[5]>` or `<[3-7]>`: \
    correct them";

/// Its own limits, and what they mean.
const FAULT: &str =
    "the crate `llguidance` fails on it, which is a fault there: write it in another way";

const OF_LIMITS: [Meaning; 12] = [
    ("panic: ", FAULT),
    ("Internal error", FAULT),
    ("*lexer precomputation failed", EXPRESSIONS),
    ("*(grammar) too big", EXPRESSIONS),
    ("*fuel exhausted", EXPRESSIONS),
    ("*too many expressions", EXPRESSIONS),
    ("*too many states", EXPRESSIONS),
    ("*maximum relevance check fuel", EXPRESSIONS),
    (
        "*Unable to determine if regex is empty",
        "it takes too much work to find out whether any text satisfies all of its parts: combine fewer of them",
    ),
    (
        "*schema too large",
        "it is too large once its references and alternatives are written out: combine fewer of them",
    ),
    (
        "grammar size (number of symbols) too big",
        "it is too large: take fewer rules, and repeat fewer times",
    ),
    (
        "*Current row has",
        "there are too many ways to go on at one place: give fewer alternatives, require more of the properties, \
         or let rules repeat on their left",
    ),
];
const EXPRESSIONS: &str =
    "its regular expressions take too much work: repeat fewer times, and intersect fewer of them";
