//! How jobs end: joined, cancelled, dropped, shut down.

use interleavings::inference::FinishReason;
use interleavings::{Error, ServiceError};
use shuttle::thread;

use crate::check::{Served, check, is_idle, request, serve};

/// One sequence runs at a time, and its stream is full after one token.
fn narrow() -> Served {
    serve(|limits| limits.with_stream_capacity(1).with_max_running(1).with_max_paused(0))
}

#[test]
fn who_joins_need_not_read() {
    check(|| {
        let inference = serve(|limits| limits.with_stream_capacity(1));
        for read in [0, 1] {
            let job = inference.infer(request(3)).spawn();
            assert_eq!(job.stream.iter().take(read).count(), read);
            let completion = job.join().unwrap();
            assert_eq!(completion.finish_reason, FinishReason::Length);
            assert_eq!(completion.usage.completion_tokens, 3);
        }
        is_idle(&inference);
    });
}

#[test]
fn a_job_that_is_dropped_makes_room() {
    check(|| {
        let inference = narrow();
        thread::scope(|scope| {
            let dropped = inference.infer(request(20)).spawn();
            scope.spawn(move || {
                let _ = dropped.stream.iter().next();
                drop(dropped);
            });
            scope.spawn(|| {
                let completion = inference.infer(request(1)).spawn().join().unwrap();
                assert_eq!(completion.finish_reason, FinishReason::Length);
            });
        });
        is_idle(&inference);
    });
}

#[test]
fn a_cancelled_job_makes_room_though_nobody_reads_it() {
    check(|| {
        let inference = narrow();
        let unread = inference.infer(request(3)).spawn();
        thread::scope(|scope| {
            let cancel = unread.cancel_token();
            scope.spawn(move || cancel.cancel());
            scope.spawn(|| inference.infer(request(1)).spawn().join().unwrap());
        });
        let outputs = unread.stream.iter().count();
        let completion = unread.join().unwrap();
        assert_eq!(completion.finish_reason, FinishReason::Cancelled);
        assert_eq!(completion.usage.completion_tokens, outputs);
        is_idle(&inference);
    });
}

#[test]
fn two_may_cancel_while_a_third_reads() {
    check(|| {
        let inference = serve(|limits| limits.with_stream_capacity(1));
        let job = inference.infer(request(3)).spawn();
        for _ in 0..2 {
            let cancel = job.cancel_token();
            thread::spawn(move || cancel.cancel());
        }
        let outputs = job.stream.iter().count();
        let completion = job.join().unwrap();
        assert_eq!(completion.usage.completion_tokens, outputs);
        match completion.finish_reason {
            FinishReason::Cancelled => assert!(outputs <= 3),
            reason => assert_eq!((reason, outputs), (FinishReason::Length, 3)),
        }
        is_idle(&inference);
    });
}

#[test]
fn shutting_down_ends_every_job() {
    check(|| {
        let inference = serve(|limits| limits.with_stream_capacity(1));
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let job = inference.infer(request(2)).spawn();
                    let outputs = job.stream.iter().count();
                    match job.join() {
                        Ok(completion) if completion.finish_reason == FinishReason::Length => {
                            assert_eq!(outputs, 2);
                        }
                        Ok(completion) => {
                            assert_eq!(completion.finish_reason, FinishReason::Shutdown);
                            assert_eq!(completion.usage.completion_tokens, outputs);
                        }
                        Err(error) => assert!(
                            matches!(error, Error::Service(ServiceError::ShutDown)),
                            "{error}"
                        ),
                    }
                });
            }
            scope.spawn(|| inference.shut_down());
        });
    });
}

#[test]
fn a_job_outlives_its_inference() {
    check(|| {
        let inference = narrow();
        let jobs = [3, 1].map(|tokens| inference.infer(request(tokens)).spawn());
        drop(inference);
        for job in jobs {
            let outputs = job.stream.iter().count();
            let completion = job.join().unwrap();
            assert_eq!(completion.usage.completion_tokens, outputs);
            assert!(outputs <= 1, "the second never ran, and nobody read the first");
            assert_eq!(completion.finish_reason, FinishReason::Shutdown);
        }
    });
}
