//! A capstone: the step of a batch, with the state that it needs.

/// A request. No two have the same id.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    pub id: u64,
    /// At least one token.
    pub prompt: Vec<u32>,
    /// At least 1.
    pub max_tokens: usize,
}

/// What one step may use. Both are at least 1.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub token_budget: usize,
    pub max_running: usize,
}

/// What a pass of the model reads of one sequence.
#[derive(Debug, Clone, PartialEq)]
pub struct Chunk {
    pub id: u64,
    /// The position of the first token: how many tokens of the sequence were read before.
    pub start: usize,
    /// At least one.
    pub tokens: Vec<u32>,
    /// Whether logits are wanted for the last of them.
    pub wants_logits: bool,
}

/// One pass of the model. It returns the logits of those chunks that want them, in their order.
pub type Pass<'a> = dyn FnMut(&[Chunk]) -> Vec<Vec<f32>> + 'a;

/// Draws the next token of the sequence with this id from its logits.
pub type Sample<'a> = dyn FnMut(u64, &[f32]) -> u32 + 'a;

/// Why a sequence has ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Finish {
    /// The end-of-sequence token was drawn.
    Eos,
    /// It has `max_tokens` new tokens.
    Length,
}

/// What a step tells the caller.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    Token { id: u64, token: u32 },
    End { id: u64, finish: Finish },
}

/// You have planned steps, drawn tokens and ended texts, each in a function that was given all it
/// needs. This time nothing is given: the batch has to remember what the next step needs to know.
/// What is that? The fields are yours, and so are the functions that you split the step into.
///
/// There are always enough blocks, so no sequence is preempted.
pub struct Batch {}

impl Batch {
    /// An empty batch. A sequence ends when the token `eos` is drawn for it.
    pub fn new(limits: Limits, eos: u32) -> Self {
        todo!()
    }

    /// A request waits from now on, behind all that wait already.
    pub fn submit(&mut self, request: Request) {
        todo!()
    }

    /// The reader of a sequence has gone. From now on the sequence takes part in no step, wherever it
    /// was, and its place is free. An id that isn't in the batch has no effect.
    pub fn leave(&mut self, id: u64) {
        todo!()
    }

    /// One step: it plans, runs one pass, samples, and finishes what has ended.
    ///
    /// **Plan.** A sequence reads its *prompt* until its first token is drawn, and from then on it
    /// *decodes*. The chunks of the pass come in this order, each part in the order of arrival:
    ///
    /// 1. Each running sequence that decodes reads its last token, whatever the budget.
    /// 2. Running sequences that read their prompt share what is left of `token_budget`, or one
    ///    token if nothing is: each takes as many tokens as it has unread.
    /// 3. While fewer than `max_running` sequences run and some of that is left, the first that
    ///    waits is admitted, and takes its chunk. It runs until it ends or leaves.
    ///
    /// Logits are wanted if the chunk ends with the last token that the sequence has.
    ///
    /// **Run.** One call of `pass` with all chunks; no call if there are none.
    ///
    /// **Sample.** One call of `sample` for each chunk that wanted logits, in the order of the chunks.
    ///
    /// **Finish.** A token that was drawn is told by [`Event::Token`], and the sequence goes on
    /// behind it. With its last token a sequence ends: then [`Event::End`] follows. `eos` is no token
    /// of the sequence, and only its end is told. What has ended is no longer in the batch.
    ///
    /// ```text
    /// token_budget 4, max_running 2, eos 0       A: prompt 5 6 7, max_tokens 2     B: prompt 8 9
    ///
    /// step   chunks of the pass                  drawn      events
    /// 1      A from 0: 5 6 7, logits; B: 8       A 3        Token A 3
    /// 2      A from 3: 3, logits;                A 4, B 0   Token A 4, End A Length, End B Eos
    ///        B from 1: 9, logits
    /// 3      none                                           none
    /// ```
    pub fn step(&mut self, pass: &mut Pass<'_>, sample: &mut Sample<'_>) -> Vec<Event> {
        todo!()
    }
}
