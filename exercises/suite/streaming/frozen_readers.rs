use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};

use super::frozen_readers::{Job, step};
use crate::support::{Case, in_time};

/// A job whose tokens are `first`, `first + 1` and so on, and its reader.
fn job(first: u32, count: u32, capacity: usize) -> (Job, Receiver<u32>) {
    let (stream, reader) = sync_channel(capacity);
    (Job { tokens: (first..first + count).collect(), stream }, reader)
}

fn read(reader: &Receiver<u32>) -> Vec<u32> {
    reader.try_iter().collect()
}

#[test]
fn all_tokens_come_where_all_read() {
    let case = Case::rule("one token for each at each step, and a job with all its tokens leaves")
        .given("jobs", "tokens 10, 11 and tokens 20, 21, 22, both read after each step")
        .given("steps", 3);
    let found = in_time(&case, || {
        let ((a, reader_a), (b, reader_b)) = (job(10, 2, 2), job(20, 3, 2));
        let mut jobs = vec![a, b];
        let mut round = || {
            step(&mut jobs);
            (read(&reader_a), read(&reader_b), jobs.len())
        };
        [round(), round(), round()]
    });
    let expected = [
        (vec![10], vec![20], 2),
        (vec![11], vec![21], 1),
        (Vec::new(), vec![22], 0),
    ];
    case.equal(expected, found);
}

#[test]
fn the_stream_is_closed_with_the_last_token() {
    let case = Case::rule("a job that leaves closes its stream: its reader sees the end")
        .given("job", "tokens 10 and 11, a stream that takes 2")
        .given("read", "all after 2 steps, and then once more with try_recv");
    let found = in_time(&case, || {
        let (only, reader) = job(10, 2, 2);
        let mut jobs = vec![only];
        step(&mut jobs);
        step(&mut jobs);
        (read(&reader), reader.try_recv())
    });
    case.equal((vec![10, 11], Err(TryRecvError::Disconnected)), found);
}

#[test]
fn a_reader_that_stops_holds_up_nobody() {
    for slow_place in 0..3 {
        let case =
            Case::rule("a reader that does not read holds up no other job, wherever it stands")
                .given("streams", "3 jobs, each stream takes 2 tokens")
                .given("place of the job that is not read, from 0", slow_place)
                .given("steps", 6);
        let found = in_time(&case, move || {
            let (mut jobs, readers): (Vec<_>, Vec<_>) =
                (0..3).map(|i| job(10 * (i + 1), 9, 2)).unzip();
            let mut texts = vec![Vec::new(); 3];
            for _ in 0..6 {
                step(&mut jobs);
                for i in (0..3).filter(|&i| i != slow_place) {
                    texts[i].extend(read(&readers[i]));
                }
            }
            texts
        });
        let mut expected: Vec<Vec<u32>> =
            (0..3).map(|i| (10 * (i + 1)..10 * (i + 1) + 6).collect()).collect();
        expected[slow_place].clear();
        case.equal(expected, found);
    }
}

#[test]
fn a_reader_that_stops_takes_no_time() {
    let case = Case::rule("a step does not wait for readers that are behind, not for a moment")
        .given("jobs", "64 whose streams are full, and 1 that is read after each step")
        .given("steps", 400);
    let found = in_time(&case, || {
        let (mut jobs, readers): (Vec<_>, Vec<_>) = (0..64).map(|_| job(10, 9, 1)).unzip();
        let (read_job, reader) = job(0, 500, 1);
        jobs.push(read_job);
        let mut text = Vec::new();
        for _ in 0..400 {
            step(&mut jobs);
            text.extend(read(&reader));
        }
        drop(readers);
        text.len()
    });
    case.equal(
        ("tokens of the one that is read", 400),
        ("tokens of the one that is read", found),
    );
}

