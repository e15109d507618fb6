//! `08_scheduler`: who takes part in which step, and what each policy makes of the same requests.

use super::*;

const SCHEDULER: &str = "08_scheduler";

const POLICIES: [&str; 4] = [
    "one-at-a-time",
    "static-batch",
    "continuous-batch",
    "chunked-prefill",
];

/// Runs on the CPU, with short texts that do not end by themselves.
fn schedule(args: &[&str]) -> Value {
    let all = ["--device", "cpu", "--max-tokens", "40", "--ignore-eos"];
    succeed_in_json(SCHEDULER, &[&all, args].concat())
}

fn sequences(report: &Value) -> &[Value] {
    report["sequences"].as_array().unwrap()
}

/// A field of each sequence.
fn each<'a>(report: &'a Value, field: &str) -> Vec<&'a Value> {
    sequences(report).iter().map(|sequence| &sequence[field]).collect()
}

fn tokens_of_steps(report: &Value) -> Vec<u64> {
    let steps = report["steps"].as_array().unwrap();
    steps.iter().map(|step| step["tokens"].as_u64().unwrap()).collect()
}

#[test]
fn every_policy_writes_the_same_from_the_same_logits() {
    let reports = POLICIES.map(|policy| schedule(&["--policy", policy]));
    for (policy, report) in POLICIES.iter().zip(&reports) {
        assert_eq!(report["config"]["policy"], *policy);
        assert_eq!(sequences(report).len(), 4);
        for field in ["ids", "text", "logits_hash"] {
            assert_eq!(each(report, field), each(&reports[0], field), "{policy}: {field}");
        }
        for hash in each(report, "logits_hash") {
            assert_eq!(hash.as_str().unwrap().len(), 64);
        }
    }
    let steps = |place: usize| tokens_of_steps(&reports[place]).len();
    assert_eq!(steps(0), 160); // 40 tokens of each
    assert_eq!(steps(1), 80); // two batches
    assert!(steps(2) < steps(3) && steps(3) < steps(1));
}

#[test]
fn a_chunk_leaves_room_for_those_that_decode() {
    let report = schedule(&["--token-budget", "50"]);
    let tokens = tokens_of_steps(&report);
    assert!(tokens.iter().all(|&tokens| tokens <= 50), "{tokens:?}");
    assert_eq!(tokens.iter().filter(|&&tokens| tokens == 50).count(), 8); // 384 by 48
    // The two that decode have a token in each step.
    assert_eq!(each(&report, "waited_steps")[..2], [0, 0]);
    assert_eq!(each(&report, "ttft_steps"), [1, 1, 8, 9]);
    // In one piece, it is one step that all wait for.
    let whole = schedule(&["--policy", "continuous-batch"]);
    assert_eq!(tokens_of_steps(&whole).into_iter().max(), Some(384 + 2 + 5));
    assert_eq!(each(&whole, "ttft_steps"), [1, 1, 1, 1]);
}

#[test]
fn what_is_preempted_is_read_again_and_writes_the_same() {
    let prompts = [
        "--prompt",
        "Once upon a time",
        "--prompt",
        "The storm",
        "--prompt",
        "It was late",
    ];
    let roomy = schedule(&prompts);
    let tight = schedule(&[&prompts[..], &["--kv-cache-bytes", "360KiB"]].concat());
    let sum = |report: &Value, field: &str| -> u64 {
        each(report, field).iter().map(|count| count.as_u64().unwrap()).sum()
    };
    assert_eq!((sum(&roomy, "preemptions"), sum(&roomy, "read_again")), (0, 0));
    assert!(sum(&tight, "preemptions") > 0 && sum(&tight, "read_again") > 0, "{tight}");
    // The first to arrive is never preempted.
    assert_eq!(each(&tight, "preemptions")[0], 0);
    for field in ["ids", "logits_hash"] {
        assert_eq!(each(&tight, field), each(&roomy, field));
    }
    let computed = |report| tokens_of_steps(report).iter().sum::<u64>();
    assert_eq!(computed(&tight), computed(&roomy) + sum(&tight, "read_again"));
}

