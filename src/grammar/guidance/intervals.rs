//! Regular expressions of the decimal numbers between two integers, of any size.

/// A number that others are above or, unless it is open, equal to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Limit {
    pub(super) at: i128,
    pub(super) is_open: bool,
}

impl Limit {
    /// The limit of whole numbers, which has none that is open.
    fn of_integers(self) -> Self {
        Self { at: self.at + i128::from(self.is_open), is_open: false }
    }
}

/// The numbers above `low` whose negatives are above `high`. None if there are no such numbers.
pub(super) fn between(low: Option<Limit>, high: Option<Limit>, is_integer: bool) -> Option<String> {
    let limit = |limit: Limit| {
        if is_integer {
            limit.of_integers()
        } else {
            limit
        }
    };
    let (low, high) = (low.map(limit), high.map(limit));
    let above_zero = if is_integer { whole_numbers } else { numbers };
    let negative = above_zero(high, low).map(|magnitudes| format!("-{magnitudes}"));
    any(negative.into_iter().chain(above_zero(low, high)).collect())
}

/// The whole numbers from 0 on between limits that are not open.
fn whole_numbers(low: Option<Limit>, high: Option<Limit>) -> Option<String> {
    integers(low.map_or(0, |low| low.at.max(0)), high.map(|high| -high.at))
}

/// Numbers below this one may have a fraction of up to six digits, and no other has one. So readers that take a
/// number for a float of 64 bits never see it on the other side of a limit.
const FRACTIONS: i128 = 1_000_000_000;

/// The numbers from 0 on between limits.
fn numbers(low: Option<Limit>, high: Option<Limit>) -> Option<String> {
    let low = low.filter(|low| low.at >= 0).unwrap_or(Limit { at: 0, is_open: false });
    let first = low.of_integers().at;
    let last = high.map(|high| -high.of_integers().at);
    let end = high.map_or(FRACTIONS, |high| FRACTIONS.min(-high.at));
    let whole = integers(first, last);
    let broken = integers(first, Some(end - 1)).map(|whole| format!(r"{whole}\.[0-9]{{1,6}}"));
    let above_low =
        (low.is_open && low.at < end).then(|| format!(r"{}\.[0-9]{{0,5}}[1-9]", low.at));
    any([whole, broken, above_low].into_iter().flatten().collect())
}

/// The integers from `low` to `high`, of which none is negative.
fn integers(mut low: i128, high: Option<i128>) -> Option<String> {
    if high.is_some_and(|high| high < low) {
        return None;
    }
    let mut parts = Vec::new();
    loop {
        let digits = low.to_string();
        let count = digits.len();
        match high.map(|high| high.to_string()).filter(|high| high.len() == count) {
            Some(high) => {
                parts.push(of_one_length(digits.as_bytes(), high.as_bytes()));
                break;
            }
            None => parts.push(of_one_length(digits.as_bytes(), &vec![b'9'; count])),
        }
        if high.is_none() {
            parts.push(format!("[1-9][0-9]{{{count},}}"));
            break;
        }
        low = 10_i128.pow(count as u32);
    }
    any(parts)
}

/// The numbers between two with the same number of digits, with leading zeros where they have them.
fn of_one_length(low: &[u8], high: &[u8]) -> String {
    let (Some((&first, low)), Some((&last, high))) = (low.split_first(), high.split_first()) else {
        return String::new();
    };
    if first == last {
        return format!("{}{}", first as char, of_one_length(low, high));
    }
    let (zeros, nines) = (vec![b'0'; low.len()], vec![b'9'; low.len()]);
    let (mut from, mut to, mut parts) = (first, last, Vec::new());
    if low != zeros {
        parts.push(format!("{}{}", first as char, of_one_length(low, &nines)));
        from += 1;
    }
    if high != nines {
        parts.push(format!("{}{}", last as char, of_one_length(&zeros, high)));
        to -= 1;
    }
    if from <= to {
        let rest = "[0-9]".repeat(low.len());
        parts.push(format!("[{}-{}]{rest}", from as char, to as char));
    }
    any(parts).unwrap_or_default()
}

fn any(parts: Vec<String>) -> Option<String> {
    (!parts.is_empty()).then(|| format!("({})", parts.join("|")))
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::*;

    fn is_within(limit: Option<Limit>, tenths: i128) -> bool {
        limit
            .is_none_or(|limit| tenths > limit.at * 10 || !limit.is_open && tenths == limit.at * 10)
    }

    /// All limits in a small range, beside numbers with and without a fraction.
    #[test]
    fn an_interval_has_its_numbers_and_no_others() {
        let limits: Vec<Option<Limit>> = [-120, -100, -99, -11, -10, -3, -1, 0, 1, 9, 10, 12, 101]
            .into_iter()
            .flat_map(|at| [false, true].map(|is_open| Some(Limit { at, is_open })))
            .chain([None])
            .collect();
        for &low in &limits {
            for &high in &limits {
                for is_integer in [true, false] {
                    check(low, high, is_integer);
                }
            }
        }
    }

    fn check(low: Option<Limit>, high: Option<Limit>, is_integer: bool) {
        let found = between(low, high, is_integer);
        let regex = found.as_ref().map(|found| Regex::new(&format!("^({found})$")).unwrap());
        for tenths in -1300..1300_i128 {
            let text = format!(
                "{}{}{}",
                if tenths < 0 { "-" } else { "" },
                tenths.abs() / 10,
                match tenths.abs() % 10 {
                    0 => String::new(),
                    fraction => format!(".{fraction}"),
                }
            );
            let is_kind = !is_integer || tenths % 10 == 0;
            let expected = is_kind && is_within(low, tenths) && is_within(high, -tenths);
            let is_match = regex.as_ref().is_some_and(|regex| regex.is_match(&text));
            assert_eq!(is_match, expected, "{text} in {low:?}, -{high:?}: {found:?}");
        }
    }

    #[test]
    fn an_interval_may_be_as_large_as_it_likes() {
        let limit = |at| Some(Limit { at, is_open: false });
        for (low, high) in [
            (9_007_199_254_740_993, 9_007_199_254_740_995),
            (i128::from(i64::MIN), i128::from(i64::MAX)),
            (18_446_744_073_709_551_614, i128::from(u64::MAX)),
            (-i128::from(u64::MAX), -12_345_678_901_234_567),
        ] {
            let found = between(limit(low), limit(-high), true).unwrap();
            let regex = Regex::new(&format!("^({found})$")).unwrap();
            for around in [low, high, low * 10, high * 10] {
                for number in around - 1..=around + 1 {
                    let expected = (low..=high).contains(&number);
                    assert_eq!(regex.is_match(&number.to_string()), expected, "{number}: {found}");
                }
            }
        }
        assert_eq!(between(limit(1), limit(0), true), None);
    }
}
