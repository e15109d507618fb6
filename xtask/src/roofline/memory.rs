//! How fast threads read.

use std::hint::black_box;
use std::time::Duration;

use anyhow::{Context, Result};
use memmap2::MmapMut;
use slowburn::kernels::Simd;

use super::team;
use super::vectors::{self, Loop};

const TRIES: usize = 7;
/// Parts begin where pages do.
const PAGE: usize = 4096;
/// How much is read in a try, at least: little memory is read several times.
const ENOUGH: usize = 1 << 30;

/// Bytes per second that `threads` threads read together, of `bytes` bytes that they share. Each
/// reads its part from the beginning to the end.
pub fn read_bandwidth(simd: Simd, bytes: usize, threads: usize) -> Result<f64> {
    let part = bytes.div_ceil(threads).next_multiple_of(PAGE);
    let bytes = part * threads;
    let mut memory =
        MmapMut::map_anon(bytes).with_context(|| format!("there is no memory of {bytes} bytes"))?;
    prefer_huge_pages(&memory);
    // Until it is written to, the system gives no memory.
    memory.fill(1);
    let passes = ENOUGH.div_ceil(bytes);
    let mut best = Duration::MAX;
    for _ in 0..TRIES {
        let time = team::time(threads, &|thread| {
            let part = &memory[thread * part..][..part];
            for _ in 0..passes {
                black_box(vectors::run(simd, Sum(black_box(part))));
            }
        });
        best = best.min(time);
    }
    Ok((passes * bytes) as f64 / best.as_secs_f64())
}

/// The kernels' weights lie on pages of 2 MiB where the system grants them; so should this. It is
/// an advice only, which may be refused.
fn prefer_huge_pages(memory: &MmapMut) {
    #[cfg(target_os = "linux")]
    let _ = memory.advise(memmap2::Advice::HugePage);
    #[cfg(not(target_os = "linux"))]
    let _ = memory;
}

/// Adds bytes up, which takes less time than reading them.
struct Sum<'a>(&'a [u8]);

impl Loop for Sum<'_> {
    type Output = u8;

    #[inline(always)]
    fn run<const CHAINS: usize, const FUSED: bool>(self) -> u8 {
        let mut sums = [0_u8; 256];
        let (chunks, rest) = self.0.as_chunks::<256>();
        for chunk in chunks {
            for (sum, byte) in sums.iter_mut().zip(chunk) {
                *sum = sum.wrapping_add(*byte);
            }
        }
        sums.iter().chain(rest).fold(0, |sum, byte| sum.wrapping_add(*byte))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_read() {
        for simd in Simd::available() {
            for length in [0, 1, 255, 256, 600] {
                let bytes = vec![3; length];
                assert_eq!(usize::from(vectors::run(simd, Sum(&bytes))), 3 * length % 256);
            }
        }
    }

    #[test]
    fn little_memory_has_a_bandwidth_too() {
        let bandwidth = read_bandwidth(Simd::detect(), 1 << 20, 2).unwrap();
        assert!(bandwidth.is_finite() && bandwidth > 0.0);
    }
}
