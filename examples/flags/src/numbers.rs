//! Numbers on a command line. Who gives another value is told which ones there are.

use std::fmt::Display;
use std::ops::{Bound, RangeBounds};

use bytesize::ByteSize;

/// Reads a whole number of this range: a parser for the values of a flag.
pub fn whole<N>(
    allowed: impl RangeBounds<u64>,
) -> impl Fn(&str) -> Result<N, String> + Clone + Send + Sync + 'static
where
    N: TryFrom<u64>,
{
    let (start, end) = (allowed.start_bound().cloned(), allowed.end_bound().cloned());
    move |text| {
        let number: Option<u64> = text.parse().ok();
        let Some(number) = number.filter(|number| (start, end).contains(number)) else {
            return Err(needed(start, end, is_too_large(text)));
        };
        N::try_from(number).map_err(|_| needed(start, end, true))
    }
}

/// What is needed in the place of a number that is none, or outside a range.
fn needed(start: Bound<u64>, end: Bound<u64>, is_too_large: bool) -> String {
    let least = match start {
        Bound::Included(least) => least,
        Bound::Excluded(least) => least.saturating_add(1),
        Bound::Unbounded => 0,
    };
    match end {
        Bound::Included(most) => format!("a whole number from {least} to {most} is needed"),
        Bound::Excluded(end) => {
            format!("a whole number from {least} to {} is needed", end.saturating_sub(1))
        }
        Bound::Unbounded if is_too_large => "a smaller whole number is needed".to_owned(),
        Bound::Unbounded => format!("a whole number of {least} or more is needed"),
    }
}

/// Whether a text that is no `u64` is a whole number all the same.
fn is_too_large(text: &str) -> bool {
    text.parse::<u64>().is_err()
        && !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Reads a number that may have a fraction: a parser for the values of a flag. `allowed` says which are
/// right, which is checked where the number is used.
pub fn number(
    allowed: impl Display,
) -> impl Fn(&str) -> Result<f32, String> + Clone + Send + Sync + 'static {
    let needed = format!("a number is needed, {allowed}");
    move |text| text.parse().map_err(|_| needed.clone())
}

/// Reads an amount of memory.
///
/// # Errors
/// What is none.
pub fn memory(text: &str) -> Result<ByteSize, String> {
    let needed = "an amount of memory is needed, such as 64MiB, 2GiB or 1000000 for bytes";
    text.trim().parse().map_err(|_| needed.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_number_is_one_of_its_range() {
        assert_eq!(whole::<usize>(1..)("1"), Ok(1));
        assert_eq!(whole::<u16>(..=65535)("65535"), Ok(65535));
        assert_eq!(whole::<u64>(..)("18446744073709551615"), Ok(u64::MAX));
        let needed = |text: &str| whole::<u32>(1..)(text).unwrap_err();
        for text in ["", "x", "-1", "0", "1.5", "1e3", " 1"] {
            assert_eq!(needed(text), "a whole number of 1 or more is needed", "{text:?}");
        }
        for text in ["4294967296", "18446744073709551616", &"9".repeat(1000)] {
            assert_eq!(needed(text), "a smaller whole number is needed");
        }
        for text in ["0", "65", "99999999999999999999", "x"] {
            assert_eq!(
                whole::<u64>(1..=64)(text).unwrap_err(),
                "a whole number from 1 to 64 is needed"
            );
        }
        assert_eq!(whole::<u8>(..7)("7").unwrap_err(), "a whole number from 0 to 6 is needed");
    }

    #[test]
    fn memory_has_a_unit_or_is_in_bytes() {
        for (text, bytes) in [
            ("64MiB", 64 << 20),
            ("1 GiB", 1 << 30),
            ("1.5kb", 1500),
            ("7", 7),
            ("0", 0),
        ] {
            assert_eq!(memory(text), Ok(ByteSize(bytes)), "{text}");
        }
        for text in ["", "x", "-1", "64 pounds", "1e400", "nan", "inf", "MiB"] {
            assert!(memory(text).unwrap_err().contains("such as 64MiB"), "{text}");
        }
    }
}
