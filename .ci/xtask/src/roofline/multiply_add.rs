//! Measures the multiply-add throughput of all threads, on numbers in registers.

use std::hint::black_box;
use std::time::Duration;

use slowburn::kernels::Simd;

use super::team;
use super::vectors::{self, Loop};

/// Numbers per chain: one register of AVX-512, two of AVX2.
const LANES: usize = 16;
const TRIES: usize = 5;
/// The least duration of a try.
const LONG_ENOUGH: Duration = Duration::from_millis(100);

/// Floating-point operations per second on `threads` threads; a multiply-add is two.
pub fn rate(simd: Simd, threads: usize) -> f64 {
    let mut steps = 1 << 16;
    let mut best: f64 = 0.0;
    let mut tries = 0;
    while tries < TRIES {
        let time = team::time(threads, &|_| {
            black_box(vectors::run(simd, Chains { steps }));
        });
        if time < LONG_ENOUGH {
            steps *= 2;
            continue;
        }
        tries += 1;
        let operations = 2 * LANES * vectors::run(simd, CountChains) * steps * threads;
        best = best.max(operations as f64 / time.as_secs_f64());
    }
    best
}

/// `steps` dependent multiply-adds in each chain; the chains are independent.
struct Chains {
    steps: usize,
}

impl Loop for Chains {
    type Output = f32;

    #[inline(always)]
    fn run<const CHAINS: usize, const FUSED: bool>(self) -> f32 {
        let (factors, summands) = (black_box([0.999; LANES]), black_box([0.001; LANES]));
        let mut chains = [[0.0; LANES]; CHAINS];
        for _ in 0..self.steps {
            for chain in &mut chains {
                for ((lane, factor), summand) in chain.iter_mut().zip(&factors).zip(&summands) {
                    *lane = if FUSED {
                        f32::mul_add(*lane, *factor, *summand)
                    } else {
                        *lane * factor + summand
                    };
                }
            }
        }
        chains.iter().flatten().sum()
    }
}

struct CountChains;

impl Loop for CountChains {
    type Output = usize;

    #[inline(always)]
    fn run<const CHAINS: usize, const FUSED: bool>(self) -> usize {
        CHAINS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chain_nears_what_it_must() {
        // x = 0.999 x + 0.001 converges to 1.
        for simd in Simd::available() {
            let sum = vectors::run(simd, Chains { steps: 20_000 });
            let lanes = (LANES * vectors::run(simd, CountChains)) as f32;
            assert!((sum - lanes).abs() < 0.01 * lanes, "{simd}: {sum}");
        }
    }
}
