//! Checks the output length of format strings such as `'%5d'` and `'{:5}'` before formatting.

use minijinja::{Error, Value};

use super::budget::{Budget, refuse};

/// The most digits that a field's width may have.
const MAX_DIGITS: usize = 4;

/// Charges the work of formatting `values` into a format string.
pub(super) fn check_format(budget: &Budget, text: &Value, values: &[Value]) -> Result<(), Error> {
    let text = text.as_str().unwrap_or_default();
    let mut bytes: u64 = 0;
    for value in values {
        bytes += budget.weigh(value)?;
    }
    let places = text.matches(['%', '{']).count() as u64;
    budget.spend(text.len() as u64)?;
    budget.spend(places.saturating_mul(bytes + 10_u64.pow(MAX_DIGITS as u32)))?;
    if widest(text) <= MAX_DIGITS {
        Ok(())
    } else {
        Err(refuse("a field of its format is too wide"))
    }
}

/// The most digits of a width in any field. A width passed as a value counts as unbounded.
fn widest(text: &str) -> usize {
    let mut widest = 0;
    let mut rest = text;
    while let Some(start) = rest.find(['%', '{']) {
        let is_brace = rest[start..].starts_with('{');
        let inside = &rest[start + 1..];
        let (place, after) = match is_brace {
            // `{{` is an escaped brace.
            true if inside.starts_with('{') => ("", &inside[1..]),
            true => inside.split_at(inside.find('}').unwrap_or(inside.len())),
            false => {
                let named = inside.starts_with('(').then(|| inside.find(')')).flatten();
                let inside = &inside[named.map_or(0, |end| end + 1)..];
                let is_letter = |c: char| !c.is_ascii_digit() && !" #+-.*".contains(c);
                inside.split_at(inside.find(is_letter).unwrap_or(inside.len()))
            }
        };
        if place.contains(['*', '{']) {
            return usize::MAX;
        }
        let digits = place.split(|c: char| !c.is_ascii_digit()).map(str::len).max();
        widest = widest.max(digits.unwrap_or(0));
        rest = after;
    }
    widest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widest_place_is_found() {
        for (text, digits) in [
            ("no place for 123456", 0),
            ("%d of %05.2f", 2),
            ("%(name)12345d", 5),
            ("%s 123456", 0),
            ("%", 0),
            ("{} {0:12} {{123456}}", 2),
            ("{:>123456}", 6),
            ("{", 0),
            ("%*d", usize::MAX),
            ("{:{}}", usize::MAX),
        ] {
            assert_eq!(widest(text), digits, "{text}");
        }
    }
}
