//! What chapter 12 says of quantized weights, in small numbers.

use slowburn::kernels::trace::Cost;
use slowburn::kernels::{self, Layer, Panels, Quantized, Roof, Rounding};

use super::quantize;

const NEAREST: Rounding = Rounding::Nearest;

/// The scale, the integers, and what they stand for.
fn stored<const N: usize>(
    weights: &[f32; N],
    format: Quantized,
    rounding: Rounding,
) -> (f32, [i8; N], [f32; N]) {
    let (scale, integers) = kernels::quantize(weights, format, rounding);
    let scale = scale.to_f32();
    (scale, integers, integers.map(|integer| scale * f32::from(integer)))
}

fn squared_error<const N: usize>(weights: &[f32; N], stored: &[f32; N]) -> f32 {
    weights.iter().zip(stored).map(|(weight, stored)| (weight - stored).powi(2)).sum()
}

const WEIGHTS: [f32; 4] = [0.9, -2.0, 0.35, 0.65];

#[test]
fn a_worked_example() {
    let (scale, integers, stored) = stored(&WEIGHTS, Quantized::Int4, NEAREST);
    assert_eq!(scale, 0.25);
    assert_eq!(integers, [4, -8, 1, 3]);
    assert_eq!(stored, [1.0, -2.0, 0.25, 0.75]);
}

#[test]
fn the_same_group_in_8_bits() {
    let (scale, integers, stored) = stored(&WEIGHTS, Quantized::Int8, NEAREST);
    // The greatest magnitude becomes 127, so where it is negative the scale is.
    assert_eq!(format!("{scale:.5}"), "-0.01575");
    assert_eq!(integers, [-57, 127, -22, -41]);
    let shown = stored.map(|number| format!("{number:.4}"));
    assert_eq!(shown, ["0.8976", "-1.9999", "0.3464", "0.6456"]);
}

// ANCHOR: least_squares
#[test]
fn least_squares_has_the_smaller_error() {
    let (_, _, nearest) = stored(&WEIGHTS, Quantized::Int4, NEAREST);
    let (scale, integers, squares) = stored(&WEIGHTS, Quantized::Int4, Rounding::LeastSquares);
    assert_eq!(format!("{scale:.4}"), "0.2913");
    assert_eq!(integers, [3, -7, 1, 2]);
    let shown = squares.map(|number| format!("{number:.4}"));
    assert_eq!(shown, ["0.8738", "-2.0388", "0.2913", "0.5825"]);
    assert_eq!(format!("{:.4}", squared_error(&WEIGHTS, &nearest)), "0.0300");
    assert_eq!(format!("{:.4}", squared_error(&WEIGHTS, &squares)), "0.0102");
}
// ANCHOR_END: least_squares

#[test]
fn a_product_with_an_offset_is_the_product() {
    let x: [f32; 4] = [1.0, 2.0, -1.0, 0.5];
    let integers: [f32; 4] = [4.0, -8.0, 1.0, 3.0];
    let sum: f32 = integers.iter().zip(x).map(|(integer, x)| integer * x).sum();
    assert_eq!(sum, -11.5);
    let offset_sum: f32 = integers.iter().zip(x).map(|(integer, x)| (integer + 24.0) * x).sum();
    assert_eq!(offset_sum, 48.5);
    assert_eq!(offset_sum - 24.0 * x.iter().sum::<f32>(), sum);
    assert_eq!(0.25 * sum, -2.875);
    let exact: f32 = WEIGHTS.iter().zip(x).map(|(weight, x)| weight * x).sum();
    assert_eq!(format!("{exact:.3}"), "-3.125");
}

/// 1 times 0.1, with the integer 1.
#[test]
fn an_offset_costs_digits() {
    // -8 sets the scale to 1, and meets a zero.
    let panels = quantize(&[1.0, -8.0], [1, 2], Quantized::Int4, NEAREST);
    let layer = Layer { weights: &panels, bias: None };
    let [found] = kernels::linear([layer], &[0.1, 0.0], 1);
    assert_eq!(format!("{:.8}", found[0]), "0.09999996");
}

/// Ember's `gate`, as in chapter 10, on a machine with round numbers.
#[test]
fn a_decode_step_of_one_layer() {
    let [n_out, n_in] = [512, 192];
    let roof = Roof { bytes_per_second: 40e9, flops_per_second: 400e9 };
    let weights = vec![1.0; n_out * n_in];
    let rows = 4 * (n_out + n_in);
    let flops = 2 * n_out * n_in;
    let f32 = Panels::from_numbers(&weights, [n_out, n_in]).unwrap();
    let [int8, int4] = [Quantized::Int8, Quantized::Int4]
        .map(|format| quantize(&weights, [n_out, n_in], format, NEAREST).bytes());
    for (bytes, expected, micros, intensity) in [
        (f32.bytes(), 393_216, "9.9", "0.50"),
        (int8, 104_448, "2.7", "1.83"),
        (int4, 55_296, "1.5", "3.38"),
    ] {
        assert_eq!(bytes, expected);
        let bytes = bytes + rows;
        let cost = Cost { bytes: bytes as u64, flops: flops as u64 };
        assert_eq!(format!("{:.1}", 1e6 * roof.seconds(cost)), micros);
        assert_eq!(format!("{:.2}", flops as f64 / bytes as f64), intensity);
    }
}

#[test]
fn a_scale_in_f16_has_two_ends() {
    let int8 = |weights| stored(&weights, Quantized::Int8, NEAREST);
    // 10 million / 127 is more than the greatest f16, 65,504.
    let (scale, _, stored) = int8([1e7, 1.0]);
    assert!(scale.is_infinite() && stored.iter().all(|number| number.is_nan()));
    // 0.000003 / 127 is nearer to 0 than to the least f16, 0.00000006.
    let (scale, _, stored) = int8([3e-6, 1e-6]);
    assert_eq!((scale, stored), (0.0, [0.0, 0.0]));
    // 0.0001 / 127 is 13.2 times the least f16, and becomes 13 times: even 127 is too little.
    let (_, integers, stored) = int8([1e-4, 5e-5]);
    assert_eq!(integers, [127, 65]);
    assert_eq!(format!("{:.7} {:.7}", stored[0], stored[1]), "0.0000984 0.0000504");
}

/// Wherever in its group a number is not finite, all of the group is NaN.
#[test]
fn a_group_with_a_number_that_is_not_finite_is_nan() {
    let finite: [f32; 32] = std::array::from_fn(|i| i as f32 - 15.5);
    for format in [Quantized::Int8, Quantized::Int4] {
        for rounding in [NEAREST, Rounding::LeastSquares] {
            for (bad, place) in [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY]
                .into_iter()
                .flat_map(|bad| (0..32).map(move |place| (bad, place)))
            {
                let mut weights = finite;
                weights[place] = bad;
                for other in [None, Some(f32::INFINITY), Some(f32::NAN)] {
                    weights[(place + 7) % 32] = other.unwrap_or(finite[(place + 7) % 32]);
                    let (_, _, stored) = stored(&weights, format, rounding);
                    assert!(
                        stored.iter().all(|number| number.is_nan()),
                        "{format:?}, {rounding:?}: {bad} at {place}, {other:?}: {stored:?}"
                    );
                }
            }
        }
    }
}
