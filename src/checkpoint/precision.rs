//! The format that a checkpoint's numbers have.

use burn::tensor::DType;

use crate::storage::Precision;

/// Of F32, F16 and BF16, the one that most numbers have: `types` are those of the tensors, with the
/// number of their elements.
///
/// A checkpoint may be in bf16 with some small tensors in f32. Where two formats have as many, the
/// wider one is taken.
pub fn most(types: impl IntoIterator<Item = (DType, usize)>) -> Precision {
    let mut counts = [Precision::F32, Precision::Bf16, Precision::F16].map(|format| (format, 0));
    for (dtype, numbers) in types {
        for (format, count) in &mut counts {
            if Precision::of(dtype) == *format {
                *count += numbers as u128;
            }
        }
    }
    let [mut most, others @ ..] = counts;
    for other in others {
        if other.1 > most.1 {
            most = other;
        }
    }
    most.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_numbers_decide_and_the_wider_format_where_there_are_as_many() {
        assert_eq!(most([(DType::BF16, 100), (DType::F32, 99), (DType::BF16, 1)]), Precision::Bf16);
        assert_eq!(most([(DType::F16, 3), (DType::F32, 2)]), Precision::F16);
        assert_eq!(most([(DType::F16, 3), (DType::F32, 3)]), Precision::F32);
        assert_eq!(most([]), Precision::F32);
    }
}
