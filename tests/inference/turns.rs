//! Jobs beside each other, and their readers.

use super::*;

/// Writes down for each token which job it belongs to.
fn logging_handler(
    In(request): In<GenerateRequest>,
    model: ModelHandle<Model>,
    State(log): State<Arc<Mutex<Vec<u64>>>>,
    output: OutStream<TokenOutput>,
) -> Result<()> {
    let job = request.sampling.seed;
    model.prepare(&request)?.start(move |token| {
        log.lock().unwrap().push(job);
        output.emit(token)
    })
}

#[test]
fn jobs_are_interleaved_a_step_at_a_time() {
    watch(|| {
        let log = Arc::new(Mutex::new(Vec::new()));
        let inference = InferenceBuilder::new()
            .with_model(model())
            .with_state(log.clone())
            .with_stream_capacity(1000)
            .build(logging_handler)
            .unwrap();
        // The first one holds the batch up, after its first token, until the others are there.
        let (go, may_go) = mpsc::channel();
        let first = inference.infer(endless("Once", 1)).with_progress(move |progress| {
            if progress.tokens == 1 {
                may_go.recv().unwrap();
            }
        });
        let mut jobs = vec![first.spawn()];
        jobs.extend([2, 3].map(|seed| inference.infer(endless("Once", seed)).spawn()));
        go.send(()).unwrap();
        for (seed, job) in (1..).zip(jobs) {
            let (outputs, _) = drained(job);
            assert_eq!(ids(&outputs), alone(&endless("Once", seed)).ids);
        }
        // Those that share a step are told in the order in which they joined. A token whose
        // character is not complete is told a step later.
        let log = log.lock().unwrap();
        assert_eq!(log.len(), 600);
        let told = |job: u64, upto: usize| log[..upto].iter().filter(|j| **j == job).count();
        for upto in 30..590 {
            let counts = [told(1, upto), told(2, upto), told(3, upto)];
            let (most, least) = (counts.iter().max().unwrap(), counts.iter().min().unwrap());
            assert!(most - least < 12, "{counts:?} of {upto}");
        }
    });
}

#[test]
fn a_job_that_is_cancelled_ends_and_can_be_read() {
    watch(|| {
        let inference = streaming();
        let request = endless("Once", 1);
        let job = inference.infer(request.clone()).spawn();
        let mut outputs: Vec<_> = job.stream.iter().take(5).collect();
        job.cancel();
        assert_idle(&inference);
        outputs.extend(&job.stream);
        assert!(outputs.len() < 100, "{} tokens", outputs.len());
        assert_eq!(ids(&outputs), alone(&request).ids[..outputs.len()]);
        let completion = job.join().unwrap();
        assert_eq!(completion.finish_reason, FinishReason::Cancelled);
        assert_eq!(completion.usage.completion_tokens, outputs.len());
    });
}

#[test]
fn a_job_that_is_dropped_is_gone_before_the_next_step() {
    watch(|| {
        let inference = streaming();
        let job = inference.infer(endless("Once", 1)).spawn();
        assert!(job.stream.iter().next().is_some());
        assert_eq!(inference.load().unwrap().kv_cache_bytes % 2, 0);
        drop(job);
        assert_idle(&inference);
        // So is one whose stream is.
        let job = inference.infer(endless("Once", 2)).spawn();
        let cancel = job.cancel_token();
        let Job { stream, .. } = job;
        drop(stream);
        assert!(cancel.is_cancelled());
        assert_idle(&inference);
    });
}

#[test]
fn a_slow_reader_slows_only_itself() {
    watch(|| {
        // One may run at a time: one that waits for its reader must not count.
        let inference = InferenceBuilder::new()
            .with_model(model())
            .with_stream_capacity(2)
            .with_max_running(1)
            .build(streaming_handler)
            .unwrap();
        let slow = endless("Once", 1);
        let job = inference.infer(slow.clone()).spawn();
        for seed in 2..6 {
            let request = endless("upon", seed);
            let (outputs, _) = drained(inference.infer(request.clone()).spawn());
            assert_eq!(ids(&outputs), alone(&request).ids);
        }
        let load = inference.load().unwrap();
        assert_eq!((load.running, load.paused), (0, 1));
        assert!(load.kv_cache_bytes > 0);
        let (outputs, _) = drained(job);
        assert_eq!(ids(&outputs), alone(&slow).ids, "nothing was lost while it paused");
        assert_idle(&inference);
    });
}

#[test]
fn joining_reads_what_nobody_reads() {
    watch(|| {
        let inference = streaming();
        let completion = inference.infer(endless("Once", 1)).spawn().join().unwrap();
        assert_eq!(completion.finish_reason, FinishReason::Length);
        assert_eq!(completion.usage.completion_tokens, 200);
    });
}

