//! Who ends leaves after the next step, as if its place were still taken.

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
        let taken = running.len();
        running.retain(|&i| step - served[i].first_step < requests[i].tokens);
        let places = places - (taken - running.len());
        while running.len() < places
            && let Some(&next) = waiting.front()
            && requests[next].arrives <= step
        {
            waiting.pop_front();
            running.push(next);
            served[next].first_step = step;
        }
        for &i in &running {
            served[i].last_step = step.min(served[i].first_step + requests[i].tokens - 1);
        }
        step += 1;
    }
    served
}
