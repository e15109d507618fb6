//! No more than three places are used.

use std::collections::VecDeque;

#[derive(Debug, Clone, Copy)]
pub struct Request {
    pub arrives: usize,
    pub tokens: usize,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Served {
    pub first_step: usize,
    pub last_step: usize,
}

pub fn running_batch(requests: &[Request], places: usize) -> Vec<Served> {
    let mut order: Vec<usize> = (0..requests.len()).collect();
    order.sort_by_key(|&i| requests[i].arrives);
    let mut waiting = VecDeque::from(order);
    let mut running: Vec<usize> = Vec::new();
    let mut served = vec![Served { first_step: 0, last_step: 0 }; requests.len()];
    let mut step = 0;
    while !waiting.is_empty() || !running.is_empty() {
        while running.len() < places.min(3)
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
