//! Floating point in 8 and in 4 bits.

/// A format without infinities: a sign, an exponent and a fraction.
#[derive(Clone, Copy)]
pub struct SmallFloat {
    fraction_bits: i32,
    /// The exponent of the least number with a leading 1.
    least: i32,
    /// The greatest number.
    pub greatest: f32,
    /// The bit of the sign.
    sign: u8,
}

pub const E4M3: SmallFloat =
    SmallFloat { fraction_bits: 3, least: -6, greatest: 448.0, sign: 0x80 };
pub const E2M1: SmallFloat = SmallFloat { fraction_bits: 1, least: 0, greatest: 6.0, sign: 0x8 };

impl SmallFloat {
    /// The code of the number nearest to `x`; of two that are equally near, the even one.
    pub fn code(self, x: f32) -> u8 {
        let magnitude = x.abs().min(self.greatest);
        // Below the least exponent there is no leading 1, and numbers are as far apart as there.
        let exponent = exponent(magnitude).max(self.least);
        let steps = magnitude / power_of_two(exponent - self.fraction_bits);
        // Codes count these steps, from each power of two to the next.
        let powers = (exponent - self.least) << self.fraction_bits;
        let code = powers as u8 + steps.round_ties_even() as u8;
        if x < 0.0 { code | self.sign } else { code }
    }

    /// The bits of a code.
    pub fn bits(self) -> u32 {
        self.sign.ilog2() + 1
    }

    /// The number of a code that is not NaN's.
    pub fn number(self, code: u8) -> f32 {
        let steps = i32::from(code & (self.sign - 1));
        let leading = 1 << self.fraction_bits;
        let (exponent, steps) = match steps >> self.fraction_bits {
            0 => (self.least, steps),
            power => (self.least + power - 1, steps % leading + leading),
        };
        let magnitude = steps as f32 * power_of_two(exponent - self.fraction_bits);
        if code & self.sign == 0 {
            magnitude
        } else {
            -magnitude
        }
    }

    /// All numbers from the least to the greatest, with one 0.
    pub fn numbers(self) -> Vec<f32> {
        let magnitudes = (0..=self.code(self.greatest)).map(|code| self.number(code));
        let magnitudes: Vec<f32> = magnitudes.collect();
        let below = magnitudes[1..].iter().rev().map(|number| -number);
        below.chain(magnitudes.iter().copied()).collect()
    }
}

/// The greatest `e` with `2^e` at or below a magnitude; -127 for all below `2^-126`.
pub fn exponent(magnitude: f32) -> i32 {
    (magnitude.to_bits() >> 23) as i32 - 127
}

/// `2^exponent`, from -126 on.
pub fn power_of_two(exponent: i32) -> f32 {
    f32::from_bits(((exponent + 127) as u32) << 23)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_4_bits() {
        let numbers: Vec<f32> = (0..16).map(|code| E2M1.number(code)).collect();
        let (magnitudes, negative) = numbers.split_at(8);
        assert_eq!(magnitudes, [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]);
        assert!(magnitudes.iter().zip(negative).all(|(a, b)| *a == -b));
        assert_eq!(E2M1.numbers().len(), 15);
    }

    #[test]
    fn the_numbers_of_8_bits() {
        let found = [0x01, 0x07, 0x08, 0x38, 0x7e, 0xb8].map(|code| E4M3.number(code));
        assert_eq!(
            found,
            [
                2f32.powi(-9),
                0.013_671_875,
                2f32.powi(-6),
                1.0,
                448.0,
                -1.0
            ]
        );
        assert_eq!(E4M3.numbers().len(), 253);
    }

    #[test]
    fn the_nearest_number_is_found_and_ties_go_to_the_even_code() {
        for (float, last) in [(E4M3, 0x7e), (E2M1, 7)] {
            for code in 0..=last {
                assert_eq!(float.code(float.number(code)), code);
                assert_eq!(float.code(-float.number(code)) & !float.sign, code);
            }
            for code in 0..last {
                let [one, next] = [code, code + 1].map(|code| float.number(code));
                let middle = (one + next) / 2.0;
                let even = code + code % 2;
                let [below, above] =
                    [-1, 1].map(|by| f32::from_bits((middle.to_bits() as i32 + by) as u32));
                assert_eq!([below, middle, above].map(|x| float.code(x)), [code, even, code + 1]);
            }
            let beyond = [1.01 * float.greatest, 2.0 * float.greatest, f32::INFINITY];
            assert_eq!(beyond.map(|x| float.code(x)), [last; 3]);
        }
    }
}
