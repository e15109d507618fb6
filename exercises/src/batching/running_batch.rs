//! A running batch: which requests are in it at which step.

/// A request for a text.
#[derive(Debug, Clone, Copy)]
pub struct Request {
    /// The first step at which it can take part, from 0.
    pub arrives: usize,
    /// How many tokens its text will have, at least 1.
    pub tokens: usize,
}

/// The first and the last step at which a text was in the batch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Served {
    pub first_step: usize,
    pub last_step: usize,
}

/// Requests come when they like, and their texts end when they end. In a running batch, nobody
/// waits for the longest one. At which steps is each request served, in a batch of at most `places`
/// texts, 1 to 1000? Return one entry for each request, in the order of `requests`.
///
/// - A step is a pass. It gives each text in the batch one token; a text's first step reads its
///   prompt and gives its first token.
/// - Before each step, free places go to the requests that have arrived and wait: first come, first
///   served. If several arrive at the same step, they go in the order of `requests`, which may not
///   be sorted.
/// - A text with all its tokens leaves. Its place is free at the next step, whatever else is still
///   in the batch.
/// - No text loses its place to another. There may be steps at which the batch is empty.
///
/// ```text
/// places 2
/// a  arrives 0, 4 tokens      step  0 1 2 3 4
/// b  arrives 0, 2 tokens      a     x x x x       first_step 0, last_step 3
/// c  arrives 1, 1 token       b     x x           first_step 0, last_step 1
/// d  arrives 1, 2 tokens      c         x         first_step 2, last_step 2
///                             d           x x     first_step 3, last_step 4
/// ```
pub fn running_batch(requests: &[Request], places: usize) -> Vec<Served> {
    todo!()
}
