//! The longest of all times stands for none.

use std::time::Duration;

#[derive(Debug, Clone)]
pub struct Request {
    pub planned: Duration,
    pub sent: Duration,
    pub first_token: Option<Duration>,
}

pub fn ttft_percentile(requests: &[Request], per_mille: usize) -> Option<Duration> {
    let felt = |request: &Request| match request.first_token {
        Some(first_token) => first_token - request.planned,
        None => Duration::MAX,
    };
    let mut times: Vec<Duration> = requests.iter().map(felt).collect();
    times.sort();
    let rank = (times.len() * per_mille).div_ceil(1000);
    let time = times.into_iter().nth(rank.max(1) - 1)?;
    (time < Duration::MAX).then_some(time)
}
