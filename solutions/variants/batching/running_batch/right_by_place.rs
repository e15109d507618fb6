//! Without steps: each request in turn gets the place that is free first.

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
    let mut free_from = vec![0; places];
    let mut by_arrival: Vec<(usize, &Request)> = requests.iter().enumerate().collect();
    by_arrival.sort_by_key(|(index, request)| (request.arrives, *index));
    let mut served = Vec::new();
    for (index, request) in by_arrival {
        let free = free_from.iter_mut().min().unwrap();
        let first_step = request.arrives.max(*free);
        *free = first_step + request.tokens;
        served.push((index, Served { first_step, last_step: *free - 1 }));
    }
    served.sort_by_key(|(index, _)| *index);
    served.into_iter().map(|(_, served)| served).collect()
}
