//! What was tried on the way to the kernels: number of rows, panels at once, prefetching, and when
//! bf16 is widened. Chapter 10 says what came of it.
//!
//! cargo bench --bench tried -- --quick

#![allow(
    clippy::needless_range_loop,
    reason = "as in the microkernel, the loops are over lanes and rows"
)]

#[cfg(not(target_arch = "x86_64"))]
use criterion::Criterion;
use criterion::{criterion_group, criterion_main};

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    use std::hint::black_box;

    use criterion::Criterion;

    const LANES: usize = 32;
    /// The inner dimension of SmolLM2-135M's layers, and the panels of its widest one.
    const K: usize = 576;
    const PANELS: usize = 48;

    #[inline(always)]
    fn add_rows<const M: usize>(acc: &mut [[f32; LANES]; M], weights: &[f32; LANES], x: &[f32; M]) {
        for row in 0..M {
            for lane in 0..LANES {
                acc[row][lane] = weights[lane].mul_add(x[row], acc[row][lane]);
            }
        }
    }

    /// The microkernel for `M` rows.
    #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")]
    fn rows<const M: usize>(panels: &[[f32; LANES]], x: &[[f32; M]]) {
        for panel in panels.chunks_exact(K) {
            let mut acc = [[0.0; LANES]; M];
            for (weights, x) in panel.iter().zip(x) {
                add_rows(&mut acc, weights, x);
            }
            black_box(acc);
        }
    }

    /// One row, `P` panels at once, each fetched `AHEAD` steps before it is needed.
    #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")]
    fn one_row<const P: usize, const AHEAD: usize>(panels: &[[f32; LANES]], x: &[f32]) {
        for group in panels.chunks_exact(P * x.len()) {
            let mut acc = [[0.0_f32; LANES]; P];
            for k in 0..x.len() {
                for p in 0..P {
                    let weights = &group[p * x.len() + k];
                    if AHEAD > 0 {
                        let ahead = std::ptr::from_ref(weights).wrapping_add(AHEAD).cast::<i8>();
                        _mm_prefetch::<_MM_HINT_T0>(ahead);
                        _mm_prefetch::<_MM_HINT_T0>(ahead.wrapping_add(64));
                    }
                    for lane in 0..LANES {
                        acc[p][lane] = weights[lane].mul_add(x[k], acc[p][lane]);
                    }
                }
            }
            black_box(acc);
        }
    }

    #[inline(always)]
    fn widen(weights: &[u16; LANES]) -> [f32; LANES] {
        weights.map(|weight| f32::from_bits(u32::from(weight) << 16))
    }

    /// Passes of 12 rows over panels of bf16, each panel widened anew in every pass, or once for
    /// all of them.
    #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")]
    fn widened<const ONCE: bool>(panels: &[[u16; LANES]], passes: &[Vec<[f32; 12]>]) {
        let mut room = vec![[0.0; LANES]; K];
        for panel in panels.chunks_exact(K) {
            if ONCE {
                for (wide, weights) in room.iter_mut().zip(panel) {
                    *wide = widen(weights);
                }
            }
            for x in passes {
                let mut acc = [[0.0; LANES]; 12];
                for (k, x) in x.iter().enumerate() {
                    let weights = if ONCE { room[k] } else { widen(&panel[k]) };
                    add_rows(&mut acc, &weights, x);
                }
                black_box(acc);
            }
        }
    }

    pub fn tried(criterion: &mut Criterion) {
        let is_there = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512bw");
        if !is_there {
            eprintln!("this processor has no AVX-512: nothing is measured");
            return;
        }
        let panels = vec![[0.5_f32; LANES]; K * PANELS];
        macro_rules! bench_rows {
            ($($m:literal)+) => {$(
                let x = vec![[0.25; $m]; K];
                // SAFETY: the processor has AVX-512, as was asked above.
                let run = || unsafe { rows::<$m>(black_box(&panels), &x) };
                criterion.bench_function(concat!("rows/", $m), |bencher| bencher.iter(run));
            )+};
        }
        bench_rows!(1 4 6 7 8 12);

        let large = vec![[0.5_f32; LANES]; 1 << 20]; // 128 MiB: more than a cache holds
        let x = vec![0.25; K];
        macro_rules! bench_one_row {
            ($($name:literal $p:literal $ahead:literal)+) => {$(
                // SAFETY: as above.
                let run = || unsafe { one_row::<$p, $ahead>(black_box(&large), &x) };
                criterion.bench_function($name, |bencher| bencher.iter(run));
            )+};
        }
        bench_one_row!(
            "panels at once/1" 1 0
            "panels at once/2" 2 0
            "panels at once/4" 4 0
            "panels at once/4, prefetched" 4 16
        );

        let halves = vec![[0x3f00_u16; LANES]; K * PANELS];
        let passes = vec![vec![[0.25_f32; 12]; K]; 10];
        // SAFETY: as above, for both.
        let each = || unsafe { widened::<false>(black_box(&halves), &passes) };
        let once = || unsafe { widened::<true>(black_box(&halves), &passes) };
        criterion.bench_function("bf16 widened/in each pass", |bencher| bencher.iter(each));
        criterion.bench_function("bf16 widened/once", |bencher| bencher.iter(once));
    }
}

#[cfg(target_arch = "x86_64")]
use avx512::tried;

#[cfg(not(target_arch = "x86_64"))]
fn tried(_: &mut Criterion) {
    eprintln!("this processor has no AVX-512: nothing is measured");
}

criterion_group!(benches, tried);
criterion_main!(benches);
