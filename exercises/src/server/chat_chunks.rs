//! The chunks of a streamed chat answer: roles, finish reasons and usage.

/// What the engine reports about choice `index`. With `n` above 1 the choices come interleaved.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// More text. It is empty if all of it is held back for now.
    Text { index: usize, text: String },
    /// The choice has ended. No more events come from it.
    End {
        index: usize,
        /// What was still held back.
        text: String,
        reason: Reason,
        /// How many tokens the choice has.
        tokens: usize,
    },
}

/// Why a choice has ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reason {
    /// The model chose its end-of-sequence token.
    Eos,
    /// The text contained a stop string.
    StopString,
    /// It has `max_tokens` tokens.
    Length,
    /// The context is full.
    Context,
}

/// One `chat.completion.chunk`, without the fields that are the same in all of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Chunk {
    pub choices: Vec<Choice>,
    pub usage: Option<Usage>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    pub index: usize,
    pub delta: Delta,
    /// `"stop"` or `"length"`, in the last chunk of the choice.
    pub finish_reason: Option<&'static str>,
}

/// The new part of a message. `Delta::default()` is the empty delta, `{}`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Delta {
    pub role: Option<&'static str>,
    pub content: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Usage {
    pub prompt_tokens: usize,
    pub completion_tokens: usize,
    pub total_tokens: usize,
}

/// The answer to one request, in chunks. The fields are a proposal.
#[derive(Debug)]
pub struct ChatStream {
    prompt_tokens: usize,
    include_usage: bool,
    /// For each choice, whether its role has been sent.
    begun: Vec<bool>,
    /// How many choices have not ended.
    open: usize,
    completion_tokens: usize,
}

impl ChatStream {
    /// `n` choices for one prompt of so many tokens. `include_usage` comes from `stream_options`.
    pub fn new(n: usize, prompt_tokens: usize, include_usage: bool) -> Self {
        todo!()
    }

    /// Clients of the chat API expect chunks in a fixed form: a role first, then text, a finish
    /// reason, and the usage if they asked for it. Return the chunks that an event causes, in
    /// order. There may be none, and each has one choice at most.
    ///
    /// - The first event of a choice, whatever it is, causes a chunk whose delta has the role
    ///   `"assistant"` and the content `""`. No other delta has a role.
    /// - Text that is not empty is the content of one chunk.
    /// - The last chunk of a choice has an empty delta and the finish reason: `"stop"` if the model
    ///   or a stop string ended it, `"length"` if there was no more room.
    /// - If `include_usage`, one more chunk follows the end of the last choice, without choices and
    ///   with the usage. The prompt was read once for all of them. No other chunk has a usage.
    ///
    /// ```text
    /// n 1, 5 prompt tokens, include_usage
    /// Text "On"                   role assistant, content ""
    ///                             content "On"
    /// Text ""                     nothing
    /// End "ce", Length, 3 tokens  content "ce"
    ///                             empty delta, finish_reason "length"
    ///                             no choices, usage 5, 3, 8
    /// ```
    pub fn push(&mut self, event: Event) -> Vec<Chunk> {
        todo!()
    }
}
