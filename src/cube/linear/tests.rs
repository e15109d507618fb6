//! Products and lookups on each device that this machine has, beside the same panels on the CPU.

use burn::tensor::{DType, Device, Int, Tensor, TensorData};

use crate::cube::devices;
use crate::kernels::{
    Arena, GROUP, Group, GroupFormat, PanelFormat, Panels, Precision, Quantized, Rounding,
};
use crate::model::linear::{DevicePanels, Linear, Weight};

const FORMATS: [PanelFormat; 8] = [
    PanelFormat::Dense(Precision::F32),
    PanelFormat::Dense(Precision::F16),
    PanelFormat::Dense(Precision::Bf16),
    PanelFormat::Quantized(GroupFormat::Int8),
    PanelFormat::Quantized(GroupFormat::Int4),
    PanelFormat::Quantized(GroupFormat::Int8Min),
    PanelFormat::Quantized(GroupFormat::Int4Min),
    PanelFormat::Quantized(GroupFormat::Int8Halves),
];

/// `[n_out, n_in]`: less than a panel and a group, one, one more, many, and more groups than slices.
const SHAPES: [[usize; 2]; 7] = [
    [1, 1],
    [31, 31],
    [32, 32],
    [33, 33],
    [65, 100],
    [7, 1100],
    [9, 1088],
];

/// Numbers from -1 to 1.
fn numbers(count: usize, seed: u64) -> Vec<f32> {
    let mut state = seed * 2 + 1;
    let next = |_| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..count).map(next).collect()
}

/// Panels of some matrix. Formats that only files have are made of whole groups: their `n_in` is
/// rounded up.
fn panels(format: PanelFormat, [n_out, n_in]: [usize; 2]) -> Panels {
    let weights = numbers(n_out * n_in, 7);
    match format {
        PanelFormat::Dense(format) => {
            Panels::pack(&&weights[..], [n_out, n_in], format, &mut Arena::new(0)).unwrap()
        }
        PanelFormat::Quantized(GroupFormat::Int8) => quantized(&weights, n_out, Quantized::Int8),
        PanelFormat::Quantized(GroupFormat::Int4) => quantized(&weights, n_out, Quantized::Int4),
        PanelFormat::Quantized(format) => {
            let shape = [n_out, n_in.next_multiple_of(GROUP)];
            let read_row = |row: usize, groups: &mut [Group]| {
                for (i, group) in groups.iter_mut().enumerate() {
                    *group = some_group(format, row * 100 + i);
                }
                Ok(())
            };
            Panels::from_groups(&read_row, shape, format, &mut Arena::new(0)).unwrap()
        }
    }
}

fn quantized(weights: &[f32], n_out: usize, format: Quantized) -> Panels {
    let shape = [n_out, weights.len() / n_out];
    Panels::quantize(&weights, shape, format, Rounding::Nearest, &mut Arena::new(0)).unwrap()
}

/// A group with every integer of the format, and scales that are not powers of 2.
fn some_group(format: GroupFormat, seed: usize) -> Group {
    let [first, second, min]: [f32; 3] = numbers(3, seed as u64).try_into().unwrap();
    let integer = |i: usize| (seed * 31 + i * 57) % 256;
    Group {
        scales: [first / 10.0, second / 10.0],
        min: if format == GroupFormat::Int8Halves {
            0.0
        } else {
            min
        },
        integers: std::array::from_fn(|i| match format.name() {
            "int4" => (integer(i) % 16) as i8,
            _ => integer(i) as u8 as i8,
        }),
    }
}

fn uploaded(panels: Panels, device: &Device, dtype: DType) -> DevicePanels {
    DevicePanels::upload(panels, device, dtype, false)
}

/// The matrix, as the CPU reads it: `[n_out][n_in]`.
fn rows_of(panels: &Panels) -> Vec<Vec<f32>> {
    let [n_out, n_in] = panels.shape();
    let row = |output| {
        let mut row = vec![0.0; n_in];
        panels.row(output, &mut row);
        row
    };
    (0..n_out).map(row).collect()
}

fn product(
    panels: &DevicePanels,
    x: &[f32],
    rows: usize,
    device: &Device,
    dtype: DType,
) -> Vec<f32> {
    let data = TensorData::new(x.to_vec(), [1, rows, x.len() / rows]);
    let x = Tensor::<3>::from_data(data, (device, dtype));
    panels.product(x).cast(DType::F32).try_into_vec_as::<f32>().unwrap()
}

