//! Questions to the model thread, which it answers between two steps.

use interleavings::{Error, ServiceError};
use shuttle::thread;

use crate::check::{check, request, serve};

#[test]
fn every_question_is_answered() {
    check(|| {
        let inference = serve(|limits| limits.with_stream_capacity(1));
        thread::scope(|scope| {
            scope.spawn(|| {
                let job = inference.infer(request(2)).spawn();
                assert_eq!(job.stream.iter().count(), 2);
            });
            scope.spawn(|| inference.load().unwrap());
            scope.spawn(|| inference.warm_up().unwrap());
        });
    });
}

#[test]
fn at_shutdown_a_question_is_answered_or_refused() {
    check(|| {
        let inference = serve(|limits| limits);
        thread::scope(|scope| {
            scope.spawn(|| inference.shut_down());
            for _ in 0..2 {
                scope.spawn(|| {
                    if let Err(error) = inference.load() {
                        assert!(matches!(error, Error::Service(ServiceError::ShutDown)), "{error}");
                    }
                    if let Err(error) = inference.warm_up() {
                        assert!(matches!(error, Error::Service(ServiceError::ShutDown)), "{error}");
                    }
                });
            }
        });
    });
}
