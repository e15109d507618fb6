//! The slots of the queue, and the sequences that a handler starts.

use interleavings::inference::{
    GenerateRequest, In, InferenceBuilder, Job, ModelHandle, OutStream, State, TokenOutput,
};
use interleavings::pretrained::Pretrained;
use interleavings::{Error, Result, ServiceError};
use shuttle::sync::{Arc, Mutex, mpsc};
use shuttle::thread;

use crate::check::{check, pretrained, request, serve};

type Model = ModelHandle<Pretrained>;

#[test]
fn no_more_are_let_in_than_may_wait() {
    /// Starts the request, unless it is for no tokens: then it only hands out the model.
    fn handler(
        In(request): In<GenerateRequest>,
        model: Model,
        State(models): State<mpsc::Sender<Model>>,
        output: OutStream<TokenOutput>,
    ) -> Result<()> {
        if request.max_tokens == 0 {
            models.send(model).unwrap();
            return Ok(());
        }
        model.prepare(&request)?.start(move |token| output.emit(token))
    }
    check(|| {
        let (models, model) = mpsc::channel();
        let builder = InferenceBuilder::new().with_model(pretrained());
        let inference = builder.with_state(models).with_max_waiting(2).build(handler).unwrap();
        drop(inference.infer(request(0)).spawn());
        let model = model.recv().unwrap();
        // The model thread is busy until all have asked, so that none leaves the queue.
        let ((busy, is_busy), (goes_on, may_go_on)) = (mpsc::channel(), mpsc::channel());
        thread::spawn(move || {
            let wait = move |_: &Pretrained| {
                busy.send(()).unwrap();
                may_go_on.recv().unwrap();
            };
            model.submit(wait).unwrap();
        });
        is_busy.recv().unwrap();
        let jobs = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let job = inference.infer(request(1)).spawn();
                    jobs.lock().unwrap().push(job);
                });
            }
        });
        goes_on.send(()).unwrap();
        let outcomes: Vec<_> = jobs.into_inner().unwrap().into_iter().map(Job::join).collect();
        let is_refused = |outcome: &&Result<_>| {
            matches!(outcome, Err(Error::Service(ServiceError::QueueFull { .. })))
        };
        assert_eq!(outcomes.iter().filter(is_refused).count(), 1);
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 2);
    });
}

#[test]
fn who_sees_a_completion_finds_its_slot_free() {
    check(|| {
        let inference = serve(|limits| limits.with_max_waiting(1));
        for _ in 0..3 {
            inference.infer(request(1)).spawn().join().unwrap();
        }
        // It has ended in the queue.
        let cancelled = inference.infer(request(1)).spawn();
        cancelled.cancel();
        cancelled.join().unwrap();
        inference.infer(request(1)).spawn().join().unwrap();
    });
}

#[test]
fn a_sequence_that_is_started_late_runs_or_is_refused() {
    check(|| {
        let late: Arc<Mutex<Option<thread::JoinHandle<bool>>>> = Arc::default();
        let starter = late.clone();
        let handler = move |In(request): In<GenerateRequest>,
                            model: Model,
                            output: OutStream<TokenOutput>| {
            let other = model.prepare(&request)?;
            let to = output.clone();
            let start = move || match other.start(move |token| to.emit(token)) {
                Ok(()) => true,
                Err(error) => {
                    assert!(
                        matches!(error, Error::Service(ServiceError::HandlerReturned)),
                        "{error}"
                    );
                    false
                }
            };
            *starter.lock().unwrap() = Some(thread::spawn(start));
            model.prepare(&request)?.start(move |token| output.emit(token))
        };
        let builder = InferenceBuilder::new().with_model(pretrained());
        let inference = builder.build(handler).unwrap();
        let completions = inference.infer(request(1)).spawn().join_all().unwrap();
        let late = late.lock().unwrap().take().unwrap();
        let is_in = late.join().unwrap();
        assert_eq!(completions.len(), 1 + usize::from(is_in));
    });
}
