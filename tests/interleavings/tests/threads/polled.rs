//! A stream that is polled instead of waited for.

use std::future::poll_fn;
use std::pin::Pin;

use futures_core::Stream;
use interleavings::inference::TokenOutput;
use shuttle::{future, thread};

use crate::check::{check, request, serve};

async fn next(stream: &mut (impl Stream<Item = TokenOutput> + Unpin)) -> Option<TokenOutput> {
    poll_fn(|context| Pin::new(&mut *stream).poll_next(context)).await
}

#[test]
fn whoever_polls_is_woken_for_each_token_and_for_the_end() {
    check(|| {
        let inference = serve(|limits| limits.with_stream_capacity(1));
        let mut job = inference.infer(request(3)).spawn();
        future::block_on(async {
            for index in 0..3 {
                assert_eq!(next(&mut job.stream).await.unwrap().index, index);
            }
            assert!(next(&mut job.stream).await.is_none());
        });
        job.join().unwrap();
    });
}

#[test]
fn whoever_polls_is_woken_when_somebody_cancels() {
    check(|| {
        let inference = serve(|limits| limits.with_stream_capacity(1));
        let mut job = inference.infer(request(3)).spawn();
        let cancel = job.cancel_token();
        let canceller = thread::spawn(move || cancel.cancel());
        let mut outputs = 0;
        future::block_on(async {
            while next(&mut job.stream).await.is_some() {
                outputs += 1;
            }
        });
        canceller.join().unwrap();
        assert_eq!(job.join().unwrap().usage.completion_tokens, outputs);
    });
}
