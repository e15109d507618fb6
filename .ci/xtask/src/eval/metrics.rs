//! The metrics, and the statistics that they are computed with.

use std::collections::HashSet;
use std::f64::consts::LN_2;

use serde::Serialize;

use crate::corpus::Check;

/// All metrics.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Metrics {
    pub settings: Settings,
    /// None if no held-out story was scored.
    pub held_out: Option<HeldOut>,
    /// None if no story was sampled.
    pub sampled: Option<Sampled>,
    pub four_gram_overlap: Overlap,
}

/// The settings of the evaluation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Settings {
    pub model: String,
    pub corpus_seed: u64,
    pub trained_stories: usize,
    /// The index of the first held-out story in the corpus.
    pub first_held_out: usize,
    pub temperature: f32,
    pub top_p: f32,
    pub first_seed: u64,
    pub prompt: String,
}

/// The likelihood of held-out stories under the model. The end token is part of a story, the begin
/// token is not.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HeldOut {
    pub stories: usize,
    /// Stories that exceed the context length; all other metrics exclude them.
    pub too_long: usize,
    pub tokens: usize,
    pub mean_words: f64,
    /// The mean of -log p.
    pub nats_per_token: f64,
    pub bits_per_token: f64,
    pub perplexity: f64,
    pub bits_per_story: f64,
    /// The information in the generator's choices: an upper bound of the entropy, because several
    /// sequences of choices may produce the same text.
    pub generator_bits_per_story: f64,
    /// The model's bits divided by the generator's.
    pub bits_ratio: f64,
}

/// Properties of the sampled stories. Shares are from 0 to 1.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sampled {
    pub stories: usize,
    /// The share that ends with the end token, rather than at the context length.
    pub ended: f64,
    /// The shares that pass each rule of `corpus::check`.
    pub introduced: f64,
    pub kinds_kept: f64,
    pub no_repeated_sentence: f64,
    /// The share that ends with the end token and passes all three rules.
    pub all_four: f64,
    /// The number of distinct texts.
    pub distinct: usize,
    /// The number of exact copies of training stories.
    pub trained_on: usize,
    pub mean_words: f64,
    /// The number of sampled tokens, end tokens included.
    pub tokens: usize,
    /// The perplexity of the sampled text under the model's own distribution, at temperature 1.
    pub perplexity: f64,
    /// The entropy of the model's own next-token distributions, in bits.
    pub entropy: Spread,
    /// The entropy after temperature and top-p, in bits.
    pub sampled_entropy: Spread,
    /// The share of positions at which the entropy of the model's own distribution is below
    /// [`NEARLY_CERTAIN`].
    pub nearly_certain: f64,
    /// The same after temperature and top-p.
    pub sampled_nearly_certain: f64,
    /// The mean number of tokens that could be sampled.
    pub mean_survivors: f64,
    /// Every story without an end or that fails a rule.
    pub failures: Vec<Failure>,
}

/// The entropy in bits below which the next token counts as certain.
pub const NEARLY_CERTAIN: f64 = 0.1;

/// A story with problems.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Failure {
    pub seed: u64,
    pub problems: Vec<String>,
}

/// The mean share of a story's word 4-grams that the next story contains too. None with fewer than
/// two stories.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Overlap {
    pub sampled: Option<f64>,
    pub corpus: Option<f64>,
}

/// The mean and the 10th, 25th, 50th, 75th and 90th percentiles.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Spread {
    pub mean: f64,
    pub p10: f64,
    pub p25: f64,
    pub p50: f64,
    pub p75: f64,
    pub p90: f64,
}

/// The score of a corpus story.
#[derive(Debug, Clone)]
pub struct Scored {
    /// -log p of the whole story; none if it exceeds the context length.
    pub nats: Option<f64>,
    pub tokens: usize,
    pub words: usize,
    pub generator_bits: f64,
}

/// A sampled story.
#[derive(Debug, Clone)]
pub struct Sample {
    pub seed: u64,
    /// The prompt and the generated text.
    pub text: String,
    /// The generated text.
    pub written: String,
    pub ended: bool,
    pub trained_on: bool,
    pub check: Check,
    pub steps: Vec<Step>,
}

/// One token of a sampled story and the distribution at its step.
#[derive(Debug, Clone)]
pub struct Step {
    /// -log p of the token under the model's own distribution.
    pub nats: f64,
    /// The entropy of that distribution, in bits.
    pub entropy: f64,
    /// Its entropy after temperature and top-p, in bits.
    pub sampled_entropy: f64,
    /// The number of tokens left after top-p.
    pub survivors: usize,
}

