//! A running batch: which requests are in it at which step.

/// A requested text.
#[derive(Debug, Clone, Copy)]
pub struct Request {
    /// The first step at which it can take part, from 0.
    pub arrives: usize,
    /// How many tokens it will have, at least 1.
    pub tokens: usize,
}

/// From which step to which a text was in the batch, both included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Served {
    pub first_step: usize,
    pub last_step: usize,
}

/// When each request is served by a running batch of at most `places` texts, 1 to 1000. Returns
/// one entry for each request, in the order of `requests`.
///
/// - A step is a pass. It gives each text in the batch one token; a text's first step reads its
///   prompt and gives its first token.
/// - Before each step, free places are given to those that have arrived and wait: first come, first
///   served. Those that arrive at the same step go in the order of `requests`, which need not be
///   sorted.
/// - A text with all its tokens leaves. Its place is free at the next step, whatever else is
///   still in the batch.
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
