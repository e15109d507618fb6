//! Callbacks that would wait for their own thread.

use super::*;

/// The last handle may be held by a callback, which runs in the thread that is to end.
#[test]
fn an_inference_may_be_dropped_by_its_own_callback() {
    watch(|| {
        let inference = Arc::new(streaming());
        let held = Mutex::new(Some(inference.clone()));
        let (dropped, was_dropped) = mpsc::channel();
        let (go, may_go) = mpsc::channel();
        let job = inference
            .infer(endless("Once", 1))
            .with_progress(move |progress| {
                if progress.tokens == 3 {
                    may_go.recv().unwrap();
                    held.lock().unwrap().take();
                    dropped.send(()).unwrap();
                }
            })
            .spawn();
        drop(inference);
        go.send(()).unwrap();
        was_dropped.recv().unwrap();
        assert_eq!(job.join().unwrap().finish_reason, FinishReason::Shutdown);
    });
}

/// Calls the model from a callback, which runs in the model's own thread.
fn waiting_handler(
    In(request): In<GenerateRequest>,
    model: ModelHandle<Model>,
    errors: State<Arc<Mutex<Vec<Error>>>>,
) -> Result<(), Error> {
    let State(errors) = errors;
    let prepared = model.prepare(&request)?;
    let vocabulary = |pretrained: &Model| pretrained.model.config().vocab_size;
    assert!(model.submit(vocabulary)? > 0, "the handler may wait");
    prepared.start(move |_| {
        errors.lock().unwrap().extend(model.submit(vocabulary).err());
        ControlFlow::Continue(())
    })
}

/// So many calls would have waited for the thread that they were made in.
#[track_caller]
fn assert_told(errors: &Mutex<Vec<Error>>, count: usize) {
    let errors = errors.lock().unwrap();
    assert_eq!(errors.len(), count);
    let is_told = |error: &Error| matches!(error, Error::Service(ServiceError::WaitInModelThread));
    assert!(errors.iter().all(is_told), "{errors:?}");
}

#[test]
fn a_callback_that_would_wait_for_itself_is_told_so() {
    watch(|| {
        let errors = Arc::new(Mutex::new(Vec::new()));
        let inference: Inference<_, TokenOutput, _, _> = InferenceBuilder::new()
            .with_model(model())
            .with_state(errors.clone())
            .build(waiting_handler)
            .unwrap();
        let request = endless("Once", 1).with_max_tokens(3);
        inference.infer(request).spawn().join().unwrap();
        assert_told(&errors, 3);
    });
}

/// Calls the model from a sampling rule, which runs in the model's own thread too.
fn waiting_rule_handler(
    In(request): In<GenerateRequest>,
    model: ModelHandle<Model>,
    State(errors): State<Arc<Mutex<Vec<Error>>>>,
) -> Result<()> {
    let prepared = model.prepare(&request)?;
    let rule = move |_: &mut [f32], _: &[u32], _: &[u32]| {
        // So long that another thread would take the rule of another sequence.
        thread::sleep(Duration::from_millis(1));
        let vocabulary = |pretrained: &Model| pretrained.model.config().vocab_size;
        let error = model.submit(vocabulary).err();
        errors.lock().unwrap().extend(error);
    };
    prepared.with_rule(Arc::new(rule)).start(|_| ControlFlow::Continue(()))
}

/// Several sequences are sampled by all threads, of which only one is the model's.
#[test]
fn a_rule_that_would_wait_for_itself_is_told_so_beside_others() {
    watch(|| {
        let errors = Arc::new(Mutex::new(Vec::new()));
        let inference: Inference<_, TokenOutput, _, _> = InferenceBuilder::new()
            .with_model(model())
            .with_state(errors.clone())
            .build(waiting_rule_handler)
            .unwrap();
        let spawn = |seed| inference.infer(endless("Once", seed).with_max_tokens(20)).spawn();
        for job in [1, 2].map(spawn) {
            job.join().unwrap();
        }
        assert_told(&errors, 40);
    });
}

/// A stream that is read by the callback of its own job would wait for the thread that it has.
#[test]
fn a_callback_that_reads_its_own_stream_ends_its_job_and_no_other() {
    watch(|| {
        let inference = streaming();
        let beside = inference.infer(endless("Once", 1)).spawn();
        let (give, taken) = mpsc::channel::<Job<TokenOutput>>();
        let (read, was_read) = mpsc::channel();
        let job = inference.infer(endless("Once", 2)).with_progress(move |progress| {
            if progress.tokens == 5 {
                let job = taken.recv().unwrap();
                let count = job.stream.iter().count();
                read.send((job, count)).unwrap();
            }
        });
        give.send(job.spawn()).unwrap();
        let (job, count) = was_read.recv().unwrap();
        assert!((1..=5).contains(&count), "what was there is read: {count}");
        assert!(matches!(job.join(), Err(Error::Service(ServiceError::WaitInModelThread))));
        let (outputs, _) = drained(beside);
        assert_eq!(ids(&outputs), alone(&endless("Once", 1)).ids);
        assert_idle(&inference);
    });
}

/// As above, for an executor that runs in the callback.
#[cfg(feature = "async")]
#[test]
fn a_callback_that_polls_its_own_stream_ends_its_job() {
    use futures_core::Stream;
    use std::pin::Pin;
    use std::task::{Context, Poll, Waker};

    watch(|| {
        let inference = streaming();
        let (give, taken) = mpsc::channel::<Job<TokenOutput>>();
        let (read, was_read) = mpsc::channel();
        let job = inference.infer(endless("Once", 2)).with_progress(move |progress| {
            if progress.tokens == 5 {
                let mut job = taken.recv().unwrap();
                let mut context = Context::from_waker(Waker::noop());
                let last = loop {
                    match Pin::new(&mut job.stream).poll_next(&mut context) {
                        Poll::Ready(Some(_)) => {}
                        last => break last.map(|_| ()),
                    }
                };
                read.send((job, last)).unwrap();
            }
        });
        give.send(job.spawn()).unwrap();
        let (job, last) = was_read.recv().unwrap();
        assert_eq!(last, Poll::Ready(()), "it must not be told to wait");
        assert!(matches!(job.join(), Err(Error::Service(ServiceError::WaitInModelThread))));
    });
}

/// Two callbacks that each drop the other's inference would wait for each other.
#[test]
fn two_inferences_may_be_dropped_by_the_callbacks_of_each_other() {
    watch(|| {
        let barrier = Arc::new(std::sync::Barrier::new(2));
        let inferences = [(); 2].map(|()| Arc::new(Mutex::new(Some(streaming()))));
        let spawn = |own: usize| {
            let (other, barrier) = (inferences[1 - own].clone(), barrier.clone());
            let own = inferences[own].lock().unwrap();
            let request = own.as_ref().unwrap().infer(endless("Once", 1));
            let job = request.with_progress(move |progress| {
                if progress.tokens == 3 {
                    barrier.wait();
                    let other = other.lock().unwrap().take();
                    drop(other);
                    // Or the other text may be at its end before this thread has dropped anything.
                    barrier.wait();
                }
            });
            job.spawn()
        };
        for job in [spawn(0), spawn(1)] {
            assert_eq!(job.join().unwrap().finish_reason, FinishReason::Shutdown);
        }
    });
}
