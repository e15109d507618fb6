//! A token may end inside a character.

use std::ops::RangeInclusive;

/// A grammar speaks of characters, and a token may end inside one. So is a token allowed? Decide
/// whether it may come next in a text whose characters all have to be in `allowed`.
///
/// - `pending` are the bytes behind the last whole character of the text: none, or the incomplete
///   beginning of an allowed character.
/// - With the bytes of the token behind them, there must be a way to a text of allowed characters.
///   So these bytes are allowed characters, and behind them perhaps the beginning of one more.
/// - A token may hold any bytes: alone it may not be UTF-8.
///
/// ```text
/// allowed  'à' to 'ÿ', whose bytes are c3 a0 to c3 bf
///
/// pending -     token c3       true      the beginning of all of them
/// pending c3    token a9       true      é
/// pending c3    token a9 c3    true      é, and a beginning
/// pending c3    token 80       false     À
/// pending -     token c2       false     begins other characters
/// ```
pub fn partial_character(pending: &[u8], token: &[u8], allowed: &RangeInclusive<char>) -> bool {
    todo!()
}
