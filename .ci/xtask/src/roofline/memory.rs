//! Measures the read bandwidth of memory and caches.

use std::hint::black_box;
use std::time::Duration;

use anyhow::{Context, Result};
use memmap2::MmapMut;
use slowburn::kernels::Simd;

use super::team;
use super::vectors::{self, Loop};

const TRIES: usize = 7;
/// Parts are aligned to pages.
const PAGE: usize = 4096;
/// The least amount to read per try: a small buffer is read several times.
const ENOUGH: usize = 1 << 30;

/// The combined read bandwidth of `threads` threads in bytes per second. Each thread reads its own
/// part of `bytes` sequentially.
pub fn read_bandwidth(simd: Simd, bytes: usize, threads: usize) -> Result<f64> {
    let part = bytes.div_ceil(threads).next_multiple_of(PAGE);
    let bytes = part * threads;
    let mut memory =
        MmapMut::map_anon(bytes).with_context(|| format!("there is no memory of {bytes} bytes"))?;
    prefer_huge_pages(&memory);
    // The system allocates pages on the first write.
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

/// Requests pages of 2 MiB, as the kernels' weights do. The system may ignore the advice.
fn prefer_huge_pages(memory: &MmapMut) {
    #[cfg(target_os = "linux")]
    let _ = memory.advise(memmap2::Advice::HugePage);
    #[cfg(not(target_os = "linux"))]
    let _ = memory;
}

/// Sums bytes, which takes less time than reading them.
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
