//! From numbers to integers and a scale.

use half::f16;

use super::Quantized;

/// How the scale of a group is chosen. The integers are then the numbers divided by the scale,
/// rounded to nearest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Rounding {
    /// The scale that represents the number of greatest magnitude as the greatest integer.
    #[default]
    Nearest,
    /// Of several scales, that with the least squared error. For each set of integers, the best
    /// scale is the solution of a least-squares problem, as in llama.cpp's `make_qx_quants`. Loading
    /// takes several times as long.
    LeastSquares,
}

// ANCHOR: quantize
/// Quantizes a group of numbers: the scale, and the integers that it multiplies.
///
/// Numbers that are not finite have no place between integers: the whole group becomes NaN then.
pub fn quantize<const N: usize>(
    numbers: &[f32; N],
    format: Quantized,
    rounding: Rounding,
) -> (f16, [i8; N]) {
    // Magnitudes are compared by their bits, whose order is that of the numbers, with infinity and
    // NaN last: a comparison of numbers would forget a NaN, as it is neither less nor greater.
    let magnitude = |number: f32| number.abs().to_bits();
    let greatest = numbers.iter().copied().fold(0.0_f32, |greatest, number| {
        if magnitude(number) <= magnitude(greatest) {
            greatest
        } else {
            number
        }
    });
    if !greatest.is_finite() {
        return (f16::NAN, [1; N]);
    }
    let [least, most] = format.range().map(f32::from);
    // An asymmetric range has one more negative integer, which the greatest number gets.
    let end = if -least > most { least } else { most };
    let nearest = integers(numbers, greatest / end, format);
    match rounding {
        Rounding::Nearest => nearest,
        Rounding::LeastSquares => least_squares(numbers, greatest, format, nearest),
    }
}
// ANCHOR_END: quantize

// ANCHOR: integers
/// The scale, rounded to f16, and the integers nearest to the numbers divided by it.
fn integers<const N: usize>(numbers: &[f32; N], scale: f32, format: Quantized) -> (f16, [i8; N]) {
    let scale = f16::from_f32(scale);
    let inverse = match scale.to_f32() {
        0.0 => 0.0,
        scale => 1.0 / scale,
    };
    let [least, most] = format.range().map(f32::from);
    let integer = |number: f32| (number * inverse).round_ties_even().clamp(least, most) as i8;
    (scale, numbers.map(integer))
}
// ANCHOR_END: integers

fn least_squares<const N: usize>(
    numbers: &[f32; N],
    greatest: f32,
    format: Quantized,
    nearest: (f16, [i8; N]),
) -> (f16, [i8; N]) {
    /// Candidates on each side of the scale that the range suggests, and their distance, in
    /// integers.
    const CANDIDATES: i8 = 9;
    const DISTANCE: f32 = 0.1;
    let [least, most] = format.range().map(f32::from);
    let end = if -least > most { least } else { most };
    let mut best = nearest;
    let mut least_error = error(numbers, &best);
    for candidate in -CANDIDATES..=CANDIDATES {
        let end = end + f32::from(candidate) * DISTANCE;
        let (_, first) = integers(numbers, greatest / end, format);
        // The scale of least error for these integers, and the integers nearest to it.
        let (product, square) = numbers.iter().zip(first).fold((0.0, 0.0), |sums, (x, q)| {
            let q = f32::from(q);
            (sums.0 + x * q, sums.1 + q * q)
        });
        if square == 0.0 {
            continue;
        }
        let found = integers(numbers, product / square, format);
        let found_error = error(numbers, &found);
        if found_error < least_error {
            (best, least_error) = (found, found_error);
        }
    }
    best
}

/// The sum of the squared errors.
fn error<const N: usize>(numbers: &[f32; N], (scale, integers): &(f16, [i8; N])) -> f32 {
    let scale = scale.to_f32();
    let error = |(number, integer): (&f32, &i8)| (number - scale * f32::from(*integer)).powi(2);
    numbers.iter().zip(integers).map(error).sum()
}
