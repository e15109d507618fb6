//! Every kernel, with every instruction set and number of threads, against a specification that
//! is written here in plain loops: bit by bit, on all small sizes, with subnormal, huge, infinite
//! and NaN inputs.

use half::{bf16, f16};
use slowburn::kernels::{
    self, Activations, Arena, BLOCK, Bend, Block, BlockLayout, Cpu, Format, GROUP, KvFormat, Layer,
    Panels, Quantized, Queries, Rounding, Scoring, Simd,
};

const FORMATS: [Format; 3] = [Format::F32, Format::F16, Format::Bf16];
const KV_FORMATS: [KvFormat; 4] = [KvFormat::F32, KvFormat::F16, KvFormat::Bf16, KvFormat::Int8];

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
fn stored(format: Format, number: f32) -> f32 {
    match format {
        Format::F32 => number,
        Format::F16 => f16::from_f32(number).to_f32(),
        Format::Bf16 => bf16::from_f32(number).to_f32(),
    }
}

/// What the keys or values of one head become when they are stored.
fn kept(format: KvFormat, numbers: &[f32]) -> Vec<f32> {
    let numbers_in = |format| numbers.iter().map(|number| stored(format, *number)).collect();
    match format {
        KvFormat::F32 => numbers_in(Format::F32),
        KvFormat::F16 => numbers_in(Format::F16),
        KvFormat::Bf16 => numbers_in(Format::Bf16),
        KvFormat::Int8 => numbers.chunks(16).flat_map(kept_in_int8).collect(),
    }
}

/// A group of keys or values, with the greatest magnitude as 127.
fn kept_in_int8(group: &[f32]) -> Vec<f32> {
    let greatest = group.iter().fold(0.0f32, |greatest, number| greatest.max(number.abs()));
    let scale = f16::from_f32(greatest / 127.0).to_f32();
    let kept = |number: &f32| scale * (number / scale).round().clamp(-127.0, 127.0);
    group.iter().map(kept).collect()
}

fn pack(weights: &[f32], shape: [usize; 2], format: Format) -> Panels {
    in_file(weights, |matrix| {
        Panels::pack(matrix, shape, format, &mut Arena::new(0)).unwrap()
    })
}

fn quantize(weights: &[f32], shape: [usize; 2], format: Quantized, rounding: Rounding) -> Panels {
    in_file(weights, |matrix| {
        Panels::quantize(matrix, shape, format, rounding, &mut Arena::new(0)).unwrap()
    })
}

