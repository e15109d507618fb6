//! One case: a model, a prompt length, and its contenders, measured in turns.

use std::thread;
use std::time::Duration;

use anyhow::{Result, bail};

use super::contender::{Contender, Engine, Program};
use super::dtype::Dtype;
use super::measured::{Measured, Phase, Workload, median};

/// The threads of some libraries spin for a while after their last step; only then is the machine
/// idle.
const REST: Duration = Duration::from_millis(400);

/// The measurements of one case.
pub struct Case {
    /// The name of the model.
    pub model: String,
    pub workload: Workload,
    pub rows: Vec<Row>,
    /// The contenders that failed, with reasons.
    pub left_out: Vec<String>,
}

/// The rounds of one contender.
pub struct Row {
    pub engine: Engine,
    pub name: String,
    pub dtype: Dtype,
    pub sequences: usize,
    pub rounds: Vec<Measured>,
}

impl Case {
    /// Measures `rounds` rounds after an uncounted warm-up round. Every contender generates once
    /// per round. A contender that fails is left out, unless it is Slow Burn.
    pub fn measure(
        model: &str,
        workload: Workload,
        contenders: &mut Vec<Contender<'_>>,
        rounds: usize,
    ) -> Result<Self> {
        let mut left_out = Vec::new();
        let mut first = Vec::new();
        for mut contender in std::mem::take(contenders) {
            match contender.generate(&workload) {
                Ok(_) => first.push(contender),
                Err(error) if matches!(contender.program, Program::Elsewhere(_)) => {
                    left_out.push(format!(
                        "{} in {}: {error}",
                        contender.name,
                        contender.dtype.name()
                    ));
                }
                Err(error) => return Err(error),
            }
        }
        *contenders = first;
        let mut rows: Vec<Row> = contenders.iter().map(Row::of).collect();
        for round in 0..rounds {
            // The order rotates, in case a contender heats up the machine.
            for turn in 0..contenders.len() {
                let place = (round + turn) % contenders.len();
                thread::sleep(REST);
                rows[place].rounds.push(contenders[place].generate(&workload)?);
            }
        }
        if rows.is_empty() {
            bail!("nobody took part");
        }
        Ok(Self { model: model.to_owned(), workload, rows, left_out })
    }

    pub fn row(&self, engine: Engine, dtype: Dtype) -> Option<&Row> {
        self.rows.iter().find(|row| row.engine == engine && row.dtype == dtype)
    }

    /// Throughput in tokens per second over all sequences: the median of the rounds.
    pub fn rate(&self, row: &Row, phase: Phase) -> f64 {
        median(self.rates(row, phase))
    }

    /// The speedup of `row` over `other`: the median of the rounds' ratios. A disturbance of one
    /// round affects both.
    pub fn ratio(&self, row: &Row, other: &Row, phase: Phase) -> f64 {
        let pairs = self.rates(row, phase).zip(self.rates(other, phase));
        median(pairs.map(|(rate, other)| rate / other))
    }

    fn rates(&self, row: &Row, phase: Phase) -> impl Iterator<Item = f64> {
        let rate = move |round: &Measured| round.rate(phase, &self.workload);
        row.rounds.iter().map(move |round| rate(round) * row.sequences as f64)
    }
}

impl Row {
    fn of(contender: &Contender<'_>) -> Self {
        Self {
            engine: contender.engine,
            name: contender.name.clone(),
            dtype: contender.dtype,
            sequences: contender.sequences,
            rounds: Vec::new(),
        }
    }

    /// The number of leading tokens that both generated alike.
    pub fn agrees_with(&self, other: &Self) -> usize {
        let (Some(own), Some(other)) = (self.rounds.first(), other.rounds.first()) else {
            return 0;
        };
        own.ids.iter().zip(&other.ids).take_while(|(id, other)| id == other).count()
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Engine, type, batch size, and the seconds of prefill and decode in each round.
    type RowOf<'a> = (Engine, Dtype, usize, &'a [(f64, f64)]);

    /// A case of 100 prompt tokens and 11 new ones.
    pub fn case(model: &str, rows: &[RowOf<'_>]) -> Case {
        let workload = Workload { prompt: vec![1; 100], new_tokens: 11 };
        let rows = rows.iter().map(|&(engine, dtype, sequences, rounds)| {
            let rounds = rounds.iter().map(|&(prefill, decode)| Measured {
                prefill,
                decode,
                ids: vec![sequences as u32; 11],
            });
            Row {
                engine,
                name: "name".to_owned(),
                dtype,
                sequences,
                rounds: rounds.collect(),
            }
        });
        Case {
            model: model.to_owned(),
            workload,
            rows: rows.collect(),
            left_out: Vec::new(),
        }
    }

    #[test]
    fn a_ratio_is_the_median_of_the_rounds_ratios() {
        let ours = [(1.0, 1.0), (4.0, 2.0), (1.0, 1.0)];
        let batch = [(2.0, 4.0), (2.0, 4.0), (2.0, 1.0)];
        let case = case(
            "a",
            &[
                (Engine::Alone, Dtype::F32, 1, &ours),
                (Engine::Batch, Dtype::F32, 8, &batch),
            ],
        );
        let [alone, batch] = &case.rows[..] else {
            panic!("there are two rows")
        };
        assert_eq!(case.rate(alone, Phase::Prefill), 100.0);
        assert_eq!(case.rate(batch, Phase::Decode), 20.0); // 8 times 2.5
        // 2, 4 and 8.
        assert_eq!(case.ratio(batch, alone, Phase::Decode), 4.0);
        assert_eq!(case.row(Engine::Batch, Dtype::F16).map(|row| row.sequences), None);
    }

    #[test]
    fn tokens_agree_up_to_the_first_that_differs() {
        let row = (Engine::Alone, Dtype::F32, 1, &[(1.0, 1.0)][..]);
        let mut case = case("a", &[row; 2]);
        assert_eq!(case.rows[0].agrees_with(&case.rows[1]), 11);
        case.rows[1].rounds[0].ids[3] = 9;
        assert_eq!(case.rows[0].agrees_with(&case.rows[1]), 3);
    }
}
