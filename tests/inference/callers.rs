//! Callers who want something of the model again and again, while jobs run.

use super::*;

/// What those who call the model share.
#[derive(Clone, Default)]
struct Calls {
    /// How many have been made.
    made: Arc<AtomicUsize>,
    /// How many callers are about to call.
    callers: Arc<AtomicUsize>,
}

/// What a job is here.
#[derive(Clone)]
enum Work {
    Generate(Box<GenerateRequest>),
    /// So many calls, one after the other, that take so long.
    Call(usize, Duration),
}

fn handler(
    In(work): In<Work>,
    model: ModelHandle<Model>,
    State(calls): State<Calls>,
    output: OutStream<TokenOutput>,
) -> Result<()> {
    match work {
        Work::Generate(request) => model.prepare(&request)?.start(move |token| output.emit(token)),
        Work::Call(times, time) => {
            calls.callers.fetch_add(1, Ordering::Relaxed);
            for _ in 0..times {
                let made = calls.made.clone();
                model.submit(move |_| {
                    thread::sleep(time);
                    made.fetch_add(1, Ordering::Relaxed);
                })?;
            }
            Ok(())
        }
    }
}

type Calling = Inference<Work, TokenOutput, Model, Calls>;

/// A job pauses where `capacity` items wait to be read, and whoever asks meanwhile need not wait
/// for a step.
fn calling(calls: &Calls, capacity: usize) -> Calling {
    InferenceBuilder::new()
        .with_model(model())
        .with_state(calls.clone())
        .with_stream_capacity(capacity)
        .with_max_running(1)
        .build(handler)
        .unwrap()
}

/// How often something was done between one token of a job and the next, at most. The job has a
/// token each time that `progress` is called.
fn greatest_gap(marks: &[usize]) -> usize {
    marks.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap()
}

#[test]
fn whoever_calls_again_and_again_waits_for_the_next_step() {
    const CALLERS: usize = 4;
    const CALLS: usize = 200;
    // A step takes a tenth of a millisecond, and a machine with other work may wake a caller late.
    const TOKENS: usize = 240;
    watch(|| {
        let calls = Calls::default();
        let inference = calling(&calls, 1000);
        thread::scope(|scope| {
            for _ in 0..CALLERS {
                let work = Work::Call(CALLS, Duration::from_millis(5));
                scope.spawn(|| inference.infer(work).spawn().join().unwrap_err());
            }
            let marks = Arc::new(Mutex::new(Vec::new()));
            let (keep, made) = (marks.clone(), calls.made.clone());
            let work = Work::Generate(Box::new(endless("Once", 1).with_max_tokens(TOKENS)));
            let job = inference.infer(work).with_progress(move |_| {
                keep.lock().unwrap().push(made.load(Ordering::Relaxed));
            });
            assert_eq!(job.run().unwrap().outputs.len(), TOKENS);
            let marks = marks.lock().unwrap();
            let half = CALLERS * CALLS / 2;
            assert!(marks[0] < half, "the job has its turn while they call: {marks:?}");
            assert!(greatest_gap(&marks) <= CALLERS, "each has one call a step: {marks:?}");
            assert!(marks[TOKENS - 1] > 20, "and they have their turns: {marks:?}");
        });
    });
}

#[test]
fn whoever_asks_for_the_load_again_and_again_waits_for_the_next_step() {
    const ASKING: usize = 16;
    watch(|| {
        let build = InferenceBuilder::new().with_model(model()).with_stream_capacity(1000);
        let inference = build.build(streaming_handler).unwrap();
        let (answered, done) = (Arc::new(AtomicUsize::new(0)), AtomicBool::new(false));
        thread::scope(|scope| {
            for _ in 0..ASKING {
                scope.spawn(|| {
                    for _ in 0..20_000 {
                        if done.load(Ordering::Relaxed) {
                            break;
                        }
                        inference.load().unwrap();
                        answered.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
            let marks = Arc::new(Mutex::new(Vec::new()));
            let (keep, count) = (marks.clone(), answered.clone());
            let job = inference.infer(endless("Once", 1)).with_progress(move |_| {
                keep.lock().unwrap().push(count.load(Ordering::Relaxed));
            });
            assert_eq!(job.run().unwrap().outputs.len(), 200);
            done.store(true, Ordering::Relaxed);
            let marks = marks.lock().unwrap();
            // One answer each a step. Who was answered may count it only after the next one.
            assert!(marks[199] - marks[0] <= ASKING * 200, "{marks:?}");
        });
    });
}

#[test]
fn deadlines_and_cancels_hold_within_a_row_of_calls() {
    const CALLERS: usize = 20;
    watch(|| {
        let calls = Calls::default();
        let inference = Arc::new(calling(&calls, 2));
        let call = |time| {
            let inference = inference.clone();
            thread::spawn(move || inference.infer(Work::Call(1, time)).spawn().join())
        };
        // The first call holds the thread up until the others are there.
        let mut callers = vec![call(Duration::from_millis(500))];
        while calls.callers.load(Ordering::Relaxed) < 1 {
            thread::yield_now();
        }
        let generate = |seed, deadline| {
            let request = endless("Once", seed).with_deadline(deadline);
            inference.infer(Work::Generate(Box::new(request))).spawn()
        };
        let soon = Duration::from_millis(700);
        // One runs, if its turn comes before the calls, and the others wait.
        let late = [1, 2].map(|seed| generate(seed, soon));
        let cancelled = generate(3, Duration::MAX);
        callers.extend((1..CALLERS).map(|_| call(Duration::from_millis(200))));
        while calls.made.load(Ordering::Relaxed) < 3 {
            thread::sleep(Duration::from_millis(1));
        }
        cancelled.cancel();
        let reason = |job: Job<TokenOutput>| job.join().unwrap().finish_reason;
        assert_eq!(reason(cancelled), FinishReason::Cancelled);
        for job in late {
            assert_eq!(reason(job), FinishReason::Deadline);
        }
        let made = calls.made.load(Ordering::Relaxed);
        assert!(made < CALLERS - 5, "{made} calls were made until then");
        for caller in callers {
            caller.join().unwrap().unwrap_err();
        }
    });
}

#[test]
fn a_caller_from_outside_may_call_the_model_while_jobs_run() {
    watch(|| {
        let inference = streaming();
        let job = inference.infer(endless("Once", 1)).spawn();
        let vocabulary = |model: &Model| model.model.config().vocab_size;
        assert_eq!(inference.submit(vocabulary).unwrap(), model().model.config().vocab_size);
        let error = inference.submit(|_| panic!("no")).unwrap_err();
        assert!(matches!(error, Error::Service(ServiceError::Panicked { .. })), "{error}");
        assert_eq!(drained(job).0.len(), 200);
        inference.shut_down();
        assert!(matches!(
            inference.submit(vocabulary).unwrap_err(),
            Error::Service(ServiceError::ShutDown)
        ));
    });
}
