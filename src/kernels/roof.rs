//! The roofline of this machine: memory bandwidth and arithmetic rate.

use std::hint::black_box;
use std::time::{Duration, Instant};

use super::cpu::Cpu;
use super::microkernel::LANES;
use super::simd::{Isa, Kernel, fma};
use super::trace::Cost;

/// The limits of the current [`Cpu`], all its threads together.
#[derive(Debug, Clone, Copy)]
pub struct Roof {
    /// Read bandwidth.
    pub bytes_per_second: f64,
    /// The multiply-add rate; each counts as two operations.
    pub flops_per_second: f64,
}

/// The least time that each loop runs.
const PERIOD: Duration = Duration::from_millis(200);

impl Roof {
    /// Measures both with short loops, and takes the fastest round.
    ///
    /// The read loop covers a buffer of `bytes`. A buffer as large as the weights of a model is
    /// where the weights would be: in memory, or in a cache that holds them all.
    pub fn measure(bytes: usize) -> Self {
        Self {
            bytes_per_second: read_rate(bytes),
            flops_per_second: multiply_add_rate(),
        }
    }

    /// The ridge point: the arithmetic intensity, in operations per byte, above which a kernel is
    /// compute-bound.
    pub fn ridge(&self) -> f64 {
        self.flops_per_second / self.bytes_per_second
    }

    /// A lower bound on the time of a kernel of this cost, in seconds. Memory accesses and
    /// arithmetic overlap, so the slower of the two decides.
    pub fn seconds(&self, cost: Cost) -> f64 {
        let memory = cost.bytes as f64 / self.bytes_per_second;
        let arithmetic = cost.flops as f64 / self.flops_per_second;
        memory.max(arithmetic)
    }
}

/// Bytes per second, of the fastest round. One stream reads fastest from a cache, several from
/// memory.
fn read_rate(bytes: usize) -> f64 {
    /// Several tasks per thread, so that the other threads take over those of an interrupted one.
    const TASKS_OF_A_THREAD: usize = 4;
    let cpu = Cpu::current();
    let tasks = cpu.threads() * TASKS_OF_A_THREAD;
    let share = (bytes / size_of::<[f32; LANES]>() / tasks).next_multiple_of(4).max(4);
    let memory = vec![[1.0_f32; LANES]; tasks * share];
    let rate = |read: fn(&Cpu, &[[f32; LANES]])| {
        fastest(|| {
            cpu.for_each(tasks, |task| read(&cpu, &memory[task * share..(task + 1) * share]));
            size_of_val(memory.as_slice()) as f64
        })
    };
    let one = rate(|cpu, part| cpu.simd().dispatch(Read::<1>(black_box(part))));
    one.max(rate(|cpu, part| cpu.simd().dispatch(Read::<4>(black_box(part)))))
}

/// Sums numbers that are read from `STREAMS` places concurrently.
struct Read<'a, const STREAMS: usize>(&'a [[f32; LANES]]);

impl<const STREAMS: usize> Kernel for Read<'_, STREAMS> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self) {
        let length = self.0.len() / STREAMS;
        let streams: [_; STREAMS] = std::array::from_fn(|i| &self.0[i * length..][..length]);
        let mut sums = [[0.0; LANES]; STREAMS];
        for k in 0..length {
            for (sums, stream) in sums.iter_mut().zip(&streams) {
                for (sum, number) in sums.iter_mut().zip(&stream[k]) {
                    *sum += number;
                }
            }
        }
        // All sums, not their total: for a total, the compiler vectorises across streams, and reads
        // at a third of the speed.
        black_box(sums);
    }
}

/// Operations per second, of the fastest round.
fn multiply_add_rate() -> f64 {
    let cpu = Cpu::current();
    let tasks = 4 * cpu.threads();
    fastest(|| {
        let mut operations = vec![0; tasks];
        cpu.for_each_of(&mut operations, |done| *done = cpu.simd().dispatch(MultiplyAdd));
        operations.into_iter().sum::<usize>() as f64
    })
}

/// Multiplies and adds numbers in registers. Returns the number of operations.
struct MultiplyAdd;

impl Kernel for MultiplyAdd {
    type Output = usize;

    #[inline(always)]
    fn run<I: Isa>(self) -> usize {
        // Enough independent sums to hide the latency of the FMA, and no more than fit into the
        // registers: 16 of up to 8 lanes, or 32 of 16 lanes.
        if I::SUMS < 12 {
            multiply_add::<3>()
        } else {
            multiply_add::<6>()
        }
    }
}

#[inline(always)]
fn multiply_add<const N: usize>() -> usize {
    const ROUNDS: usize = 20_000;
    let [weight, x] = black_box([0.999_f32, 0.5]);
    let mut sums = [[x; LANES]; N];
    for _ in 0..ROUNDS {
        for sum in sums.as_flattened_mut() {
            *sum = fma(*sum, weight, x);
        }
    }
    black_box(sums);
    2 * ROUNDS * N * LANES
}

/// Repeats a round, which returns the work it did, and returns the best rate.
fn fastest(mut round: impl FnMut() -> f64) -> f64 {
    let start = Instant::now();
    let mut best: f64 = 0.0;
    loop {
        let begin = Instant::now();
        let done = round();
        best = best.max(done / begin.elapsed().as_secs_f64());
        if start.elapsed() > PERIOD {
            return best;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slower_side_decides() {
        let roof = Roof { bytes_per_second: 10.0, flops_per_second: 100.0 };
        assert_eq!(roof.ridge(), 10.0);
        assert_eq!(roof.seconds(Cost { bytes: 20, flops: 100 }), 2.0);
        assert_eq!(roof.seconds(Cost { bytes: 20, flops: 500 }), 5.0);
    }

    #[test]
    fn both_sides_are_measured() {
        let Roof { bytes_per_second, flops_per_second } = Roof::measure(1 << 20);
        // Any machine of this century, in any build.
        assert!(bytes_per_second > 1e7 && bytes_per_second.is_finite());
        assert!(flops_per_second > 1e6 && flops_per_second.is_finite());
    }
}
