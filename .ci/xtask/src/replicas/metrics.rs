//! What replicas say of themselves, in the text format of Prometheus.

use anyhow::Result;

/// The metrics of a replica, as text.
pub struct Metrics(String);

impl Metrics {
    pub async fn of(http: &reqwest::Client, url: &str) -> Result<Self> {
        let answer = http.get(format!("{url}/metrics")).send().await?.error_for_status()?;
        Ok(Self(answer.text().await?))
    }

    /// The sum of a metric over all of its labels.
    pub fn sum(&self, name: &str) -> f64 {
        let of_line = |line: &str| {
            let (key, value) = line.rsplit_once(' ')?;
            let own = key.split('{').next() == Some(name);
            if own { value.parse::<f64>().ok() } else { None }
        };
        // An empty sum of floats is -0.
        self.0.lines().filter_map(of_line).fold(0.0, |sum, value| sum + value)
    }

    /// The requests that it is writing, or has queued.
    pub fn open(&self) -> f64 {
        ["running", "paused", "waiting"]
            .iter()
            .map(|state| self.sum(&format!("slowburn_sequences_{state}")))
            .fold(0.0, |sum, value| sum + value)
    }

    /// The texts that have come to an end.
    pub fn finished(&self) -> f64 {
        self.sum("slowburn_sequences_finished_total")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_is_the_sum_over_its_labels() {
        let text = "# TYPE slowburn_sequences_finished counter\n\
            slowburn_sequences_finished_total{finish_reason=\"stop\"} 3\n\
            slowburn_sequences_finished_total{finish_reason=\"length\"} 4\n\
            slowburn_sequences_running 2\nslowburn_sequences_paused 0\n\
            slowburn_sequences_waiting 5\n# EOF\n";
        let metrics = Metrics(text.to_owned());
        assert_eq!((metrics.finished(), metrics.open()), (7.0, 7.0));
        assert_eq!(metrics.sum("slowburn_sequences"), 0.0);
    }
}
