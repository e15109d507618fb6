//! Errors of what a caller asks for.

use crate::outside::{quoted, short};

/// Why a request can't be served as it is. The message tells the caller what to ask for instead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    #[error(
        "the prompt is empty and this model has no begin-of-sequence token to start from: give a prompt of at least one token"
    )]
    EmptyPrompt,

    #[error(
        "the prompt has {prompt} tokens but the model's context length is {context}: shorten the prompt by {} tokens",
        prompt - context
    )]
    PromptTooLong { prompt: usize, context: usize },

    #[error(
        "the prompt has {bytes} bytes, and the first of them are more than the {context} tokens of the model's context length: shorten the prompt"
    )]
    TextTooLong { bytes: usize, context: usize },

    #[error(
        "to tokenize a text of {bytes} bytes takes about {memory} bytes of memory, more than is left: shorten the text"
    )]
    TextTooLarge { bytes: usize, memory: u128 },

    #[error("token id {id} is outside the vocabulary: ids go from 0 to {}", vocab_size - 1)]
    TokenOutOfRange { id: u32, vocab_size: usize },

    #[error(
        "the draft model has a vocabulary of {draft} tokens, and the model one of {target}: give a draft model with the model's tokenizer"
    )]
    DraftVocabulary { draft: usize, target: usize },

    #[error("{name} is {value}, but must be {allowed}", value = short(.value))]
    Parameter {
        name: &'static str,
        value: String,
        allowed: &'static str,
    },

    #[error(
        "there is no adapter {name}: {}", known_adapters(.known), name = quoted(.name)
    )]
    AdapterUnknown { name: String, known: String },

    #[error("this adapter was read for another model: read it for the one that it is used with")]
    AdapterForeign,

    #[error(
        "this model has no chat template: it goes on from a text and answers no messages; take a model that was trained for chat"
    )]
    NoChatTemplate,

    #[error(
        "{origin}: the chat template cannot write this conversation: {message}; change the messages",
        origin = short(.origin), message = short(.message)
    )]
    ChatTemplate { origin: String, message: String },

    #[error(
        "the KV cache holds {capacity} tokens: {length} are in it and {new} more do not fit; make a larger cache or stop here"
    )]
    CacheFull {
        capacity: usize,
        length: usize,
        new: usize,
    },

    #[error(
        "a KV cache for {tokens} tokens of this model takes {bytes} bytes, more memory than this machine has left: ask for fewer new tokens, or take a smaller model"
    )]
    CacheTooLarge { tokens: usize, bytes: u128 },

    #[error(
        "a sequence may grow to {tokens} tokens, but the KV caches have room for {capacity}: allow them more memory, ask for fewer new tokens, or shorten the prompt"
    )]
    KvPoolTooSmall { tokens: usize, capacity: usize },

    #[error(
        "the scores of step {step} are unusable after {rule}: {problem}; a rule must leave at least one finite score, and -inf for what it removes: make it weaker"
    )]
    Scores {
        step: usize,
        rule: &'static str,
        problem: &'static str,
    },

    #[error("this {kind} cannot constrain a text: {problem}", problem = short(.problem))]
    Grammar { kind: &'static str, problem: String },

    #[error(
        "the grammar takes more than {limit} bytes: repeat fewer times, name fewer characters, or split it into several requests"
    )]
    GrammarTooLarge { limit: usize },

    #[error("compiling the grammar was given up, as nobody waits for it any more")]
    GrammarCancelled,

    #[error(
        "{kind} needs the feature `{feature}` of the crate slowburn, which this program was built without: take a regular expression, or build it with that feature"
    )]
    GrammarNotCompiled {
        kind: &'static str,
        feature: &'static str,
    },

    #[error(
        "a prompt can be healed with a regular expression or with choices, but not with a JSON schema or a Lark grammar: leave out one of the two"
    )]
    HealingByParser,

    #[error("the grammar allows no text, or the empty one alone: allow at least one")]
    GrammarEmpty,

    #[error("no token of this model begins a text that the grammar allows: allow other characters")]
    GrammarUnspellable,

    #[error(
        "the text is inside the grammar after {step} tokens, but no token of this model continues it: allow other characters"
    )]
    NoTokenFits { step: usize },

    #[error(
        "token {token} of step {step} leaves the grammar: a rule that changes scores must not let in what the constraint has removed"
    )]
    OutsideGrammar { step: usize, token: u32 },

    #[error(
        "the constraint was compiled for a vocabulary of {constraint} tokens, and the model has {model}: compile it for this model"
    )]
    ConstraintVocabulary { constraint: usize, model: usize },
}

fn known_adapters(known: &str) -> String {
    match known {
        "" => "none is loaded; load one with a name and its folder".to_owned(),
        known => format!("take one of {}", short(known)),
    }
}
