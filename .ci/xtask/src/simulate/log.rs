//! Prompt and output lengths, as real logs have them.

use anyhow::Result;
use clap::ValueEnum;
use rand_distr::LogNormal;

/// A log of requests whose lengths are imitated: the Azure LLM inference traces of November 2023,
/// an hour of a service for conversation (19 366 requests) and one for code completion (8 819).
/// Published with Patel et al., Splitwise, ISCA 2024:
/// <https://github.com/Azure/AzurePublicDataset/blob/master/AzureLLMInferenceDataset2023.md>.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Log {
    /// Prompts of 1 020 tokens, outputs of 129 (medians)
    Conversation,
    /// Prompts of 1 469 tokens, outputs of 13 (medians)
    Code,
}

/// A log-normal distribution of lengths, given by two of its percentiles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Length {
    pub median: f64,
    /// The 90th percentile.
    pub p90: f64,
}

/// The 90th percentile of the standard normal distribution.
const NORMAL_P90: f64 = 1.2816;

impl Log {
    /// The number of prompt tokens. Median and 90th percentile are those of the column
    /// `ContextTokens`. That the lengths are log-normal is an assumption: the conversations have a
    /// mean of 1 155, this distribution one of 1 370.
    pub fn prompt(self) -> Length {
        match self {
            Self::Conversation => Length { median: 1020.0, p90: 2735.0 },
            Self::Code => Length { median: 1469.0, p90: 5194.0 },
        }
    }

    /// The number of output tokens: as [`prompt`](Self::prompt), of the column `GeneratedTokens`.
    /// The conversations have a mean of 211, this distribution one of 198.
    pub fn output(self) -> Length {
        match self {
            Self::Conversation => Length { median: 129.0, p90: 424.0 },
            Self::Code => Length { median: 13.0, p90: 55.0 },
        }
    }
}

impl Length {
    /// The distribution of all lengths times `scale`.
    pub fn distribution(self, scale: f64) -> Result<LogNormal<f64>> {
        let deviation = (self.p90 / self.median).ln() / NORMAL_P90;
        LogNormal::new((self.median * scale).ln(), deviation).map_err(anyhow::Error::msg)
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;
    use rand_distr::Distribution;

    use super::super::percentiles::{percentile, sorted};
    use super::*;

    #[test]
    fn the_lengths_have_the_percentiles_of_the_log() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        for log in [Log::Conversation, Log::Code] {
            for length in [log.prompt(), log.output()] {
                let distribution = length.distribution(0.5).unwrap();
                let drawn = sorted(distribution.sample_iter(&mut random).take(40_000).collect());
                for (percent, expected) in [(50.0, length.median), (90.0, length.p90)] {
                    let ratio = percentile(&drawn, percent) / (0.5 * expected);
                    assert!((0.96..1.04).contains(&ratio), "{log:?} {percent}: {ratio}");
                }
            }
        }
    }
}