impl HeldOut {
    pub fn of(all: &[Scored]) -> Option<Self> {
        let fit: Vec<(&Scored, f64)> = all.iter().filter_map(|s| Some((s, s.nats?))).collect();
        if fit.is_empty() {
            return None;
        }
        let tokens = fit.iter().map(|(s, _)| s.tokens).sum::<usize>();
        let nats = fit.iter().map(|(_, nats)| nats).sum::<f64>();
        let bits_per_story = nats / LN_2 / fit.len() as f64;
        let generator_bits_per_story = mean(fit.iter().map(|(s, _)| s.generator_bits));
        Some(Self {
            stories: fit.len(),
            too_long: all.len() - fit.len(),
            tokens,
            mean_words: mean(fit.iter().map(|(s, _)| s.words as f64)),
            nats_per_token: nats / tokens as f64,
            bits_per_token: nats / LN_2 / tokens as f64,
            perplexity: (nats / tokens as f64).exp(),
            bits_per_story,
            generator_bits_per_story,
            bits_ratio: bits_per_story / generator_bits_per_story,
        })
    }
}

impl Sampled {
    pub fn of(samples: &[Sample]) -> Option<Self> {
        if samples.is_empty() {
            return None;
        }
        let share = |passes: fn(&Sample) -> bool| share(samples.iter().map(passes));
        let steps: Vec<&Step> = samples.iter().flat_map(|sample| &sample.steps).collect();
        let entropy: Vec<f64> = steps.iter().map(|step| step.entropy).collect();
        let sampled_entropy: Vec<f64> = steps.iter().map(|step| step.sampled_entropy).collect();
        let texts: HashSet<&str> = samples.iter().map(|sample| sample.text.as_str()).collect();
        Some(Self {
            stories: samples.len(),
            ended: share(|sample| sample.ended),
            introduced: share(|sample| sample.check.introduced),
            kinds_kept: share(|sample| sample.check.kinds_kept),
            no_repeated_sentence: share(|sample| sample.check.no_repeated_sentence),
            all_four: share(Sample::passes),
            distinct: texts.len(),
            trained_on: samples.iter().filter(|sample| sample.trained_on).count(),
            mean_words: mean(samples.iter().map(|sample| word_count(&sample.text) as f64)),
            tokens: steps.len(),
            perplexity: mean(steps.iter().map(|step| step.nats)).exp(),
            nearly_certain: self::share(entropy.iter().map(|&bits| bits < NEARLY_CERTAIN)),
            sampled_nearly_certain: self::share(
                sampled_entropy.iter().map(|&bits| bits < NEARLY_CERTAIN),
            ),
            entropy: Spread::of(entropy),
            sampled_entropy: Spread::of(sampled_entropy),
            mean_survivors: mean(steps.iter().map(|step| step.survivors as f64)),
            failures: samples.iter().filter_map(Sample::failure).collect(),
        })
    }
}

impl Sample {
    /// Whether the story ends with the end token and passes every rule.
    fn passes(&self) -> bool {
        let Check { introduced, kinds_kept, no_repeated_sentence, .. } = self.check;
        self.ended && introduced && kinds_kept && no_repeated_sentence
    }

    fn failure(&self) -> Option<Failure> {
        if self.passes() {
            return None;
        }
        let mut problems = self.check.problems.clone();
        if !self.ended {
            problems.insert(0, "does not end".to_owned());
        }
        Some(Failure { seed: self.seed, problems })
    }
}

impl Spread {
    fn of(mut values: Vec<f64>) -> Self {
        values.sort_unstable_by(f64::total_cmp);
        let quantile = |q| quantile(&values, q);
        Self {
            mean: mean(values.iter().copied()),
            p10: quantile(0.10),
            p25: quantile(0.25),
            p50: quantile(0.50),
            p75: quantile(0.75),
            p90: quantile(0.90),
        }
    }
}

/// `log(softmax(logits))`, in f64.
pub fn log_softmax(logits: &[f32]) -> Vec<f64> {
    let max = logits.iter().copied().map(f64::from).fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = logits.iter().map(|&logit| (f64::from(logit) - max).exp()).sum();
    let log_sum = max + sum.ln();
    logits.iter().map(|&logit| f64::from(logit) - log_sum).collect()
}

/// The entropy in bits.
pub fn entropy(probabilities: impl Iterator<Item = f64>) -> f64 {
    let surprise = |p: f64| p * -p.log2();
    probabilities.filter(|&p| p > 0.0).map(surprise).sum()
}

/// The quantile `q` of sorted values, by linear interpolation. NaN if there are none.
pub fn quantile(sorted: &[f64], q: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return f64::NAN;
    };
    let place = q * last as f64;
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    low + (high - low) * place.fract()
}

/// The share of the distinct word 4-grams of `a` that `b` contains too. None if `a` has none.
pub fn overlap(a: &str, b: &str) -> Option<f64> {
    let (a, b) = (words(a), words(b));
    let (a, b) = (four_grams(&a), four_grams(&b));
    (!a.is_empty()).then(|| a.intersection(&b).count() as f64 / a.len() as f64)
}

/// The mean [`overlap`] of each text with the next. None with fewer than two texts.
pub fn mean_overlap<'a>(texts: impl Iterator<Item = &'a str>) -> Option<f64> {
    let texts: Vec<&str> = texts.collect();
    let pairs = texts.windows(2).filter_map(|pair| overlap(pair[0], pair[1]));
    Some(mean(pairs)).filter(|mean| !mean.is_nan())
}

