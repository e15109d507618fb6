use super::one_plus_norm::{Stored, one_plus_norm};
use crate::support::{Case, Random};

#[track_caller]
fn check(rule: &str, x: &[f32], stored: &Stored, eps: f32) {
    let factors: Vec<f64> = match stored {
        Stored::Folder(halves) => {
            let wide = |half: &u16| f64::from(f32::from_bits(u32::from(*half) << 16));
            halves.iter().map(|half| 1.0 + wide(half)).collect()
        }
        Stored::Gguf(weights) => weights.iter().map(|weight| f64::from(*weight)).collect(),
    };
    let squares: f64 = x.iter().map(|x| f64::from(*x).powi(2)).sum();
    let scale = 1.0 / (squares / x.len() as f64 + f64::from(eps)).sqrt();
    let expected: Vec<f32> =
        x.iter().zip(factors).map(|(x, factor)| (f64::from(*x) * scale * factor) as f32).collect();
    let case = Case::rule(rule).given("x", x).given("stored", stored).given("eps", eps);
    let greatest = expected.iter().fold(0.0_f32, |greatest, x| greatest.max(x.abs()));
    case.close(&expected, &one_plus_norm(x, stored, eps), 1e-5 * greatest.max(1.0));
}

/// The nearest number below, in bf16.
fn half(number: f32) -> u16 {
    (number.to_bits() >> 16) as u16
}

fn folder(weights: &[f32]) -> Stored {
    Stored::Folder(weights.iter().map(|weight| half(*weight)).collect())
}

#[test]
fn a_gguf_file_has_the_sum() {
    let rule = "a GGUF file has 1 + weight: nothing is added";
    check(rule, &[1.0, -1.0, 1.0, -1.0], &Stored::Gguf(vec![1.0, 1.5, 0.5, 1.003]), 0.0);
    check(rule, &[3.0, 4.0], &Stored::Gguf(vec![1.001, 0.25]), 1e-6);
}

#[test]
fn a_folder_has_what_is_added_to_1() {
    let rule = "a folder has the weight: the factor is 1 + weight";
    check(rule, &[1.0, -1.0, 1.0, -1.0], &folder(&[0.0, 0.5, -0.5, 1.0]), 0.0);
    check(rule, &[3.0, 4.0], &folder(&[-1.0, 7.0]), 1e-6);
}

#[test]
fn small_weights_count() {
    let rule = "1 + weight is added in f32: bf16 has no number between 1 and 1.0078";
    check(rule, &[1.0, -1.0], &folder(&[0.003, -0.001]), 0.0);
    check(rule, &[1.0, -1.0], &folder(&[0.0117, 2.006]), 0.0);
}

#[test]
fn a_gguf_file_is_not_rounded() {
    let rule = "the factors of a GGUF file are f32 numbers, and stay so";
    check(rule, &[1.0, -1.0, 1.0], &Stored::Gguf(vec![1.0013, 0.9991, 12.3456]), 0.0);
}

#[test]
fn the_file_decides_and_not_the_numbers() {
    let rule = "whether 1 is added depends on the file, and not on what the numbers look like";
    check(rule, &[1.0, -1.0, 1.0], &Stored::Gguf(vec![0.1, -0.05, 0.02]), 0.0);
    check(rule, &[1.0, -1.0, 1.0], &Stored::Gguf(vec![0.0; 3]), 0.0);
    check(rule, &[1.0, -1.0, 1.0], &folder(&[1.0, 1.0, 1.0]), 0.0);
    check(rule, &[1.0, -1.0, 1.0], &folder(&[0.75, 1.25, 12.0]), 0.0);
    check(rule, &[1.0, -1.0, 1.0], &folder(&[-2.0, -3.0, -0.5]), 0.0);
}

#[test]
fn eps_is_inside_the_root() {
    let rule = "eps is added to the mean of the squares";
    check(rule, &[0.0, 0.0], &folder(&[0.1, 0.2]), 1e-6);
    check(rule, &[1e-3, -1e-3], &folder(&[0.1, 0.2]), 1e-6);
}

#[test]
fn the_same_model_from_both_files() {
    let mut random = Random::new(47);
    for _ in 0..200 {
        let d = 1 + random.below(12);
        let x = random.scores(d);
        let halves: Vec<u16> = (0..d).map(|_| half(random.float(-0.5, 3.0))).collect();
        let sums = halves.iter().map(|half| 1.0 + f32::from_bits(u32::from(*half) << 16));
        let gguf = Stored::Gguf(sums.collect());
        let rule = "both files of a model give the same numbers";
        check(rule, &x, &Stored::Folder(halves), 1e-6);
        check(rule, &x, &gguf, 1e-6);
    }
}
