//! Load on servers, on one machine, on several and on paper.

use crate::figures::output::{Output, on_request, printed};

pub(super) const OUTPUTS: &[Output] = &[
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
        "beyond-policies.md",
        "cargo xtask replicas policies --server-args '--threads 1' --rate 20 --requests 200 --prompt-tokens 400 --shared-prefix 352 --prefixes 12 --max-tokens 16 | grep -vE '^(round|cache)'",
    ),
    on_request(
        "beyond-events.md",
        "cargo xtask replicas events --server-args '--threads 1' --rate 24 --requests 160 --max-tokens 400",
    ),
    Output {
        timed: false,
        ..on_request(
            "beyond-routers.md",
            "cargo xtask simulate --preset llama-8b-h100 --requests 3000 --rate 64 --replicas 8 --max-running 256 --shared-prompt 2000 --shared-share 0.8 --shared-prompts 200 | tail -n 8",
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
];