#[test]
fn requests_arrive_before_their_step() {
    let prompts = [
        "--prompt",
        "One day",
        "--prompt",
        "The storm",
        "--prompt",
        "A",
    ];
    let report = schedule(&[&prompts[..], &["--arrive", "0,7,1000"]].concat());
    // Nobody waits for step 1000 when nothing is left to do.
    assert_eq!(each(&report, "arrived_before_step"), [0, 7, 47]);
    let one_place = schedule(&[&prompts[..], &["--max-running", "1"]].concat());
    assert_eq!(each(&one_place, "waited_steps"), [0, 40, 80]);
}

#[test]
fn equal_prompts_are_read_once() {
    let text = "the fox and the owl went to the river ".repeat(12);
    let report = schedule(&[
        "--prompt",
        &text,
        "--prompt",
        &text,
        "--token-budget",
        "512",
    ]);
    let prompt = sequences(&report)[0]["prompt_ids"].as_array().unwrap().len() as u64;
    let cached = sequences(&report)[1]["cached_tokens"].as_u64().unwrap();
    assert!(
        cached > 0 && cached < prompt && cached.is_multiple_of(32),
        "{cached} of {prompt}"
    );
}

#[test]
fn compare_has_a_row_for_each_policy() {
    let short = ["--device", "cpu", "--max-tokens", "10", "--compare"];
    let report = succeed_in_json(SCHEDULER, &short);
    let rows = report["policies"].as_array().unwrap();
    let names: Vec<_> = rows.iter().map(|row| row["policy"].as_str().unwrap()).collect();
    assert_eq!(names, POLICIES);
    for row in rows {
        assert_eq!(row["logits_hashes"], rows[0]["logits_hashes"]);
        for field in [
            "mean_ttft_seconds",
            "longest_gap_seconds",
            "tokens_per_second",
        ] {
            assert!(row[field].as_f64().unwrap() > 0.0, "{field}: {row}");
        }
    }
    let table = succeed(SCHEDULER, &short);
    assert!(table.contains("All wrote the same tokens."), "{table}");
}

#[test]
fn the_timeline_has_a_row_for_each_request_and_fits_a_page() {
    let text = succeed(SCHEDULER, &["--device", "cpu", "--max-tokens", "12"]);
    for word in ["chunked prefill", "wait", "62", "•", "preempted"] {
        assert!(text.contains(word), "{word} is not in {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 84), "{text}");
    succeed(SCHEDULER, &["--max-tokens", "0"]);
}

/// Deferred in the first step, the second prompt takes all tokens of the next ones.
#[test]
fn the_timeline_says_why_a_request_computes_nothing() {
    let text = "the fox and the owl went to the river ";
    let prompts = [
        text.repeat(4),
        text.repeat(20),
        format!("One day {text}").repeat(8),
    ];
    let flags = prompts.iter().flat_map(|prompt| ["--prompt", prompt]);
    let rest = [
        "--device",
        "cpu",
        "--max-tokens",
        "12",
        "--ignore-eos",
        "--token-budget",
        "80",
    ];
    let timeline = succeed(SCHEDULER, &flags.chain(rest).collect::<Vec<_>>());
    let row = |place: &str| {
        let rows = timeline.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        rows.into_iter().find(|cells| cells.first() == Some(&place)).unwrap()
    };
    assert_eq!(row("2")[1], "defer", "{timeline}");
    assert_eq!(row("3")[2], "budget", "{timeline}");
    for legend in ["\ndefer: it runs, and", "\nbudget: it runs, and"] {
        assert!(timeline.contains(legend), "{timeline}");
    }
    assert!(!timeline.contains("wait:"), "{timeline}");
}

#[test]
fn wrong_flags_are_refused() {
    fail(SCHEDULER, &["--arrive", "1,2"], 2, "one step for each prompt");
    fail(SCHEDULER, &["--kv-cache-bytes", "300KiB"], 1, "--kv-cache-bytes");
    fail_in_clap(SCHEDULER, &["--policy", "fair"], "--policy");
    fail_in_clap(SCHEDULER, &["--token-budget", "0"], "--token-budget");
    fail_in_clap(SCHEDULER, &["--max-running", "0"], "--max-running");
    fail_in_clap(SCHEDULER, &["--compare", "--policy", "static-batch"], "--policy");
}
