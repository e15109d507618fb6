//! What is asked of servers.

use crate::figures::output::{Output, asked};

/// The servers of chapter 16.
const SERVER: &str = "cargo run --features serve --example 16_server";
const SMALL_QUEUE: &str = "cargo run --features serve --example 16_server -- --max-running 1 --max-waiting 4 --max-sequences 4";
const SHORT_DEADLINE: &str =
    "cargo run --features serve --example 16_server -- --request-timeout 0.1";
const RATE_LIMIT: &str =
    "cargo run --features serve --example 16_server -- --rate-per-minute 30 --burst 3";

/// That of the reader's own engine.
const ENGINE: &str = "cargo run -p exercises -- engine --serve";

pub(super) const OUTPUTS: &[Output] = &[
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
    Output {
        timed: false,
        ..asked(
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
        )
    },
    Output {
        timed: false,
        ..asked(
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
        )
    },
    Output {
        timed: false,
        ..asked(
            "schema-refused.txt",
            SERVER,
            r#"curl -s http://127.0.0.1:8080/v1/completions --json '{
  "prompt": "One day", "guided_json": {
    "type": "object", "properties": {"toys": {"type": "array", "uniqueItems": true}}
  }
}'"#,
        )
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
];
