// The parts of the engine, first the ones for one text, in the order in which it meets them. The build
// script, the runner and the engine include this file.

/// A part of the engine that an exercise takes over.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// The exercise whose functions it is made of.
    pub exercise: &'static str,
    /// The module of its chapter.
    pub chapter: &'static str,
    /// What it does.
    pub does: &'static str,
    /// Whether the exercise needs Burn.
    pub tensors: bool,
    /// From where on it is used.
    pub since: Since,
}

/// What an engine writes that has the part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    OneText,
    SeveralTexts,
    Guesses,
    Regex,
    Units,
    OtherModel,
    Http,
    Replicas,
}

const fn part(exercise: &'static str, chapter: &'static str, does: &'static str) -> Part {
    Part {
        exercise,
        chapter,
        does,
        tensors: false,
        since: Since::OneText,
    }
}

const fn with_tensors(part: Part) -> Part {
    Part { tensors: true, ..part }
}

const fn since(since: Since, part: Part) -> Part {
    Part { since, ..part }
}

pub const PARTS: [Part; 49] = [
    part("merge", "tokens", "words to tokens"),
    part("chunked_prefill", "kv_cache", "the prompt, in chunks"),
    part("rms_norm", "model", "RMSNorm"),
    part("microkernel", "kernels", "products, panel by panel"),
    with_tensors(part("split_heads", "model", "one wide vector to heads, and back")),
    part("rope", "model", "positions as rotations"),
    with_tensors(part("cache_append", "kv_cache", "keys and values, kept")),
    with_tensors(part("causal_mask", "model", "who may see what")),
    part("grouped_query_attention", "model", "attention"),
    with_tensors(part("attend_to_cache", "kv_cache", "attention of a single token")),
    part("swiglu", "model", "the feed-forward network"),
    part("last_row", "naive_loop", "the logits that count"),
    part("at_temperature", "temperature", "logits to probabilities"),
    part("nucleus", "top_p", "top-p"),
    part("draw", "top_k", "one token, drawn"),
    part("generate", "naive_loop", "the loop, and when it ends"),
    part("incremental_decode", "streaming", "bytes to characters"),
    part("stop_strings", "streaming", "texts that end a story"),
    part("token_stream", "streaming", "from the model to the reader"),
    part("detokenize", "tokens", "ids to text, at the end"),
    since(Since::SeveralTexts, part("one_step", "scheduler", "the plan of a step")),
    since(
        Since::SeveralTexts,
        part("longest_prefix", "paged_kv", "prefixes that are there already"),
    ),
    since(
        Since::SeveralTexts,
        part("block_allocator", "paged_kv", "who holds which block"),
    ),
    since(Since::SeveralTexts, part("preemption", "scheduler", "who gives up blocks")),
    since(Since::SeveralTexts, part("block_table", "paged_kv", "where a position lies")),
    since(
        Since::SeveralTexts,
        part("online_softmax", "kernels", "attention, block by block"),
    ),
    since(Since::SeveralTexts, part("group_product", "quantized", "products with 8 bits")),
    since(
        Since::Guesses,
        part("prompt_lookup", "guess_ahead", "guesses from the text itself"),
    ),
    since(
        Since::Guesses,
        part("accept_guesses", "guess_ahead", "which guesses the text keeps"),
    ),
    since(
        Since::Guesses,
        part("truncate_blocks", "guess_ahead", "rejected guesses, dropped"),
    ),
    since(Since::Regex, part("prune_states", "constrained", "no way into a dead end")),
    since(Since::Regex, part("token_trie", "constrained", "the vocabulary as a trie")),
    since(Since::Regex, part("state_mask", "constrained", "which tokens fit")),
    since(Since::Regex, part("where_it_ends", "constrained", "where a text may end")),
    since(Since::Units, part("tree_sum", "gpus", "a sum, lane by lane")),
    since(Since::Units, part("launch_grid", "gpus", "which unit takes which numbers")),
    since(Since::Units, part("rotation_race", "gpus", "rotations, a pair for each unit")),
    since(Since::Units, part("slab_index", "gpus", "keys and values in a slab")),
    since(Since::OtherModel, part("window_mask", "other_models", "what a window hides")),
    since(
        Since::OtherModel,
        part("window_tiles", "other_models", "which blocks a window reads"),
    ),
    since(
        Since::OtherModel,
        part("blocks_behind", "other_models", "blocks behind all windows"),
    ),
    since(Since::OtherModel, part("mixture", "other_models", "experts, and their weights")),
    since(
        Since::OtherModel,
        part("rows_by_expert", "other_models", "rows, expert by expert"),
    ),
    since(Since::Http, part("full_queue", "server", "who may come in")),
    since(Since::Http, part("sse_encode", "server", "a text as events")),
    since(Since::Replicas, part("health", "beyond", "which replicas get requests")),
    since(Since::Replicas, part("prefix_router", "beyond", "the replica with the prefix")),
    since(Since::Replicas, part("bounded_hash", "beyond", "the replica by a hash")),
    since(Since::Replicas, part("retry_elsewhere", "beyond", "after a failure")),
];
