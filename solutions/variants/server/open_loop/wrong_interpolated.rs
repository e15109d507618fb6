//! Between two ranks, a number that nobody measured.

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
    let last = times.len().checked_sub(1)?;
    let place = (last * per_mille) as f64 / 1000.0;
    let (low, high) = (times[place as usize]?, times[(place.ceil() as usize).min(last)]?);
    Some(low + (high - low).mul_f64(place.fract()))
}
