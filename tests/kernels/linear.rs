//! Linear layers and their matrices.

use std::ops::Range;

use super::*;

#[test]
fn a_linear_layer_sums_in_one_order() {
    let cpus = cpus();
    for (case, wild) in [(1, false), (2, true)] {
        for n_out in [1, 2, 31, 32, 33, 64, 95, 129, 200] {
            for n_in in [1, 2, 7, 64, 65] {
                let mut numbers = Numbers::new(case * 1000 + (n_out * n_in) as u64, wild);
                let weights = numbers.take(n_out * n_in);
                let bias = numbers.take(n_out);
                for format in FORMATS {
                    let panels = pack(&weights, [n_out, n_in], format);
                    // 73 rows are more than six passes.
                    for rows in (1..=14).chain([73]) {
                        let x = numbers.take(rows * n_in);
                        let with_bias = rows % 2 == 0;
                        let mut expected = Vec::new();
                        for x in x.chunks(n_in) {
                            for (out, weights) in weights.chunks(n_in).enumerate() {
                                let mut sum = 0.0f32;
                                for (weight, x) in weights.iter().zip(x) {
                                    sum = stored(format, *weight).mul_add(*x, sum);
                                }
                                expected.push(if with_bias { sum + bias[out] } else { sum });
                            }
                        }
                        for cpu in &cpus {
                            let bias = with_bias.then_some(&bias[..]);
                            let layer = Layer { weights: &panels, bias };
                            let [found] = cpu.enter(|| kernels::linear([layer], &x, rows));
                            let what = format!("{cpu:?} {format:?} {n_out}x{n_in}, {rows} rows");
                            assert_eq!(bits(&found), bits(&expected), "{what}");
                        }
                    }
                }
            }
        }
    }
}

/// A number in bf16, or 0 below 2^-56.
fn in_bf16(number: f32) -> f32 {
    let rounded = stored(Precision::Bf16, number);
    if rounded.abs() < 2.0f32.powi(-56) {
        0.0
    } else {
        rounded
    }
}

/// One output of a layer whose weights and activations are in bf16: the even ones of 32 inputs, the odd ones,
/// their sum, and then the output.
fn output_in_bf16(weights: &[f32], x: &[f32]) -> f32 {
    let mut output = 0.0f32;
    for (weights, x) in weights.chunks(32).zip(x.chunks(32)) {
        let sum = |start| {
            let products = weights.iter().zip(x).skip(start).step_by(2);
            products.fold(0.0f32, |sum, (weight, x)| in_bf16(*weight).mul_add(in_bf16(*x), sum))
        };
        output += sum(0) + sum(1);
    }
    output
}

#[test]
fn activations_in_bf16_are_summed_as_a_matrix_unit_does() {
    let cpus = cpus();
    for wild in [false, true] {
        for n_out in [1, 31, 33, 64, 95, 129, 200] {
            for n_in in [1, 2, 7, 32, 63, 96] {
                let mut numbers = Numbers::new((n_out * n_in) as u64, wild);
                let weights = numbers.take(n_out * n_in);
                let panels = pack(&weights, [n_out, n_in], Precision::Bf16);
                let panels = panels.with_activations(Activations::Bf16);
                for rows in (1..=17).chain([33, 73]) {
                    let x = numbers.take(rows * n_in);
                    let of = |x| weights.chunks(n_in).map(move |row| output_in_bf16(row, x));
                    let expected: Vec<f32> = x.chunks(n_in).flat_map(of).collect();
                    for cpu in &cpus {
                        let layer = Layer { weights: &panels, bias: None };
                        let [found] = cpu.enter(|| kernels::linear([layer], &x, rows));
                        let what = format!("{cpu:?} {n_out}x{n_in}, {rows} rows");
                        assert_eq!(bits(&found), bits(&expected), "{what}");
                    }
                }
            }
        }
    }
}

