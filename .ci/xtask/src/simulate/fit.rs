//! The cost of a step, fitted to steps that were measured.

use anyhow::{Context, Result};
use serde::Serialize;

use super::cost::StepCost;
use super::percentiles::{percentile, sorted};
use super::work::Work;

/// A step that was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    pub work: Work,
    pub seconds: f64,
}

/// A fitted cost, and its relative error on the steps that it was fitted to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Fit {
    pub cost: StepCost,
    pub median_error: f64,
    /// The 95th percentile.
    pub p95_error: f64,
}

const LEN: usize = StepCost::LEN;

/// An equation: the coefficients times the factors should be the target.
struct Row {
    factors: [f64; LEN],
    target: f64,
    weight: f64,
}

impl Row {
    /// The row of a sample, divided by `unit`.
    fn of(sample: &Sample, unit: f64, weight: f64) -> Self {
        Self {
            factors: StepCost::factors(&sample.work).map(|factor| factor / unit),
            target: sample.seconds / unit,
            weight,
        }
    }

    fn error(&self, coefficients: &[f64; LEN]) -> f64 {
        let product = self.factors.iter().zip(coefficients).map(|(a, b)| a * b).sum::<f64>();
        product - self.target
    }
}

/// How often the weights are chosen anew.
const ROUNDS: usize = 60;
/// Relative errors below this count as this much, so that no weight is without bound.
const SMALL: f64 = 1e-4;

impl Fit {
    /// The median cost: the least sum of absolute relative errors, of those without a negative
    /// coefficient. Half of the steps take longer, and the few that something else held up do not
    /// matter more than others. With relative errors a short step counts as much as a long one: most
    /// steps of a batch are short.
    ///
    /// By least squares, again and again, where a step with a large error weighs little.
    pub fn of(samples: &[Sample]) -> Result<Self> {
        let rows = samples.iter().map(|sample| Row::of(sample, sample.seconds, 1.0)).collect();
        let mut coefficients = best(rows)?;
        for _ in 0..ROUNDS {
            let row = |sample: &Sample| {
                // Relative to what was found so far: relative to what was measured, a step that took
                // twice as long as the others would count half as much as one of them.
                let unit = StepCost::from_coefficients(coefficients).of(&sample.work).max(1e-12);
                let row = Row::of(sample, unit, 1.0);
                let weight = 1.0 / row.error(&coefficients).abs().max(SMALL);
                Row { weight, ..row }
            };
            coefficients = best(samples.iter().map(row).collect())?;
        }
        let cost = StepCost::from_coefficients(coefficients);
        let error = |sample: &Sample| (cost.of(&sample.work) / sample.seconds - 1.0).abs();
        let errors = sorted(samples.iter().map(error).collect());
        Ok(Self {
            cost,
            median_error: percentile(&errors, 50.0),
            p95_error: percentile(&errors, 95.0),
        })
    }
}

/// The coefficients with the least sum of squared errors, of those that are not negative.
fn best(rows: Vec<Row>) -> Result<[f64; LEN]> {
    // Where a coefficient would be negative, the best without negative ones has zeros: all choices
    // of zeros are tried.
    let choices = (1..1u32 << LEN).filter_map(|chosen| least_squares(&rows, chosen));
    let (_, coefficients) = choices
        .filter(|coefficients| coefficients.iter().all(|number| *number >= 0.0))
        .map(|coefficients| (squared_error(&rows, &coefficients), coefficients))
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .context("the measured steps are too few or too much alike to fit a cost to")?;
    Ok(coefficients)
}

/// The coefficients for which the errors are least, with zeros for all whose bit in `chosen` is not
/// set. None if they are not determined.
fn least_squares(rows: &[Row], chosen: u32) -> Option<[f64; LEN]> {
    let columns: Vec<usize> = (0..LEN).filter(|column| chosen >> column & 1 == 1).collect();
    // Columns of equal length: products of tokens and of positions differ by many powers of ten.
    let norm = |&column: &usize| {
        rows.iter().map(|row| row.weight * row.factors[column].powi(2)).sum::<f64>().sqrt()
    };
    let norms: Vec<f64> = columns.iter().map(norm).collect();
    if norms.contains(&0.0) {
        return None;
    }
    // The normal equations, with the right-hand side as the last column.
    let count = columns.len();
    let mut equations = vec![vec![0.0; count + 1]; count];
    for row in rows {
        let scaled = columns.iter().zip(&norms).map(|(&column, norm)| row.factors[column] / norm);
        let scaled: Vec<f64> = scaled.collect();
        for (equation, factor) in equations.iter_mut().zip(&scaled) {
            for (sum, other) in equation.iter_mut().zip(scaled.iter().chain([&row.target])) {
                *sum += row.weight * factor * other;
            }
        }
    }
    let solution = solve(equations)?;
    let mut coefficients = [0.0; LEN];
    for ((&column, norm), value) in columns.iter().zip(norms).zip(solution) {
        coefficients[column] = value / norm;
    }
    Some(coefficients)
}

