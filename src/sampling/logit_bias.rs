//! Logit bias: the caller makes single tokens more or less likely.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

/// Adds to the score of each token its bias, as OpenAI's API defines it: 100 all but forces a token,
/// and -100 all but bans it. The sum of a finite score and a bias is finite.
pub(super) fn apply(scores: &mut [f32], biases: &BTreeMap<u32, f32>) {
    for (&id, &bias) in biases {
        if let Some(score) = scores.get_mut(id as usize) {
            *score += bias;
        }
    }
}

/// Reads biases by token id. An id is a number or, as in JSON, whose keys are strings, its digits.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<BTreeMap<u32, f32>, D::Error> {
    from.deserialize_map(Biases)
}

/// Reads the map itself, because a flattened struct gives its keys as strings only.
struct Biases;

impl<'de> Visitor<'de> for Biases {
    type Value = BTreeMap<u32, f32>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a map from token ids to biases, such as {\"50256\": -100}")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut biases = BTreeMap::new();
        while let Some((TokenId(id), bias)) = map.next_entry()? {
            biases.insert(id, bias);
        }
        Ok(biases)
    }
}

struct TokenId(u32);

impl<'de> Deserialize<'de> for TokenId {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(TokenIdVisitor)
    }
}

struct TokenIdVisitor;

impl Visitor<'_> for TokenIdVisitor {
    type Value = TokenId;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a token id, as a number or a string of digits")
    }

    fn visit_u64<E: Error>(self, id: u64) -> Result<TokenId, E> {
        let wrong = || E::invalid_value(serde::de::Unexpected::Unsigned(id), &self);
        u32::try_from(id).map(TokenId).map_err(|_| wrong())
    }

    fn visit_str<E: Error>(self, digits: &str) -> Result<TokenId, E> {
        let wrong = || E::invalid_value(serde::de::Unexpected::Str(digits), &self);
        digits.parse().map(TokenId).map_err(|_| wrong())
    }
}
