//! The output of `10_kernels --bits`: how the order of a sum affects its bits.

use std::fmt::Write;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde_json::{Value, json};
use slowburn::generate::Generation;
use slowburn::kernels::{Layer, Panels, linear, sum_along_k};
use slowburn::model::Model;

use slowburn_examples::cli::{BOLD, DIM, Result, print};

use super::args::KernelArgs;

/// The number of sums to compare.
const SUMS: usize = 1024;

/// Lanes along `k`, as in registers of 128, 256 and 512 bits.
const LANES: [usize; 3] = [4, 8, 16];

/// A way to compute a text, and the hash of the text's logits.
pub struct SameBits {
    way: &'static str,
    hash: Option<String>,
}

impl SameBits {
    /// Takes the logits hash of a text that was generated in the way `way`.
    pub fn new(way: &'static str, text: &Generation) -> Self {
        Self { way, hash: text.logits_hash.clone() }
    }
}

/// The same sums in several orders.
struct Orders {
    /// Products per sum.
    products: usize,
    /// Summed by the microkernel: one lane per sum, from the first product to the last.
    across: Vec<f32>,
    /// Summed with [`LANES`] along `k`.
    along: [Vec<f32>; 3],
}

impl Orders {
    /// Random sums of `k` products.
    fn new(k: usize) -> Result<Self> {
        let (weights, x) = numbers(k);
        let panels = Panels::from_numbers(&weights, [SUMS, k])?;
        let [across] = linear([Layer { weights: &panels, bias: None }], &x, 1);
        let sums = |lanes| weights.chunks_exact(k).map(|row| sum_along_k(row, &x, lanes)).collect();
        Ok(Self { products: k, across, along: LANES.map(sums) })
    }

    /// The first sum in which all orders differ from the microkernel's.
    fn first_difference(&self) -> Option<usize> {
        (0..SUMS)
            .find(|&i| self.along.iter().all(|along| first_bit(along[i], self.across[i]).is_some()))
    }

    fn text(&self, out: &mut String) {
        let _ = writeln!(out, "{BOLD}{SUMS} sums of {} products{BOLD:#}\n", self.products);
        let Some(i) = self.first_difference() else {
            let _ = writeln!(out, "no sum differs in all orders");
            return;
        };
        let _ = writeln!(
            out,
            "{:<17}{:>13}  {:<34}  differs at",
            format!("sum number {i}"),
            "value",
            "sign, exponent, mantissa"
        );
        let across = self.across[i];
        let mut line = |order: &str, sum: f32| {
            let bit = first_bit(sum, across).map_or_else(String::new, name_of);
            let _ = writeln!(out, "{order:<17}{sum:>13.9}  {}  {bit}", binary(sum));
        };
        line("across outputs", across);
        for (lanes, along) in LANES.into_iter().zip(&self.along) {
            line(&format!("{lanes} lanes along k"), along[i]);
        }
        let _ = writeln!(out);
        for (lanes, along) in LANES.into_iter().zip(&self.along) {
            let (differ, most) = self.differences(along);
            let _ = writeln!(
                out,
                "{lanes:>2} lanes along k: {differ} of {SUMS} differ, by up to {most} units in the last place"
            );
        }
    }

    /// The number of sums that differ from the microkernel's, and the greatest difference in units
    /// in the last place.
    fn differences(&self, along: &[f32]) -> (usize, u32) {
        let pairs = || along.iter().zip(&self.across);
        let differ = pairs().filter(|(a, b)| a.to_bits() != b.to_bits()).count();
        // For floats of one sign, the bits as integers are ordered like the values.
        let same_sign = pairs().filter(|(a, b)| a.is_sign_positive() == b.is_sign_positive());
        let most = same_sign.map(|(a, b)| a.to_bits().abs_diff(b.to_bits())).max();
        (differ, most.unwrap_or(0))
    }

    fn json(&self) -> Value {
        let along = LANES.into_iter().zip(&self.along).map(|(lanes, along)| {
            let (differ, most) = self.differences(along);
            json!({ "lanes": lanes, "differ": differ, "most_units": most })
        });
        let example = self.first_difference().map(|i| {
            let order = |sum: f32| json!({ "bits": sum.to_bits(), "value": sum, "first_bit": first_bit(sum, self.across[i]) });
            let along: Vec<_> = self.along.iter().map(|along| order(along[i])).collect();
            json!({ "sum": i, "across": order(self.across[i]), "along": along })
        });
        json!({ "sums": SUMS, "products": self.products, "along_k": along.collect::<Vec<_>>(), "example": example })
    }
}

/// Random weights, `[SUMS, k]`, and what they are multiplied with, `[k]`.
fn numbers(k: usize) -> (Vec<f32>, Vec<f32>) {
    let mut generator = ChaCha8Rng::seed_from_u64(0);
    let mut draw = |count: usize| -> Vec<f32> {
        let number = |_| (generator.next_u32() >> 8) as f32 / (1 << 23) as f32 - 1.0;
        (0..count).map(number).collect()
    };
    (draw(SUMS * k), draw(k))
}

/// The name of a bit of an f32, counted from the most significant.
fn name_of(bit: usize) -> String {
    match bit {
        0 => "sign".to_owned(),
        1..=8 => format!("exponent {bit}"),
        _ => format!("mantissa {}", bit - 8),
    }
}

/// The most significant bit in which two numbers differ.
fn first_bit(a: f32, b: f32) -> Option<usize> {
    let differ = a.to_bits() ^ b.to_bits();
    (differ != 0).then(|| differ.leading_zeros() as usize)
}

fn binary(number: f32) -> String {
    let bits = format!("{:032b}", number.to_bits());
    format!("{} {} {}", &bits[..1], &bits[1..9], &bits[9..])
}

/// Compares several summation orders, for sums as long as the longest of `model`. Prints the
/// comparison, and the hashes of several `ways` to compute one text.
///
/// # Errors
/// A closed standard output.
pub fn bits(args: &KernelArgs, model: &Model, ways: &[SameBits]) -> Result<()> {
    let orders = model.cpu().enter(|| Orders::new(model.config().d_ff))?;
    let mut out = String::new();
    orders.text(&mut out);
    let _ = writeln!(out, "\n{BOLD}The logits of one text, hashed{BOLD:#}\n");
    for SameBits { way, hash } in ways {
        let hash = hash.as_deref().unwrap_or_default();
        let _ = writeln!(out, "{way:<26}{}{DIM}...{DIM:#}", hash.get(..32).unwrap_or(hash));
    }
    let way = |SameBits { way, hash }: &SameBits| json!({ "way": way, "logits_hash": hash });
    let json = json!({
        "orders": orders.json(),
        "ways": ways.iter().map(way).collect::<Vec<_>>(),
    });
    print(args.json, &json, &out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_counted_from_the_left() {
        assert_eq!(first_bit(1.0, 1.0), None);
        assert_eq!(first_bit(1.0, -1.0), Some(0));
        assert_eq!(name_of(first_bit(1.0, 1.0 + f32::EPSILON).unwrap()), "mantissa 23");
        assert_eq!(binary(1.0), "0 01111111 00000000000000000000000");
    }

    /// With one lane along `k`, the order is that of the microkernel within each lane.
    #[test]
    fn the_microkernel_adds_from_the_first_product_to_the_last() {
        for k in [1, 7, 64, 200] {
            let orders = Orders::new(k).unwrap();
            let (weights, x) = numbers(k);
            for (row, across) in weights.chunks_exact(k).zip(&orders.across) {
                assert_eq!(sum_along_k(row, &x, 1).to_bits(), across.to_bits());
            }
        }
    }
}