fn lookup(panels: &DevicePanels, ids: &[i32], device: &Device) -> Vec<f32> {
    let ids = Tensor::<2, Int>::from_data(TensorData::new(ids.to_vec(), [1, ids.len()]), device);
    panels.rows(ids).try_into_vec_as::<f32>().unwrap()
}

/// Checks `[rows, n_out]` against the matrix times the rows of `x`, in f64.
fn check(found: &[f32], matrix: &[Vec<f32>], x: &[f32], tolerance: f64, what: &str) {
    let n_out = matrix.len();
    for (row, x) in x.chunks(matrix[0].len()).enumerate() {
        for (output, weights) in matrix.iter().enumerate() {
            let products = || weights.iter().zip(x).map(|(w, x)| f64::from(*w) * f64::from(*x));
            let (exact, size): (f64, f64) = (products().sum(), products().map(f64::abs).sum());
            let error = (f64::from(found[row * n_out + output]) - exact).abs();
            assert!(error <= tolerance * size, "{what}, row {row}, output {output}: {error:e}");
        }
    }
}

/// The weights are those of the CPU: the same bits, but where a format has a minimum, whose
/// difference the device may round once and not twice.
#[test]
fn a_lookup_gives_the_weights_of_the_cpu() {
    for device in devices() {
        for (format, shape) in
            FORMATS.iter().flat_map(|format| SHAPES.map(|shape| (*format, shape)))
        {
            let panels = panels(format, shape);
            let matrix = rows_of(&panels);
            let n_in = matrix[0].len();
            let ids: Vec<i32> = (0..matrix.len() as i32).rev().chain([0]).collect();
            let found = lookup(&uploaded(panels, &device, DType::F32), &ids, &device);
            for (id, found) in ids.iter().zip(found.chunks(n_in)) {
                let expected = &matrix[*id as usize];
                for (k, (found, expected)) in found.iter().zip(expected).enumerate() {
                    let is_exact = !format!("{format:?}").contains("Min");
                    let distance = if is_exact { 0.0 } else { 2e-6 };
                    let what = format!("{device:?}, {format:?}, {shape:?}, {id}, {k}");
                    assert!((found - expected).abs() <= distance, "{what}: {found} {expected}");
                }
            }
        }
    }
}

/// A scale may be a subnormal f16, 0, or NaN.
#[test]
fn scales_at_the_ends_of_f16() {
    for device in devices() {
        for format in [Quantized::Int8, Quantized::Int4] {
            for greatest in [1e-5, 4e-6, 7e-3, 6e-2, 3e5, 1e-9, 0.0, f32::NAN] {
                let weights =
                    numbers(2 * GROUP, 3).iter().map(|x| x * greatest).collect::<Vec<_>>();
                let panels = quantized(&weights, 2, format);
                let matrix = rows_of(&panels);
                let on_device = uploaded(panels, &device, DType::F32);
                let found = lookup(&on_device, &[0, 1], &device);
                let same = |(a, b): (&f32, &f32)| a == b || a.is_nan() && b.is_nan();
                let all = found.iter().zip(matrix.iter().flatten()).all(same);
                assert!(all, "{device:?}, {format:?}, {greatest}: {found:?} {matrix:?}");
                let y = product(&on_device, &[0.5; GROUP], 1, &device, DType::F32);
                assert_eq!(y[0].is_nan(), greatest.is_nan(), "{device:?}, {format:?}, {greatest}");
            }
        }
    }
}

#[test]
fn products_are_those_of_the_matrix() {
    for device in devices() {
        for (format, shape) in
            FORMATS.iter().flat_map(|format| SHAPES.map(|shape| (*format, shape)))
        {
            let panels = panels(format, shape);
            let matrix = rows_of(&panels);
            let on_device = uploaded(panels, &device, DType::F32);
            for rows in [1, 5, 70] {
                let x = numbers(rows * matrix[0].len(), 11);
                let found = product(&on_device, &x, rows, &device, DType::F32);
                let what = format!("{device:?}, {format:?}, {shape:?}");
                check(&found, &matrix, &x, 1e-6, &what);
            }
        }
    }
}

/// Sums are in f32, and only the result is rounded.
#[test]
fn activations_in_f16_are_rounded_once() {
    for device in devices().into_iter().filter(|device| device.supports_dtype(DType::F16)) {
        let panels = panels(PanelFormat::Quantized(GroupFormat::Int4), [40, 320]);
        let matrix = rows_of(&panels);
        let on_device = uploaded(panels, &device, DType::F16);
        let x: Vec<f32> =
            numbers(70 * 320, 5).iter().map(|x| half::f16::from_f32(*x).into()).collect();
        for rows in [1, 70] {
            let x = &x[..rows * 320];
            let found = product(&on_device, x, rows, &device, DType::F16);
            let rounding = 0.5 / 1024.0;
            check(&found, &matrix, x, rounding, &format!("{device:?}, {rows} rows"));
        }
    }
}

