//! The writer and the readers of a stream.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use interleavings::inference::{
    FinishReason, GenerateRequest, In, InferenceBuilder, ModelHandle, OutStream, TokenOutput,
    batch_handler,
};
use interleavings::pretrained::Pretrained;
use shuttle::sync::Mutex;
use shuttle::thread;

use crate::check::{check, is_idle, pretrained, request, serve};

#[test]
fn every_reader_gets_each_token_in_order_and_then_the_end() {
    check(|| {
        let inference = serve(|limits| limits.with_stream_capacity(1));
        thread::scope(|scope| {
            for tokens in [2, 3] {
                let inference = &inference;
                scope.spawn(move || {
                    let job = inference.infer(request(tokens)).spawn();
                    let indices: Vec<_> = job.stream.iter().map(|output| output.index).collect();
                    assert_eq!(indices, Vec::from_iter(0..tokens));
                    let completion = job.join().unwrap();
                    assert_eq!(completion.finish_reason, FinishReason::Length);
                    assert_eq!(completion.usage.completion_tokens, tokens);
                });
            }
        });
        is_idle(&inference);
    });
}

#[test]
fn a_stream_holds_no_more_than_its_capacity() {
    const CAPACITY: usize = 2;
    check(|| {
        // Without any turns of their own: they only watch.
        let (written, read) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let seen = (written.clone(), read.clone());
        let handler = move |In(request): In<GenerateRequest>,
                            model: ModelHandle<Pretrained>,
                            output: OutStream<TokenOutput>| {
            let (written, read) = seen.clone();
            model.prepare(&request)?.start(move |token| {
                // One more may be read and not counted yet.
                let most = read.load(Ordering::SeqCst) + CAPACITY;
                assert!(written.fetch_add(1, Ordering::SeqCst) <= most, "the stream is too full");
                output.emit(token)
            })
        };
        let builder = InferenceBuilder::new().with_model(pretrained());
        let inference = builder.with_stream_capacity(CAPACITY).build(handler).unwrap();
        let job = inference.infer(request(6)).spawn();
        for _ in &job.stream {
            read.fetch_add(1, Ordering::SeqCst);
        }
        job.join().unwrap();
        assert_eq!(written.load(Ordering::SeqCst), 6);
    });
}

#[test]
fn two_sequences_write_to_one_stream() {
    check(|| {
        let builder = InferenceBuilder::new().with_model(pretrained());
        let inference = builder.with_stream_capacity(1).build(batch_handler).unwrap();
        let job = inference.infer(vec![request(2), request(3)]).spawn();
        let mut counts = [0; 2];
        for (index, token) in &job.stream {
            assert_eq!(token.index, counts[index]);
            counts[index] += 1;
        }
        assert_eq!(counts, [2, 3]);
        assert_eq!(job.join_all().unwrap().len(), 2);
        is_idle(&inference);
    });
}

#[test]
fn two_readers_of_one_stream_get_each_token_once_and_both_the_end() {
    check(|| {
        let inference = serve(|limits| limits.with_stream_capacity(1));
        let job = inference.infer(request(3)).spawn();
        let found = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for token in &job.stream {
                        found.lock().unwrap().push(token.index);
                    }
                });
            }
        });
        let mut found = found.into_inner().unwrap();
        found.sort_unstable();
        assert_eq!(found, [0, 1, 2]);
        job.join().unwrap();
    });
}

#[test]
fn one_thread_reads_one_job_after_the_other() {
    check(|| {
        // The second cannot join before the first is read.
        let inference =
            serve(|limits| limits.with_stream_capacity(1).with_max_running(1).with_max_paused(0));
        let jobs = [2, 2].map(|tokens| inference.infer(request(tokens)).spawn());
        for job in jobs {
            assert_eq!(job.stream.iter().count(), 2);
            job.join().unwrap();
        }
        is_idle(&inference);
    });
}
