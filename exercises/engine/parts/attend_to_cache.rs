use your_engine::Parts;

use super::attend_to_cache::attend_to_cache;
use crate::tensors::{heads, tensor};

pub fn take_over(parts: &mut Parts) {
    parts.attend_to_cache = Some(|queries, keys, values| {
        let queries: Vec<_> = queries.iter().map(|query| vec![query.clone()]).collect();
        heads(attend_to_cache(tensor(&queries), tensor(keys), tensor(values))).concat()
    });
}