/// One row has the same bits alone and among others, at any place.
#[test]
fn the_bits_of_a_row_depend_on_no_other() {
    for device in devices() {
        for (format, shape) in
            FORMATS.iter().flat_map(|format| [[65, 100], [33, 1088]].map(|s| (*format, s)))
        {
            let panels = uploaded(panels(format, shape), &device, DType::F32);
            let [_, n_in] = shape;
            let n_in = match format {
                PanelFormat::Quantized(GroupFormat::Int8 | GroupFormat::Int4)
                | PanelFormat::Dense(_) => n_in,
                PanelFormat::Quantized(_) => n_in.next_multiple_of(GROUP),
            };
            let x = numbers(130 * n_in, 13);
            let alone = |row: usize| {
                let row = &x[row * n_in..(row + 1) * n_in];
                product(&panels, row, 1, &device, DType::F32)
            };
            let checked = [0, 1, 6, 32, 63, 64, 129].map(|row| (row, alone(row)));
            for rows in [2, 7, 33, 64, 65, 130] {
                let all = product(&panels, &x[..rows * n_in], rows, &device, DType::F32);
                let width = all.len() / rows;
                for (row, alone) in checked.iter().filter(|(row, _)| *row < rows) {
                    let found = &all[row * width..(row + 1) * width];
                    let bits = |row: &[f32]| row.iter().map(|y| y.to_bits()).collect::<Vec<_>>();
                    let what = format!("{device:?}, {format:?}, {shape:?}, row {row} of {rows}");
                    assert_eq!(bits(found), bits(alone), "{what}");
                }
            }
        }
    }
}

/// Matrices that are computed in one launch give what each gives alone.
#[test]
fn joined_matrices_are_those_apart() {
    for device in devices() {
        for format in [FORMATS[0], FORMATS[3], FORMATS[4]] {
            let linear = |n_out| {
                let panels = uploaded(panels(format, [n_out, 100]), &device, DType::F32);
                Linear { weight: Weight::Panels(panels), bias: None }
            };
            let [mut a, mut b, mut c] = [33, 1, 100].map(linear);
            for rows in [1, 3, 70] {
                let x = numbers(rows * 100, 17);
                let x = Tensor::<3>::from_data(TensorData::new(x, [1, rows, 100]), &device);
                let apart = [&a, &b, &c].map(|linear| bits(linear.forward(x.clone())));
                DevicePanels::join([&mut a, &mut b, &mut c]);
                let joined = Linear::each([&a, &b, &c], x.clone()).map(bits);
                let one_by_one = [&a, &b, &c].map(|linear| bits(linear.forward(x.clone())));
                assert_eq!(joined, apart, "{device:?}, {format:?}, {rows} rows");
                assert_eq!(one_by_one, apart, "{device:?}, {format:?}, {rows} rows");
                [a, b, c] = [33, 1, 100].map(linear);
            }
        }
    }
}

/// Where Burn multiplies, it gets all weights of a matrix.
#[test]
fn a_matrix_is_unpacked_whole() {
    for device in devices() {
        for format in FORMATS {
            let matrices = [33, 1, 100].map(|n_out| panels(format, [n_out, 96]));
            let expected = matrices.each_ref().map(rows_of);
            let linear = |panels| Linear {
                weight: Weight::Panels(uploaded(panels, &device, DType::F32)),
                bias: None,
            };
            let [mut a, mut b, mut c] = matrices.map(linear);
            DevicePanels::join([&mut a, &mut b, &mut c]);
            for (i, expected) in expected.iter().enumerate() {
                let Weight::Panels(panels) = &a.weight else {
                    panic!("not in panels");
                };
                let found = panels.unpacked(i).try_into_vec_as::<f32>().unwrap();
                let pairs = || found.iter().zip(expected.iter().flatten());
                assert_eq!(pairs().count(), expected.len() * 96);
                let what = format!("{device:?}, {format:?}, matrix {i}");
                assert!(pairs().all(|(a, b)| (a - b).abs() <= 2e-6), "{what}");
            }
        }
    }
}

fn bits(x: Tensor<3>) -> Vec<u32> {
    x.try_into_vec_as::<f32>().unwrap().into_iter().map(f32::to_bits).collect()
}
