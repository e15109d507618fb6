//! The exercises that compute with tensors. They need Burn, which takes minutes to compile, and so
//! are tests of their own: `cargo test -p tensor-exercises`.

#![allow(
    unused,
    clippy::all,
    reason = "a stub uses nothing yet, and a first attempt should meet its tests before it meets clippy"
)]

mod model {
    mod causal_attention;

    #[path = "../../suite/model/causal_attention.rs"]
    mod causal_attention_tests;

    mod causal_mask;

    #[path = "../../suite/model/causal_mask.rs"]
    mod causal_mask_tests;

    mod split_heads;

    #[path = "../../suite/model/split_heads.rs"]
    mod split_heads_tests;
}

mod kv_cache {
    mod cache_append;

    #[path = "../../suite/kv_cache/cache_append.rs"]
    mod cache_append_tests;

    mod attend_to_cache;

    #[path = "../../suite/kv_cache/attend_to_cache.rs"]
    mod attend_to_cache_tests;
}

#[path = "../suite/support/with_tensors.rs"]
mod support;
