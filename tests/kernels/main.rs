//! Every kernel, with every instruction set and number of threads, against a specification that
//! is written here in plain loops: bit by bit, on all small sizes, with subnormal, huge, infinite
//! and NaN inputs.

mod attention;
mod linear;
mod quantized;

use half::{bf16, f16};
use slowburn::kernels::{
    self, Activations, Arena, Cpu, GROUP, Layer, Panels, Precision, Quantized, Rounding, Simd,
};
use slowburn::model::config::Activation;

const FORMATS: [Precision; 3] = [Precision::F32, Precision::F16, Precision::Bf16];

fn cpus() -> Vec<Cpu> {
    let ways = Simd::available().into_iter().flat_map(|simd| [1, 3].map(|n| (simd, n)));
    ways.map(|(simd, threads)| Cpu::new(simd, threads).unwrap()).collect()
}

/// Numbers that repeat for the same seed; of all magnitudes where `wild`.
struct Numbers {
    state: u64,
    wild: bool,
}

impl Numbers {
    fn new(seed: u64, wild: bool) -> Self {
        Self {
            state: seed.wrapping_mul(2).wrapping_add(0x9e37_79b9_7f4a_7c15),
            wild,
        }
    }

    fn next(&mut self) -> f32 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        let tame = (self.state >> 40) as f32 / (1 << 23) as f32 - 1.0;
        if !self.wild {
            return tame;
        }
        match self.state % 16 {
            0 => f32::from_bits((self.state >> 20) as u32 % 0x0080_0000), // subnormal
            1 => tame * 1e-38,
            2 => tame * 1e30,
            3 => 0.0,
            4 => -0.0,
            5 if self.state % 48 == 5 => f32::INFINITY,
            6 if self.state % 64 == 6 => f32::NEG_INFINITY,
            7 if self.state % 112 == 7 => f32::NAN,
            _ => tame,
        }
    }

    fn take(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| self.next()).collect()
    }
}

/// What a number becomes when it is stored.
fn stored(format: Precision, number: f32) -> f32 {
    match format {
        Precision::F32 => number,
        Precision::F16 => f16::from_f32(number).to_f32(),
        Precision::Bf16 => bf16::from_f32(number).to_f32(),
    }
}

fn pack(weights: &[f32], shape: [usize; 2], format: Precision) -> Panels {
    Panels::pack(&weights, shape, format, &mut Arena::new(0)).unwrap()
}

fn quantize(weights: &[f32], shape: [usize; 2], format: Quantized, rounding: Rounding) -> Panels {
    Panels::quantize(&weights, shape, format, rounding, &mut Arena::new(0)).unwrap()
}

/// All NaNs are one: which of two that meet survives differs between processors.
fn bits(numbers: &[f32]) -> Vec<u32> {
    let bits = |number: &f32| if number.is_nan() { f32::NAN } else { *number }.to_bits();
    numbers.iter().map(bits).collect()
}

/// Each result against that of one thread without vector instructions.
#[test]
fn norms_rotations_and_bends_are_the_same_everywhere() {
    let cpus = cpus();
    for d in [1, 2, 8, 31, 32, 33, 64, 576] {
        for rows in [1, 2, 70] {
            let mut numbers = Numbers::new((d * rows) as u64, false);
            let x = numbers.take(rows * d);
            let (weight, bias) = (numbers.take(d), numbers.take(d));
            let (cos, sin) = (numbers.take(rows * d / 2), numbers.take(rows * d / 2));
            let up = numbers.take(rows * d);
            let results = |cpu: &Cpu| {
                cpu.enter(|| {
                    let change = |change: &dyn Fn(&mut [f32])| {
                        let mut x = x.clone();
                        change(&mut x);
                        bits(&x)
                    };
                    let mut all = vec![
                        change(&|x| kernels::rms_norm(x, &weight, 1e-5)),
                        change(&|x| kernels::layer_norm(x, &weight, &bias, 1e-5)),
                    ];
                    if d % 2 == 0 {
                        all.push(change(&|x| kernels::rotate(x, rows, d, &cos, &sin)));
                    }
                    for activation in [
                        Activation::Silu,
                        Activation::Gelu,
                        Activation::GeluTanh,
                        Activation::ClampedSilu,
                        Activation::Sigmoid,
                    ] {
                        all.push(change(&|x| kernels::activate(x, activation)));
                        all.push(change(&|x| kernels::gated(x, &up, activation)));
                    }
                    all
                })
            };
            let reference = results(cpus.last().unwrap());
            for cpu in &cpus {
                assert_eq!(results(cpu), reference, "{cpu:?}, {rows} rows of {d}");
            }
        }
    }
}

/// A norm in f64, to see that the kernels compute what they say.
#[test]
fn norms_are_near_their_formulas() {
    let mut numbers = Numbers::new(3, false);
    let (x, weight, bias) = (numbers.take(100), numbers.take(100), numbers.take(100));
    let wide: Vec<f64> = x.iter().map(|x| f64::from(*x)).collect();
    let mean = wide.iter().sum::<f64>() / 100.0;
    let root = |square: f64| (square / 100.0 + 1e-5).sqrt();
    let rms = root(wide.iter().map(|x| x * x).sum());
    let deviation = root(wide.iter().map(|x| (x - mean).powi(2)).sum());
    let (mut normed, mut layer_normed) = (x.clone(), x);
    kernels::rms_norm(&mut normed, &weight, 1e-5);
    kernels::layer_norm(&mut layer_normed, &weight, &bias, 1e-5);
    for i in 0..100 {
        let (weight, bias) = (f64::from(weight[i]), f64::from(bias[i]));
        assert!((f64::from(normed[i]) - wide[i] / rms * weight).abs() < 1e-5);
        let expected = (wide[i] - mean) / deviation * weight + bias;
        assert!((f64::from(layer_normed[i]) - expected).abs() < 1e-5);
    }
}
