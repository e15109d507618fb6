//! per_mille is per cent.

use std::time::Duration;

#[derive(Debug, Clone)]
pub struct Request {
    pub planned: Duration,
    pub sent: Duration,
    pub first_token: Option<Duration>,
}

pub fn ttft_percentile(requests: &[Request], per_mille: usize) -> Option<Duration> {
    let felt = |request: &Request| Some(request.first_token? - request.planned);
    let mut times: Vec<Option<Duration>> = requests.iter().map(felt).collect();
    times.sort_by_key(|&time| (time.is_none(), time));
    let rank = (times.len() * per_mille).div_ceil(100);
    *times.get(rank.checked_sub(1)?.min(times.len() - 1))?
}