/// The number of words, split at white space.
pub fn word_count(text: &str) -> usize {
    text.split_whitespace().count()
}

/// The words in lower case, without punctuation.
fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric() && c != '\'')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

fn four_grams(words: &[String]) -> HashSet<&[String]> {
    words.windows(4).collect()
}

/// The mean; NaN if there are no values.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    sum / f64::from(count)
}

/// The share of the values that are true.
fn share(values: impl Iterator<Item = bool>) -> f64 {
    mean(values.map(|value| f64::from(u8::from(value))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::check;

    #[test]
    fn entropy_of_known_distributions() {
        assert_eq!(entropy([1.0, 0.0].into_iter()), 0.0);
        assert_eq!(entropy([0.5, 0.5].into_iter()), 1.0);
        assert_eq!(entropy([0.125; 8].into_iter()), 3.0);
        assert_eq!(entropy([0.5, 0.25, 0.125, 0.125].into_iter()), 1.75);
    }

    #[test]
    fn log_softmax_sums_to_one_and_takes_any_logits() {
        let sum = |logits: &[f32]| log_softmax(logits).iter().map(|l| l.exp()).sum::<f64>();
        assert!((sum(&[2.0, 1.5, -7.0]) - 1.0).abs() < 1e-12);
        assert!((sum(&[3e38, 0.0, f32::NEG_INFINITY]) - 1.0).abs() < 1e-12);
        let [a, b] = log_softmax(&[1.0, 0.0])[..] else {
            panic!()
        };
        assert!((a - b - 1.0).abs() < 1e-12);
    }

    #[test]
    fn quantiles_lie_between_the_values() {
        let values = [1.0, 2.0, 3.0, 5.0];
        assert_eq!(quantile(&values, 0.0), 1.0);
        assert_eq!(quantile(&values, 0.5), 2.5);
        assert_eq!(quantile(&values, 1.0), 5.0);
        assert_eq!(quantile(&[4.0], 0.9), 4.0);
        assert!(quantile(&[], 0.5).is_nan());
        assert_eq!(Spread::of(vec![3.0, 1.0, 2.0]).p50, 2.0);
    }

    #[test]
    fn overlap_is_a_share_of_the_first_text() {
        let a = "One day a fox sat down.";
        assert_eq!(overlap(a, a), Some(1.0));
        assert_eq!(overlap(a, "one day, a FOX"), Some(1.0 / 3.0));
        assert_eq!(overlap("one day a fox", a), Some(1.0));
        assert_eq!(overlap(a, "An owl sat down by the pond."), Some(0.0));
        assert_eq!(overlap("a fox sat", a), None);
        assert_eq!(mean_overlap([a, a, "one day a fox"].into_iter()), Some(2.0 / 3.0));
        assert_eq!(mean_overlap([a].into_iter()), None);
    }

    #[test]
    fn bits_of_held_out_stories_leave_out_what_is_too_long() {
        let story = |nats, tokens| Scored { nats, tokens, words: 10, generator_bits: 4.0 };
        let all = [
            story(Some(2.0 * LN_2), 2),
            story(Some(6.0 * LN_2), 6),
            story(None, 999),
        ];
        let found = HeldOut::of(&all).unwrap();
        assert_eq!((found.stories, found.too_long, found.tokens), (2, 1, 8));
        assert!((found.bits_per_token - 1.0).abs() < 1e-12);
        assert!((found.perplexity - 2.0).abs() < 1e-12);
        assert!((found.bits_per_story - 4.0).abs() < 1e-12);
        assert!((found.bits_ratio - 1.0).abs() < 1e-12);
        assert_eq!(HeldOut::of(&all[2..]), None);
    }

    #[test]
    fn shares_of_sampled_stories() {
        let sample = |seed, text: &str, ended| Sample {
            seed,
            text: text.to_owned(),
            written: text.to_owned(),
            ended,
            trained_on: false,
            check: check(text),
            steps: vec![Step { nats: LN_2, entropy: 0.0, sampled_entropy: 1.0, survivors: 2 }],
        };
        let good = "Pip the fox sat down.";
        let samples = [
            sample(1, good, true),
            sample(2, good, false),
            sample(3, "Pip sat down.", true),
            sample(4, "Pip the fox was very glad. The rabbit ate.", true),
        ];
        let found = Sampled::of(&samples).unwrap();
        assert_eq!((found.ended, found.introduced, found.kinds_kept), (0.75, 0.75, 0.75));
        assert_eq!((found.all_four, found.distinct, found.tokens), (0.25, 3, 4));
        assert!((found.perplexity - 2.0).abs() < 1e-12);
        assert_eq!((found.nearly_certain, found.sampled_nearly_certain), (1.0, 0.0));
        assert_eq!(found.mean_survivors, 2.0);
        let seeds: Vec<u64> = found.failures.iter().map(|failure| failure.seed).collect();
        assert_eq!(seeds, [2, 3, 4]);
        assert_eq!(found.failures[0].problems, ["does not end"]);
    }
}