/// The sum of a group of inputs, in pairs.
fn sum_in_pairs(x: &[f32]) -> f32 {
    let mut sums = x.to_vec();
    sums.resize(GROUP, 0.0);
    while sums.len() > 1 {
        let upper = sums.split_off(sums.len() / 2);
        sums.iter_mut().zip(upper).for_each(|(sum, upper)| *sum += upper);
    }
    sums[0]
}

/// The groups of one output: their scales and integers.
type Groups = Vec<(f32, [i8; GROUP])>;

fn groups(weights: &[f32], format: Quantized, rounding: Rounding) -> Groups {
    let group = |weights: &[f32]| {
        let mut numbers = [0.0; GROUP];
        numbers[..weights.len()].copy_from_slice(weights);
        let (scale, integers) = kernels::quantize(&numbers, format, rounding);
        (scale.to_f32(), integers)
    };
    weights.chunks(GROUP).map(group).collect()
}

/// One output of a quantized layer: each group's integers times `x`, then times the scale, the
/// groups in order. 4-bit integers are offset by 24 on the way.
fn quantized_output(groups: &Groups, x: &[f32], format: Quantized) -> f32 {
    let mut output = 0.0f32;
    for ((scale, integers), x) in groups.iter().zip(x.chunks(GROUP)) {
        let offset = match format {
            Quantized::Int8 => 0.0,
            Quantized::Int4 => 24.0,
        };
        let mut sum = 0.0f32;
        for (integer, x) in integers.iter().zip(x.iter().chain(std::iter::repeat(&0.0))) {
            sum = (f32::from(*integer) + offset).mul_add(*x, sum);
        }
        if offset != 0.0 {
            sum = (-offset).mul_add(sum_in_pairs(x), sum);
        }
        output = scale.mul_add(sum, output);
    }
    output
}

/// One output of a layer, of its groups and its inputs.
type Output = fn(&Groups, &[f32], Quantized) -> f32;

/// A group of activations as 8-bit integers: their scale and the integers, and zeros behind them.
fn rounded(x: &[f32]) -> (f32, [i32; GROUP]) {
    let mut integers = [0; GROUP];
    if x.iter().any(|x| !x.is_finite()) {
        return (f32::NAN, integers);
    }
    let magnitude = x.iter().fold(0.0f32, |most, x| most.max(x.abs()));
    let scale = magnitude / 127.0;
    let inverse = 1.0 / scale;
    if inverse.is_finite() {
        for (integer, x) in integers.iter_mut().zip(x) {
            *integer = (x * inverse).round_ties_even() as i32;
            assert!(integer.abs() <= 127);
        }
    }
    (scale, integers)
}

/// One output of a layer whose activations are rounded. Each group is an exact integer, times the
/// scale of both.
fn rounded_output(groups: &Groups, x: &[f32], _: Quantized) -> f32 {
    let mut output = 0.0f32;
    for ((scale, integers), x) in groups.iter().zip(x.chunks(GROUP)) {
        let (x_scale, x) = rounded(x);
        let sum: i32 = integers.iter().zip(x).map(|(integer, x)| i32::from(*integer) * x).sum();
        output = (scale * x_scale).mul_add(sum as f32, output);
    }
    output
}