/// Calls a function with a matrix as a file stores it, in f32.
fn in_file<T>(weights: &[f32], use_matrix: impl FnOnce(&kernels::StoredMatrix<'_>) -> T) -> T {
    let bytes: Vec<u8> = weights.iter().flat_map(|number| number.to_le_bytes()).collect();
    let read = |range: std::ops::Range<usize>, use_bytes: &mut dyn FnMut(&[u8])| {
        use_bytes(&bytes[range]);
        Ok(())
    };
    use_matrix(&kernels::StoredMatrix {
        format: Format::F32,
        length: bytes.len(),
        is_transposed: false,
        read: &read,
    })
}

/// All NaNs are one: which of two that meet survives differs between processors.
fn bits(numbers: &[f32]) -> Vec<u32> {
    let bits = |number: &f32| if number.is_nan() { f32::NAN } else { *number }.to_bits();
    numbers.iter().map(bits).collect()
}

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
                    for rows in 1..=14 {
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
        pack(&weights, [n_out, n_in], Format::F32),
        quantized(Quantized::Int4),
        quantized(Quantized::Int8).with_activations(Activations::Int8),
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
    use kernels::{Group, GroupFormat};
    let formats = [
        (GroupFormat::Int8, -128, 127, 1, false, 0.0),
        (GroupFormat::Int4, -8, 7, 1, false, 24.0),
        (GroupFormat::Int8Min, 0, 31, 1, true, 0.0),
        (GroupFormat::Int4Min, 0, 15, 1, true, 16.0),
        (GroupFormat::Int8Halves, -32, 31, 2, false, 0.0),
    ];
    let cpus = cpus();
    for (format, least, most, parts, has_min, offset) in formats {
        for (n_out, n_in) in [(1, 32), (33, 64), (70, 96)] {
            let mut numbers = Numbers::new((n_out * n_in) as u64, false);
            let mut group = || {
                let mut scale = || {
                    let scale = numbers.next();
                    match format {
                        GroupFormat::Int8 | GroupFormat::Int4 => f16::from_f32(scale).to_f32(),
                        _ => scale,
                    }
                };
                let scales = [scale(), scale()];
                let min = if has_min { numbers.next() } else { 0.0 };
                let width = (most - least + 1) as f32;
                let mut integer = |_| (least as f32 + (numbers.next().abs() * width)) as i16 as i8;
                Group { scales, min, integers: std::array::from_fn(&mut integer) }
            };
            let rows: Vec<Vec<Group>> =
                (0..n_out).map(|_| (0..n_in / GROUP).map(|_| group()).collect()).collect();
            let read_row = |output: usize, groups: &mut [Group]| {
                groups.copy_from_slice(&rows[output]);
                Ok(())
            };
            let stored = kernels::StoredGroups { format, read_row: &read_row };
            let panels = Panels::from_groups(&stored, [n_out, n_in], &mut Arena::new(0)).unwrap();
            let scale = |group: &Group, k: usize| group.scales[k * parts / GROUP];
            for (output, groups) in rows.iter().enumerate() {
                let mut found = vec![0.0; n_in];
                panels.row(output, &mut found);
                let value = |i: usize| {
                    let (group, k) = (&groups[i / GROUP], i % GROUP);
                    scale(group, k) * f32::from(group.integers[k]) - group.min
                };
                assert_eq!(bits(&found), bits(&(0..n_in).map(value).collect::<Vec<_>>()));
            }
            for count in [1, 2, 5, 13] {
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
                                    sum = (f32::from(*integer) + offset).mul_add(*x, sum);
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
                    for bend in [Bend::Silu, Bend::Gelu, Bend::GeluTanh] {
                        all.push(change(&|x| kernels::bend(x, bend)));
                        all.push(change(&|x| kernels::bend_times(x, &up, bend)));
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

/// Attention as its formula says, in f64.
fn attend(q: &[f32], keys: &[Vec<f32>], values: &[Vec<f32>]) -> Vec<f64> {
    let dot = |a: &[f32], b: &[f32]| {
        let products = a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b));
        products.sum::<f64>() / (a.len() as f64).sqrt()
    };
    let scores: Vec<f64> = keys.iter().map(|key| dot(q, key)).collect();
    let greatest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = scores.iter().map(|score| (score - greatest).exp()).collect();
    let sum: f64 = weights.iter().sum();
    let mean = |i: usize| {
        let terms = weights.iter().zip(values).map(|(w, value)| w / sum * f64::from(value[i]));
        terms.sum()
    };
    (0..q.len()).map(mean).collect()
}

#[test]
fn attention_is_near_its_formula_and_the_same_everywhere() {
    let cpus = cpus();
    for (n_heads, n_kv_heads, head_dim) in [(3, 1, 8), (4, 2, 48), (2, 2, 16), (9, 3, 64)] {
        for format in KV_FORMATS {
            let layout = BlockLayout { n_layers: 2, n_kv_heads, head_dim, format };
            let (length, layer) = (300, 1);
            let width = n_kv_heads * head_dim;
            let mut numbers = Numbers::new((n_heads * head_dim) as u64, false);
            let mut blocks: Vec<Block> =
                (0..length / BLOCK + 1).map(|_| Block::new(layout)).collect();
            let (mut all_keys, mut all_values) = (Vec::new(), Vec::new());
            for position in 0..length {
                let (keys, values) = (numbers.take(width), numbers.take(width));
                blocks[position / BLOCK].write(layer, position % BLOCK, &keys, &values);
                let kept = |x: &[f32]| -> Vec<f32> {
                    x.chunks(head_dim).flat_map(|head| kept(format, head)).collect()
                };
                all_keys.push(kept(&keys).iter().map(|x| 4.0 * x).collect::<Vec<_>>());
                all_values.push(kept(&values));
            }
            for (start, rows) in [(0, 1), (0, 70), (31, 2), (250, 13), (299, 1)] {
                let q: Vec<f32> = numbers.take(rows * n_heads * head_dim);
                let q: Vec<f32> = q.iter().map(|q| 4.0 * q).collect();
                let scoring = Scoring::new(head_dim);
                let run = |cpu: &Cpu| {
                    let blocks = blocks.iter().collect();
                    let queries = Queries { blocks, first_block: 0, start, rows: 0..rows };
                    cpu.enter(|| {
                        kernels::attention(&q, n_heads, layer, layout, scoring, &[queries])
                    })
                };
                let reference = run(cpus.last().unwrap());
                for cpu in &cpus {
                    let what = format!("{cpu:?} {format:?}, {rows} rows from {start}");
                    assert_eq!(bits(&run(cpu)), bits(&reference), "{what}");
                }
                for (i, found) in reference.chunks(head_dim).enumerate() {
                    let (row, head) = (i / n_heads, i % n_heads * n_kv_heads / n_heads);
                    let part = |all: &[Vec<f32>], scale: f32| -> Vec<Vec<f32>> {
                        let visible = all[..=start + row].iter();
                        let of_head = |x: &Vec<f32>| {
                            let x = &x[head * head_dim..(head + 1) * head_dim];
                            x.iter().map(|x| x * scale).collect()
                        };
                        visible.map(of_head).collect()
                    };
                    let q = &q[i * head_dim..(i + 1) * head_dim];
                    let expected = attend(q, &part(&all_keys, 0.25), &part(&all_values, 1.0));
                    for (found, expected) in found.iter().zip(expected) {
                        assert!((f64::from(*found) - expected).abs() < 1e-5, "{found} {expected}");
                    }
                }
            }
        }
    }
}

/// Blocks behind the window need not be there, and a row has the same bits alone and among others.
#[test]
fn a_window_reads_its_tiles_only() {
    let layout = BlockLayout {
        n_layers: 1,
        n_kv_heads: 1,
        head_dim: 16,
        format: KvFormat::F32,
    };
    const POSITIONS: usize = 700;
    let mut numbers = Numbers::new(12, false);
    let (mut keys, mut values) = (Vec::new(), Vec::new());
    let mut blocks: Vec<Block> = (0..POSITIONS.div_ceil(32)).map(|_| Block::new(layout)).collect();
    for position in 0..POSITIONS {
        let (key, value) = (numbers.take(16), numbers.take(16));
        blocks[position / 32].write(0, position % 32, &key, &value);
        keys.push(key);
        values.push(value);
    }
    let q: Vec<f32> = numbers.take(POSITIONS * 2 * 16);
    for window in [1, 8, 31, 32, 33, 100, 256, 300, 699] {
        let scoring = Scoring { window: Some(window), ..Scoring::new(16) };
        let run = |cpu: &Cpu, rows: std::ops::Range<usize>| {
            let first_block = (rows.start + 1).saturating_sub(window) / 32;
            let kept = blocks[first_block..].iter().collect();
            let count = rows.len();
            let queries = Queries { blocks: kept, first_block, start: rows.start, rows: 0..count };
            let q = &q[rows.start * 32..rows.end * 32];
            cpu.enter(|| kernels::attention(q, 2, 0, layout, scoring, &[queries]))
        };
        let cpus = cpus();
        let whole = run(&cpus[0], 0..POSITIONS);
        for cpu in &cpus {
            for rows in [0..40, 250..263, 300..301, 640..700, 699..700] {
                let expected = &whole[rows.start * 32..rows.end * 32];
                assert_eq!(bits(&run(cpu, rows.clone())), bits(expected), "{window} {rows:?}");
            }
        }
        for (i, found) in whole.chunks(16).enumerate().step_by(97) {
            let position = i / 2;
            let seen = (position + 1).saturating_sub(window)..position + 1;
            let q = &q[i * 16..(i + 1) * 16];
            let expected = attend(q, &keys[seen.clone()], &values[seen]);
            for (found, expected) in found.iter().zip(expected) {
                assert!((f64::from(*found) - expected).abs() < 1e-5, "{found} {expected}");
            }
        }
    }
}

/// A value that is infinite, or not a number, reaches those that may look at it and no other.
#[test]
fn what_comes_later_is_not_seen() {
    let layout = BlockLayout {
        n_layers: 1,
        n_kv_heads: 1,
        head_dim: 16,
        format: KvFormat::F32,
    };
    let mut numbers = Numbers::new(11, false);
    let mut block = Block::new(layout);
    for position in 0..20 {
        let (keys, mut values) = (numbers.take(16), numbers.take(16));
        if position >= 10 {
            values[3] = f32::INFINITY;
            values[4] = f32::NAN;
        }
        block.write(0, position, &keys, &values);
    }
    let q = numbers.take(20 * 16);
    for cpu in cpus() {
        let queries = Queries { blocks: vec![&block], first_block: 0, start: 0, rows: 0..20 };
        let scoring = Scoring::new(16);
        let found = cpu.enter(|| kernels::attention(&q, 1, 0, layout, scoring, &[queries]));
        for (position, row) in found.chunks(16).enumerate() {
            assert_eq!(row[3].is_finite(), position < 10, "{cpu:?}, {position}");
            assert_eq!(row[4].is_nan(), position >= 10, "{cpu:?}, {position}");
        }
    }
}

/// Two threads would write to it.
#[test]
#[should_panic(expected = "no row in two of them")]
fn a_row_of_two_sequences_is_refused() {
    let layout = BlockLayout {
        n_layers: 1,
        n_kv_heads: 1,
        head_dim: 16,
        format: KvFormat::F32,
    };
    let block = Block::new(layout);
    let sequence = |rows| Queries { blocks: vec![&block], first_block: 0, start: 0, rows };
    let sequences = [sequence(0..2), sequence(1..3)];
    kernels::attention(&[0.0; 3 * 16], 1, 0, layout, Scoring::new(16), &sequences);
}

/// Its panels would be memory that nothing has written.
#[test]
#[should_panic(expected = "must call the function")]
fn a_matrix_that_is_not_read_is_refused() {
    let stored = kernels::StoredMatrix {
        format: Format::F32,
        length: 32 * 2 * size_of::<f32>(),
        is_transposed: false,
        read: &|_, _| Ok(()),
    };
    Panels::pack(&stored, [32, 2], Format::F32, &mut Arena::new(0)).unwrap();
}