/// Gaussian elimination with partial pivoting. None if the equations have no single solution.
fn solve(mut equations: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let count = equations.len();
    for column in 0..count {
        let size = |row: &usize| equations[*row][column].abs();
        let pivot = (column..count).max_by(|a, b| size(a).total_cmp(&size(b)))?;
        equations.swap(column, pivot);
        let size = equations[column][column].abs();
        if size.is_nan() || size < 1e-12 {
            return None;
        }
        let pivot = equations[column].clone();
        for (row, equation) in equations.iter_mut().enumerate() {
            if row != column {
                let factor = equation[column] / pivot[column];
                for (number, above) in equation.iter_mut().zip(&pivot) {
                    *number -= factor * above;
                }
            }
        }
    }
    Some(
        equations
            .iter()
            .enumerate()
            .map(|(row, equation)| equation[count] / equation[row])
            .collect(),
    )
}

fn squared_error(rows: &[Row], coefficients: &[f64; LEN]) -> f64 {
    rows.iter().map(|row| row.weight * row.error(coefficients).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::super::cost::tests::cost;
    use super::*;

    /// Steps of many sizes, whose times are those of `cost`, up to an error.
    fn samples(cost: &StepCost, error: impl Fn(usize) -> f64) -> Vec<Sample> {
        let mut samples = Vec::new();
        for decodes in [0, 1, 2, 8, 24] {
            for before in [16, 200, 400] {
                for new in [0, 1, 60, 250] {
                    let mut work = Work::default();
                    (0..decodes).for_each(|_| work.add(before, 1, 0));
                    if new > 0 {
                        work.add(0, new, new);
                    }
                    let seconds = cost.of(&work) * (1.0 + error(samples.len()));
                    samples.push(Sample { work, seconds });
                }
            }
        }
        samples
    }

    #[test]
    fn known_coefficients_are_recovered() {
        let fit = Fit::of(&samples(&cost(), |_| 0.0)).unwrap();
        let pairs = fit.cost.coefficients().into_iter().zip(cost().coefficients());
        for (found, expected) in pairs {
            assert!((found / expected - 1.0).abs() < 1e-6, "{found} {expected}");
        }
        assert!(fit.p95_error < 1e-9);
    }

    #[test]
    fn noise_moves_them_a_little_and_is_reported() {
        // From -0.05 to 0.05, in an order that has nothing to do with that of the steps.
        let noise = |n: usize| 0.01 * ((7 * n % 11) as f64 - 5.0);
        let fit = Fit::of(&samples(&cost(), noise)).unwrap();
        assert!((fit.cost.fixed / cost().fixed - 1.0).abs() < 0.05);
        assert!((fit.cost.prefill_token / cost().prefill_token - 1.0).abs() < 0.05);
        assert!((0.02..0.04).contains(&fit.median_error), "{}", fit.median_error);
    }

    #[test]
    fn steps_that_something_held_up_do_not_count_more_than_others() {
        let fit = Fit::of(&samples(&cost(), |n| if n % 8 == 0 { 5.0 } else { 0.0 })).unwrap();
        for (found, expected) in fit.cost.coefficients().into_iter().zip(cost().coefficients()) {
            assert!((found / expected - 1.0).abs() < 0.01, "{found} {expected}");
        }
    }

    #[test]
    fn half_of_equal_steps_take_longer() {
        let work = Work::prompt(10);
        let sample = |seconds| Sample { work, seconds };
        let fit = Fit::of(&[1.0, 1.1, 2.0, 8.0, 9.0].map(sample)).unwrap();
        assert!((fit.cost.of(&work) - 2.0).abs() < 1e-3, "{}", fit.cost.of(&work));
    }

    #[test]
    fn no_coefficient_is_negative() {
        // Attention that is faster the more it attends to.
        let cost = StepCost { decode_position: -1e-9, ..cost() };
        let fit = Fit::of(&samples(&cost, |_| 0.0)).unwrap();
        assert_eq!(fit.cost.decode_position, 0.0);
        assert!(fit.cost.coefficients().iter().all(|number| *number >= 0.0));
        assert!(fit.p95_error < 0.02, "{}", fit.p95_error);
    }

    #[test]
    fn without_steps_there_is_no_fit() {
        assert!(Fit::of(&[]).is_err());
    }
}