#[test]
fn a_quantized_layer_sums_in_one_order() {
    let cpus = cpus();
    let formats = [Quantized::Int8, Quantized::Int4].map(|format| {
        [Rounding::Nearest, Rounding::LeastSquares].map(|rounding| (format, rounding))
    });
    for wild in [false, true] {
        for n_out in [1, 31, 32, 33, 95, 129, 200] {
            for n_in in [1, 7, 32, 64, 65, 96] {
                let mut numbers = Numbers::new((n_out * n_in) as u64, wild);
                let weights = numbers.take(n_out * n_in);
                for (format, rounding) in formats.into_iter().flatten() {
                    let panels = quantize(&weights, [n_out, n_in], format, rounding);
                    let integers = panels.clone().with_activations(Activations::Int8);
                    let outputs: Vec<Groups> =
                        weights.chunks(n_in).map(|row| groups(row, format, rounding)).collect();
                    let counts = (1..=14).chain([25, 33]);
                    for rows in counts {
                        let x = numbers.take(rows * n_in);
                        let all = |output: Output| -> Vec<f32> {
                            let of = |x| outputs.iter().map(move |row| output(row, x, format));
                            x.chunks(n_in).flat_map(of).collect()
                        };
                        for (panels, expected) in [
                            (&panels, all(quantized_output)),
                            (&integers, all(rounded_output)),
                        ] {
                            for cpu in &cpus {
                                let layer = Layer { weights: panels, bias: None };
                                let [found] = cpu.enter(|| kernels::linear([layer], &x, rows));
                                let what =
                                    format!("{cpu:?} {format:?} {n_out}x{n_in}, {rows} rows");
                                assert_eq!(bits(&found), bits(&expected), "{what}");
                            }
                        }
                    }
                }
            }
        }
    }
}

/// As the layers of a GGUF file, of which some are quantized and others are not.
#[test]
fn layers_of_several_formats_take_the_same_inputs() {
    let [n_out, n_in] = [70, 65];
    let mut numbers = Numbers::new(5, false);
    let weights = numbers.take(n_out * n_in);
    let quantized = |format| quantize(&weights, [n_out, n_in], format, Rounding::Nearest);
    let all = [
        pack(&weights, [n_out, n_in], Precision::F32),
        quantized(Quantized::Int4),
        quantized(Quantized::Int8).with_activations(Activations::Int8),
        pack(&weights, [n_out, n_in], Precision::Bf16).with_activations(Activations::Bf16),
    ];
    let layers = all.each_ref().map(|weights| Layer { weights, bias: None });
    for rows in [1, 5, 40] {
        let x = numbers.take(rows * n_in);
        for cpu in cpus() {
            cpu.enter(|| {
                let together = kernels::linear(layers, &x, rows);
                for (layer, found) in layers.into_iter().zip(together) {
                    let [alone] = kernels::linear([layer], &x, rows);
                    assert_eq!(bits(&found), bits(&alone), "{cpu:?}, {rows} rows");
                }
            });
        }
    }
}