#[test]
fn the_others_keep_their_order() {
    let case = Case::rule("the jobs that stay keep their order (shown: the next token of each)")
        .given(
            "jobs",
            "first tokens 10, 20, 30, 40 and 50; streams that take 1 token, nobody reads",
        )
        .given("gone after the first step", "the readers of 10 and 30");
    let found = in_time(&case, || {
        let (mut jobs, readers): (Vec<_>, Vec<_>) = (1..=5).map(|i| job(10 * i, 9, 1)).unzip();
        let next = |jobs: &[Job]| jobs.iter().map(|job| job.tokens[0]).collect::<Vec<_>>();
        step(&mut jobs);
        let first = next(&jobs);
        let mut readers: Vec<_> = readers.into_iter().map(Some).collect();
        (readers[0], readers[2]) = (None, None);
        step(&mut jobs);
        let second = next(&jobs);
        step(&mut jobs);
        (first, second, next(&jobs))
    });
    let left = vec![21, 41, 51];
    case.equal((vec![11, 21, 31, 41, 51], left.clone(), left), found);
}

#[test]
fn who_is_behind_keeps_its_place() {
    let case = Case::rule("the jobs that stay keep their order (shown: the next token of each)")
        .given("jobs", "first tokens 10, 20 and 30; streams that take 1 token")
        .given("read after each step", "the stream of 20");
    let found = in_time(&case, || {
        let (mut jobs, readers): (Vec<_>, Vec<_>) = (1..=3).map(|i| job(10 * i, 9, 1)).unzip();
        for _ in 0..3 {
            step(&mut jobs);
            read(&readers[1]);
        }
        jobs.iter().map(|job| job.tokens[0]).collect::<Vec<_>>()
    });
    case.equal(vec![11, 23, 31], found);
}

#[test]
fn one_token_a_step() {
    let case = Case::rule("each job that is not behind gets one token at each step")
        .given("job", "40 tokens, a stream that takes 16, read after steps 16 and 20")
        .given("steps", 30);
    let found = in_time(&case, || {
        let (only, reader) = job(0, 40, 16);
        let mut jobs = vec![only];
        let mut counts = Vec::new();
        for count in 1..=30 {
            step(&mut jobs);
            if [16, 20, 30].contains(&count) {
                counts.push(read(&reader).len());
            }
        }
        counts
    });
    case.equal(("tokens read", vec![16, 4, 10]), ("tokens read", found));
}

#[test]
fn a_slow_reader_gets_every_token_once() {
    let case =
        Case::rule("a reader that falls behind and catches up gets every token once, in order")
            .given("job", "tokens 10 to 16, a stream that takes 2")
            .given("read after the steps", [4, 5, 9, 12, 13, 14]);
    let found = in_time(&case, || {
        let (slow, reader) = job(10, 7, 2);
        let mut jobs = vec![slow];
        let mut text = Vec::new();
        for count in 1..=14 {
            step(&mut jobs);
            if [4, 5, 9, 12, 13, 14].contains(&count) {
                text.extend(read(&reader));
            }
        }
        (text, jobs.len())
    });
    case.equal(((10..17).collect(), 0), found);
}

#[test]
fn no_tokens_pile_up() {
    for count in [6, 3] {
        let case =
            Case::rule("what the stream can't take stays in `tokens`, and the job stays with it")
                .given("job", "tokens from 10 on, a stream that takes 2, nobody reads")
                .given("tokens", count)
                .given("steps", 5);
        let found = in_time(&case, move || {
            let (slow, reader) = job(10, count, 2);
            let mut jobs = vec![slow];
            for _ in 0..5 {
                step(&mut jobs);
            }
            drop(reader);
            jobs.into_iter().map(|job| job.tokens.into()).collect::<Vec<Vec<u32>>>()
        });
        case.equal(vec![(12..10 + count).collect()], found);
    }
}

#[test]
fn who_is_gone_leaves() {
    for unread in [0, 1, 2] {
        let case = Case::rule("a job without a reader leaves at the next step")
            .given("job", "9 tokens, a stream that takes 2, the reader is dropped")
            .given("tokens in the stream when the reader is dropped", unread);
        let found = in_time(&case, move || {
            let ((gone, reader), (other, other_reader)) = (job(10, 9, 2), job(20, 9, 9));
            let mut jobs = vec![gone, other];
            for _ in 0..unread {
                step(&mut jobs);
            }
            drop(reader);
            step(&mut jobs);
            (jobs.len(), read(&other_reader).len())
        });
        case.holds(
            found == (1, unread + 1),
            &format!("the other job alone, with {} tokens", unread + 1),
            format!("{} jobs, and {} tokens of the other", found.0, found.1),
        );
    }
}
