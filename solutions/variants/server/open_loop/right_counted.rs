//! For each time, how many requests had it or less.

use std::time::Duration;

#[derive(Debug, Clone)]
pub struct Request {
    pub planned: Duration,
    pub sent: Duration,
    pub first_token: Option<Duration>,
}

pub fn ttft_percentile(requests: &[Request], per_mille: usize) -> Option<Duration> {
    let times: Vec<Duration> = requests
        .iter()
        .filter_map(|request| Some(request.first_token? - request.planned))
        .collect();
    let enough = |time: &Duration| {
        let as_good = times.iter().filter(|other| *other <= time).count();
        1000 * as_good >= per_mille * requests.len()
    };
    times.iter().copied().filter(enough).min()
}