#[test]
fn a_deadline_ends_what_runs_what_pauses_and_what_waits() {
    watch(|| {
        let inference = InferenceBuilder::new()
            .with_model(model())
            .with_stream_capacity(2)
            .build(streaming_handler)
            .unwrap();
        // Time enough for a few tokens, however busy the machine is. Then nobody reads.
        let soon = Duration::from_secs(2);
        let paused = inference.infer(endless("Once", 1).with_deadline(soon)).spawn();
        while !inference.load().unwrap().is_idle() {
            thread::sleep(Duration::from_millis(1));
        }
        let (outputs, completion) = drained(paused);
        assert!(!outputs.is_empty());
        assert_eq!(completion.finish_reason, FinishReason::Deadline);
        assert!(completion.timings.total >= soon);
        // It is over before it begins.
        let now = endless("Once", 1).with_deadline(Duration::from_nanos(1));
        let (outputs, completion) = drained(inference.infer(now).spawn());
        assert_eq!(completion.finish_reason, FinishReason::Deadline);
        assert_eq!((outputs.len(), completion.timings.ttft), (0, None));
        // There is time enough, however long that is.
        let later = endless("Once", 1).with_deadline(Duration::MAX);
        let (_, completion) = drained(inference.infer(later).spawn());
        assert_eq!(completion.finish_reason, FinishReason::Length);
    });
}

#[test]
fn progress_is_told_after_each_token() {
    watch(|| {
        let inference = streaming();
        let told = Arc::new(Mutex::new(Vec::new()));
        let keep = told.clone();
        let request = endless("Once", 1).with_max_tokens(25);
        let job = inference.infer(request).with_progress(move |p| keep.lock().unwrap().push(p));
        job.run().unwrap();
        let told: Vec<Progress> = told.lock().unwrap().clone();
        assert_eq!(told.iter().map(|p| p.tokens).collect::<Vec<_>>(), Vec::from_iter(1..=25));
        for progress in &told {
            assert_eq!(progress.max_tokens, 25);
            let rate = progress.tokens as f64 / progress.elapsed.as_secs_f64();
            assert!((progress.tokens_per_second() / rate - 1.0).abs() < 1e-6);
            let left = (25 - progress.tokens) as f64 / rate;
            assert!((progress.time_left().as_secs_f64() - left).abs() < 1e-6);
        }
    });
}

/// Polls a stream in this thread, sleeping while it has nothing.
#[cfg(feature = "async")]
fn block_on<S: futures_core::Stream + Unpin>(mut stream: S) -> Vec<S::Item> {
    use std::pin::Pin;
    use std::task::{Context, Poll, Wake};

    struct Unpark(std::thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    let waker = Arc::new(Unpark(std::thread::current())).into();
    let mut context = Context::from_waker(&waker);
    let mut items = Vec::new();
    loop {
        match Pin::new(&mut stream).poll_next(&mut context) {
            Poll::Ready(Some(item)) => items.push(item),
            Poll::Ready(None) => return items,
            Poll::Pending => std::thread::park(),
        }
    }
}

/// A task may join its job without blocking its executor, even while the model thread is busy.
#[cfg(feature = "async")]
#[test]
fn a_job_whose_stream_has_ended_is_joined_at_once() {
    watch(|| {
        let inference = streaming();
        let mut job = inference.infer(endless("Once", 1)).spawn();
        let mut wrong = inference.infer(endless("Once", 1).with_temperature(-1.0)).spawn();
        assert_eq!(block_on(&mut job.stream).len(), 200);
        assert!(block_on(&mut wrong.stream).is_empty());
        // The model thread waits in a callback until both are joined.
        let (arrive, arrived) = mpsc::channel();
        let (go, may_go) = mpsc::channel();
        let request = inference.infer(endless("Once", 2).with_max_tokens(1));
        let busy = request.with_progress(move |_| {
            arrive.send(()).unwrap();
            may_go.recv().unwrap();
        });
        let busy = busy.spawn();
        arrived.recv().unwrap();
        let completions = job.join_all().unwrap();
        assert_eq!(completions[0].finish_reason, FinishReason::Length);
        assert!(matches!(
            wrong.join_all(),
            Err(Error::Request(RequestError::Parameter { name: "temperature", .. }))
        ));
        go.send(()).unwrap();
        busy.join().unwrap();
    });
}

/// As a task does that is dropped while it waits for a token.
#[cfg(feature = "async")]
#[test]
fn a_job_that_is_dropped_while_it_is_awaited_is_gone_before_the_next_step() {
    use futures_core::Stream;
    use std::pin::Pin;
    use std::task::{Context, Poll, Waker};

    watch(|| {
        let inference = streaming();
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..20 {
            let mut job = inference.infer(endless("Once", 1)).spawn();
            while let Poll::Ready(Some(_)) = Pin::new(&mut job.stream).poll_next(&mut context) {}
            drop(job);
            assert_idle(&inference);
        }
    });
}

#[cfg(feature = "async")]
#[test]
fn a_stream_can_be_awaited() {
    watch(|| {
        let inference = InferenceBuilder::new()
            .with_model(model())
            .with_stream_capacity(1)
            .build(streaming_handler)
            .unwrap();
        let mut job = inference.infer(endless("Once", 1)).spawn();
        assert_eq!(ids(&block_on(&mut job.stream)), alone(&endless("Once", 1)).ids);
        assert_eq!(job.join().unwrap().finish_reason, FinishReason::Length);
    });
}