/// Groups as files have them, in every format: scales and minima that are no f16, halves of a group.
#[test]
fn groups_of_files_are_kept_and_summed_in_one_order() {
    use kernels::{E2M1_DOUBLED, Group, GroupFormat};
    let formats = [
        (GroupFormat::Int8, -128, 127, 1, false, 0.0),
        (GroupFormat::Int4, -8, 7, 1, false, 24.0),
        (GroupFormat::Int8Min, 0, 31, 1, true, 0.0),
        (GroupFormat::Int4Min, 0, 15, 1, true, 16.0),
        (GroupFormat::Int8Halves, -32, 31, 2, false, 0.0),
        // These are codes.
        (GroupFormat::Mxfp4, 0, 15, 1, false, 0.0),
        (GroupFormat::Nvfp4, 0, 15, 2, false, 0.0),
        (GroupFormat::Fp8, -127, 126, 1, false, 0.0),
    ];
    // E4M3, divided by 256.
    let of_code = |code: i8| {
        let (exponent, fraction) = (i32::from(code) >> 3 & 15, f32::from(code & 7) / 8.0);
        let (leading, exponent) = if exponent == 0 {
            (0.0, 1)
        } else {
            (1.0, exponent)
        };
        let magnitude = (leading + fraction) * 2f32.powi(exponent - 7 - 8);
        if code < 0 { -magnitude } else { magnitude }
    };
    let cpus = cpus();
    for (format, least, most, parts, has_min, offset) in formats {
        let number = |stored: i8| match format {
            GroupFormat::Fp8 => of_code(stored),
            _ => f32::from(stored),
        };
        for (n_out, n_in) in [(1, 32), (33, 64), (70, 96)] {
            let mut numbers = Numbers::new((n_out * n_in) as u64, false);
            let mut group = || {
                let mut scale = || {
                    let scale = numbers.next();
                    match format {
                        GroupFormat::Int8 | GroupFormat::Int4 => f16::from_f32(scale).to_f32(),
                        GroupFormat::Mxfp4 => bf16::from_f32(scale).to_f32(),
                        _ => scale,
                    }
                };
                let scales = [scale(), scale()];
                let min = if has_min { numbers.next() } else { 0.0 };
                let width = (most - least + 1) as f32;
                let mut integer = |_| {
                    let integer = (least as f32 + (numbers.next().abs() * width)) as i16 as i8;
                    match format {
                        GroupFormat::Mxfp4 | GroupFormat::Nvfp4 => E2M1_DOUBLED[integer as usize],
                        _ => integer,
                    }
                };
                Group { scales, min, integers: std::array::from_fn(&mut integer) }
            };
            let rows: Vec<Vec<Group>> =
                (0..n_out).map(|_| (0..n_in / GROUP).map(|_| group()).collect()).collect();
            let read_row = |output: usize, groups: &mut [Group]| {
                groups.copy_from_slice(&rows[output]);
                Ok(())
            };
            let shape = [n_out, n_in];
            let panels = Panels::from_groups(&read_row, shape, format, &mut Arena::new(0)).unwrap();
            let scale = |group: &Group, k: usize| group.scales[k * parts / GROUP];
            for (output, groups) in rows.iter().enumerate() {
                let mut found = vec![0.0; n_in];
                panels.row(output, &mut found);
                let value = |i: usize| {
                    let (group, k) = (&groups[i / GROUP], i % GROUP);
                    scale(group, k) * number(group.integers[k]) - group.min
                };
                assert_eq!(bits(&found), bits(&(0..n_in).map(value).collect::<Vec<_>>()));
            }
            for count in [1, 2, 5, 13, 73] {
                let x = numbers.take(count * n_in);
                let mut expected = Vec::new();
                for x in x.chunks(n_in) {
                    for groups in &rows {
                        let mut output = 0.0f32;
                        for (group, x) in groups.iter().zip(x.chunks(GROUP)) {
                            let width = GROUP / parts;
                            for (part, x) in x.chunks(width).enumerate() {
                                let mut sum = 0.0f32;
                                for (integer, x) in group.integers[part * width..].iter().zip(x) {
                                    sum = (number(*integer) + offset).mul_add(*x, sum);
                                }
                                if offset != 0.0 {
                                    sum = (-offset).mul_add(sum_in_pairs(x), sum);
                                }
                                output = group.scales[part].mul_add(sum, output);
                            }
                            if has_min {
                                output = (-group.min).mul_add(sum_in_pairs(x), output);
                            }
                        }
                        expected.push(output);
                    }
                }
                let mut expected_of_integers = Vec::new();
                for x in x.chunks(n_in) {
                    for groups in &rows {
                        let mut output = 0.0f32;
                        for (group, x) in groups.iter().zip(x.chunks(GROUP)) {
                            let (x_scale, x) = rounded(x);
                            let width = GROUP / parts;
                            for (part, x) in x.chunks(width).enumerate() {
                                let integers = &group.integers[part * width..];
                                let product = |(integer, x): (&i8, &i32)| i32::from(*integer) * x;
                                let sum: i32 = integers.iter().zip(x).map(product).sum();
                                let scale = group.scales[part] * x_scale;
                                output = scale.mul_add(sum as f32, output);
                            }
                            if has_min {
                                let sum = x_scale * x.iter().sum::<i32>() as f32;
                                output = (-group.min).mul_add(sum, output);
                            }
                        }
                        expected_of_integers.push(output);
                    }
                }
                if format == GroupFormat::Fp8 {
                    expected_of_integers = expected.clone();
                }
                let integers = panels.clone().with_activations(Activations::Int8);
                for (panels, expected) in [(&panels, expected), (&integers, expected_of_integers)] {
                    for cpu in &cpus {
                        let layer = Layer { weights: panels, bias: None };
                        let [found] = cpu.enter(|| kernels::linear([layer], &x, count));
                        let what = format!("{cpu:?} {format:?}, {count} rows");
                        assert_eq!(bits(&found), bits(&expected), "{what}");
                    }
                }
            }
        }
    }
}

