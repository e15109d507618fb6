use super::*;

/// A matrix with a scale for each row and group of columns, whose codes take every value up to `most`.
fn matrix(
    values: [f32; 256],
    most: usize,
    columns: usize,
    scale: impl Fn(usize) -> f32,
    zero: Option<fn(usize) -> f32>,
) -> QuantizedMatrix {
    let (n_out, n_in) = (3, 96);
    let codes = (0..n_out * n_in).map(|i| ((i * i * 7 + i) % (most + 1)) as u8).collect();
    let scales: Vec<f32> = (0..n_out * n_in.div_ceil(columns)).map(scale).collect();
    let zeros = zero.map_or(Vec::new(), |zero| (0..scales.len()).map(zero).collect());
    let sharing = Sharing::Blocks { rows: 1, columns };
    QuantizedMatrix::new([n_out, n_in], codes, values, sharing, scales, zeros)
}

/// The weights of all rows, by number and by group.
fn check(matrix: &QuantizedMatrix, format: GroupFormat) {
    assert_eq!(matrix.group_format(), Some(format));
    for row in 0..3 {
        let mut numbers = vec![0; 4 * 96];
        matrix.read(row * 96, &mut numbers);
        let mut groups = [Group::ZERO; 3];
        matrix.read_groups(row, &mut groups);
        let numbers = numbers.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
        for (i, number) in numbers.enumerate() {
            let (group, k) = (&groups[i / GROUP], i % GROUP);
            let scale = group.scales[2 * k / GROUP];
            let value = scale * f32::from(group.integers[k]) - group.min;
            assert_eq!(value, number, "{format:?}, row {row}, number {i}");
        }
    }
}

#[test]
fn groups_hold_every_number() {
    let half = |i: usize| f16::from_f32(0.01 + i as f32 / 700.0).to_f32();
    // An eighth of the significant bits of f32, but an exponent that f16 does not have.
    let tiny = |i: usize| (1.0 + i as f32 / 128.0) * 2f32.powi(-40);
    let long = |i: usize| 0.01 + i as f32 / 700.0;
    let eight: Option<fn(usize) -> f32> = Some(|_| 8.0);
    let any: Option<fn(usize) -> f32> = Some(|i| (i % 17) as f32);
    check(&matrix(integers(-8), 15, 32, half, None), GroupFormat::Int4);
    check(&matrix(integers(-8), 15, 32, tiny, None), GroupFormat::Int4Min);
    check(&matrix(integers(-8), 15, 96, long, None), GroupFormat::Int8Min);
    check(&matrix(integers(0), 15, 32, half, eight), GroupFormat::Int4);
    check(&matrix(integers(0), 15, 32, half, any), GroupFormat::Int4Min);
    check(&matrix(integers(0), 15, 32, long, any), GroupFormat::Int8Min);
    check(&matrix(integers(0), 15, 48, half, None), GroupFormat::Int8Halves);
    check(&matrix(signed(), 255, 96, half, None), GroupFormat::Int8);
    check(&matrix(signed(), 255, 32, long, None), GroupFormat::Int8Min);
    check(
        &matrix(integers(0), 255, 32, half, Some(|i| (i * 50 % 256) as f32)),
        GroupFormat::Int8Min,
    );
    let power = |i: usize| 2f32.powi(i as i32 * 5 - 120);
    check(&matrix(e2m1(), 15, 32, power, None), GroupFormat::Mxfp4);
    check(&matrix(e2m1(), 15, 96, half, None), GroupFormat::Nvfp4);
    check(&matrix(e2m1(), 15, 16, long, None), GroupFormat::Nvfp4);
    // Columns, or scales and zeros, that no format has.
    assert_eq!(matrix(integers(-8), 15, 24, half, None).group_format(), None);
    assert_eq!(matrix(integers(0), 15, 16, half, any).group_format(), None);
    assert_eq!(matrix(integers(0), 255, 32, long, any).group_format(), None);
    assert_eq!(matrix(fp8::values(), 126, 16, half, None).group_format(), None);
    // One of these codes is no number.
    assert_eq!(matrix(fp8::values(), 130, 32, half, None).group_format(), None);
}

#[test]
fn groups_of_e4m3_have_its_codes() {
    let matrix = matrix(fp8::values(), 126, 32, |i| i as f32 / 3.0, None);
    assert_eq!(matrix.group_format(), Some(GroupFormat::Fp8));
    let mut groups = [Group::ZERO; 3];
    matrix.read_groups(2, &mut groups);
    assert_eq!(groups[1].scales[0], 256.0 * (7.0 / 3.0));
    assert_eq!(groups[1].integers.map(|code| code as u8), matrix.codes[2 * 96 + 32..][..32]);
}

#[test]
fn the_values_of_e4m3() {
    let values = fp8::values();
    let found = [0, 1, 7, 8, 56, 126, 184, 254].map(|code: usize| values[code]);
    assert_eq!(
        found,
        [
            0.0,
            2f32.powi(-9),
            0.013_671_875,
            2f32.powi(-6),
            1.0,
            448.0,
            -1.0,
            -448.0
        ]
    );
    assert!(values[127].is_nan() && values[255].is_nan());
}
