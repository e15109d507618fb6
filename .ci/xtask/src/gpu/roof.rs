//! What the card can do: how fast it copies, and how fast it multiplies.

use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use burn::tensor::{DType, Device, Distribution, Tensor};

use super::budget::Budget;

/// The best of several tries: nothing that computes on this card is faster by much.
#[derive(Debug, Clone, Copy)]
pub struct Roof {
    /// Bytes that are read and written in a second, where a kernel copies memory.
    pub bandwidth: f64,
    /// Operations of a product of square matrices in f32 in a second; a multiply-add is two.
    pub f32_rate: f64,
    /// The same in f16, where the card has it.
    pub f16_rate: Option<f64>,
    /// The same in bf16.
    pub bf16_rate: Option<f64>,
}

/// How much is copied, and the size of the matrices.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    pub mib: usize,
    pub matrix: usize,
}

impl Size {
    /// More than any cache of a card holds, and as much work as a large model has.
    pub const WHOLE: Self = Self { mib: 512, matrix: 4096 };
    pub const QUICK: Self = Self { mib: 8, matrix: 128 };
}

impl Roof {
    pub fn measure(device: &Device, size: Size, budget: Budget) -> Result<Self> {
        let budget_of_copies = budget.share(0.3);
        let numbers = size.mib << 18;
        let x = Tensor::<1>::zeros([numbers], (device, DType::F32));
        // Reads and writes each number once.
        let seconds = best(device, budget_of_copies, || drop(x.clone() + 1.0))?;
        let bandwidth = ((2 * size.mib) << 20) as f64 / seconds;
        let f32_rate = product(device, size.matrix, DType::F32, budget.share(0.5))?;
        let rate = |dtype, budget| {
            let is_there = device.supports_dtype(dtype);
            is_there.then(|| product(device, size.matrix, dtype, budget)).transpose()
        };
        let f16_rate = rate(DType::F16, budget.share(0.5))?;
        let bf16_rate = rate(DType::BF16, budget)?;
        Ok(Self { bandwidth, f32_rate, f16_rate, bf16_rate })
    }

    /// The rate of products in the type that a model computes in.
    pub fn rate(&self, dtype: DType) -> f64 {
        let rate = match dtype {
            DType::F16 => self.f16_rate,
            DType::BF16 => self.bf16_rate,
            _ => None,
        };
        rate.unwrap_or(self.f32_rate)
    }

    /// A Markdown table.
    pub fn table(&self, size: Size) -> String {
        let Size { mib, matrix } = size;
        let cell = |rate: Option<f64>| {
            rate.map_or("not supported".to_owned(), |rate| format!("{:.1}", rate / 1e9))
        };
        let (f16, bf16) = (cell(self.f16_rate), cell(self.bf16_rate));
        format!(
            "| this device | |\n|---|--:|\n\
             | copies {mib} MiB, read and written, GB/s | {:.1} |\n\
             | product of two matrices of {matrix} x {matrix} in f32, Gflop/s | {:.1} |\n\
             | the same in f16 | {f16} |\n\
             | the same in bf16 | {bf16} |\n",
            self.bandwidth / 1e9,
            self.f32_rate / 1e9,
        )
    }
}

fn product(device: &Device, n: usize, dtype: DType, budget: Budget) -> Result<f64> {
    let random = || Tensor::<2>::random([n, n], Distribution::Uniform(-1.0, 1.0), device);
    let [a, b] = [random().cast(dtype), random().cast(dtype)];
    let seconds = best(device, budget, || drop(a.clone().matmul(b.clone())))?;
    Ok(2.0 * (n as f64).powi(3) / seconds)
}

/// The seconds of one `work`: the least of several rounds, each of as many as take long enough to be
/// timed.
fn best(device: &Device, budget: Budget, work: impl Fn()) -> Result<f64> {
    const LEAST: Duration = Duration::from_millis(20);
    const ROUNDS: usize = 10;
    let time = |count: usize| -> Result<Duration> {
        let start = Instant::now();
        (0..count).for_each(|_| work());
        device.sync().map_err(|error| anyhow!("{error}"))?;
        Ok(start.elapsed())
    };
    time(1)?; // compiles the kernel
    let once = time(1)?.max(Duration::from_nanos(100));
    let count = (LEAST.as_secs_f64() / once.as_secs_f64()).ceil() as usize;
    let mut least = once.as_secs_f64();
    for _ in 0..ROUNDS {
        if budget.is_over() {
            break;
        }
        least = least.min(time(count)?.as_secs_f64() / count as f64);
    }
    Ok(least)
}