/// Every integer of a format times inputs at the edges, against exact arithmetic. 4-bit integers are
/// offset by 24 in the sum, which costs a rounding of a number up to 31 times the input.
#[test]
fn every_integer_times_every_edge() {
    const SCALE: f32 = 0.25;
    let edges = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        f32::EPSILON,
        0.1,
        -3.3e10,
        f32::MAX / 128.0,
        f32::MIN_POSITIVE,
        -f32::MIN_POSITIVE / 8.0,
    ];
    for (format, offset) in [(Quantized::Int8, 0.0), (Quantized::Int4, 31.0)] {
        let [least, most] = format.range();
        let end = if format == Quantized::Int8 {
            most
        } else {
            least
        };
        let integers: Vec<i8> = (least..=most).collect();
        // Two inputs for each output: the integer, and the end of the range, which sets the scale.
        let row = |integer: &i8| [*integer, end].map(|integer| SCALE * f32::from(integer));
        let weights: Vec<f32> = integers.iter().flat_map(row).collect();
        let panels = quantize(&weights, [integers.len(), 2], format, Rounding::Nearest);
        for (output, weights) in weights.chunks(2).enumerate() {
            let mut found = [0.0; 2];
            panels.row(output, &mut found);
            assert_eq!(found, weights, "each of them is stored exactly");
        }
        for x in edges {
            for cpu in cpus() {
                let layer = Layer { weights: &panels, bias: None };
                let [found] = cpu.enter(|| kernels::linear([layer], &[x, 0.0], 1));
                for (integer, found) in integers.iter().zip(found) {
                    let exact = f64::from(SCALE) * f64::from(*integer) * f64::from(x);
                    let rounding = f64::from(f32::EPSILON) / 2.0;
                    let bound = (exact.abs() + f64::from(SCALE) * offset * f64::from(x).abs())
                        * rounding
                        + 2.0 * f64::from(f32::from_bits(1));
                    let error = (f64::from(found) - exact).abs();
                    assert!(error <= bound, "{format:?}: {integer} * {x} is {exact}, not {found}");
                }
            }
        }
    }
}

#[test]
fn an_embedding_is_a_row_of_the_matrix() {
    let weights = Numbers::new(7, true).take(70 * 5);
    for format in FORMATS {
        let panels = pack(&weights, [70, 5], format);
        for (output, expected) in weights.chunks(5).enumerate() {
            let mut row = [0.0; 5];
            panels.row(output, &mut row);
            let expected: Vec<f32> = expected.iter().map(|x| stored(format, *x)).collect();
            assert_eq!(bits(&row), bits(&expected));
        }
    }
}

/// Its panels would be memory that nothing has written.
#[test]
#[should_panic(expected = "memory that nothing writes")]
fn a_matrix_that_is_not_read_is_refused() {
    struct Unread;
    impl kernels::StoredMatrix for Unread {
        fn precision(&self) -> Precision {
            Precision::F32
        }
        fn length(&self) -> usize {
            32 * 2 * size_of::<f32>()
        }
        fn bytes<'b>(&'b self, _: Range<usize>, _: &'b mut Vec<u8>) -> slowburn::Result<&'b [u8]> {
            Ok(&[])
        }
    }
    Panels::pack(&Unread, [32, 2], Precision::F32, &mut Arena::new(0)).unwrap();
}
