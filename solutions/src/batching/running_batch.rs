//! A running batch: which requests are in it at which step.
//!
//! Why: joining, the pass and leaving always follow each other in this order, so one loop over the
//! steps is enough. The waiting requests stand in the order of arrival, and you only ask the front
//! of the queue: all others came later. The sort is stable, which keeps the order of requests that
//! arrive together.
//!
//! What it costs: a look at each running text at each step. In a real batch the pass takes its
//! place. An empty batch still counts steps; a real one would sleep until a request comes.
//!
//! A common wrong turn: letting new texts in only when the batch is empty. That is a batch that
//! waits for its longest text, as in the upper half of the chapter's figure, with places that
//! compute nothing.

use std::collections::VecDeque;

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

/// When each request is served by a running batch of at most `places` texts: first come, first
/// served.
pub fn running_batch(requests: &[Request], places: usize) -> Vec<Served> {
    let mut order: Vec<usize> = (0..requests.len()).collect();
    order.sort_by_key(|&i| requests[i].arrives);
    let mut waiting = VecDeque::from(order);
    let mut running: Vec<usize> = Vec::new();
    let mut served = vec![Served { first_step: 0, last_step: 0 }; requests.len()];
    let mut step = 0;
    while !waiting.is_empty() || !running.is_empty() {
        while running.len() < places
            && let Some(&next) = waiting.front()
            && requests[next].arrives <= step
        {
            waiting.pop_front();
            running.push(next);
            served[next].first_step = step;
        }
        running.retain(|&i| {
            let given = step - served[i].first_step + 1;
            served[i].last_step = step;
            given < requests[i].tokens
        });
        step += 1;
    }
    served
}
