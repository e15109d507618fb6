//! What waits, what is paused and what runs: there is a bound to each.

use super::*;

fn bounded(running: usize, paused: usize, waiting: usize) -> Streaming {
    InferenceBuilder::new()
        .with_model(model())
        .with_stream_capacity(2)
        .with_max_running(running)
        .with_max_paused(paused)
        .with_max_waiting(waiting)
        .build(streaming_handler)
        .unwrap()
}

/// The load once nothing changes any more without a reader.
fn load_at_rest(inference: &Streaming) -> Load {
    let mut before = inference.load().unwrap();
    loop {
        thread::sleep(Duration::from_millis(1));
        // It takes a step after each answer, if there is anything to do.
        let load = inference.load().unwrap();
        if load.running == 0 && load == before {
            return load;
        }
        before = load;
    }
}

#[test]
fn jobs_that_nobody_reads_hold_no_more_caches_than_there_may_be() {
    watch(|| {
        let inference = bounded(2, 3, 100);
        let request = |seed| endless("Once", seed);
        let first = inference.infer(request(0)).spawn();
        let one = load_at_rest(&inference).kv_cache_bytes;
        let jobs = (1..30).map(|seed| inference.infer(request(seed)).spawn());
        let jobs: Vec<_> = std::iter::once(first).chain(jobs).collect();
        let at_rest = || {
            let load = load_at_rest(&inference);
            (load.running, load.paused, load.waiting, load.kv_cache_bytes)
        };
        let most = (0, 5, 25, 5 * one);
        assert_eq!(at_rest(), most);
        // Who waits behind them still has a deadline, and can be cancelled.
        let soon = request(30).with_deadline(Duration::from_millis(50));
        let late = inference.infer(soon).spawn().join().unwrap();
        assert_eq!(late.finish_reason, FinishReason::Deadline);
        let gone = inference.infer(request(31)).spawn();
        gone.cancel();
        assert_eq!(gone.join().unwrap().finish_reason, FinishReason::Cancelled);
        assert_eq!(at_rest(), most);
        // Read in order, each has its turn.
        for (seed, job) in (0..).zip(jobs) {
            assert_eq!(ids(&drained(job).0), alone(&request(seed)).ids);
        }
        assert_idle(&inference);
    });
}

/// Holds the thread of the model up where a callback says so.
struct Gate {
    arrived: mpsc::Receiver<()>,
    go: mpsc::Sender<()>,
}

/// A progress callback that waits at its first token, and the gate that it waits at.
fn gate() -> (impl FnMut(Progress) + Send + 'static, Gate) {
    let (arrive, arrived) = mpsc::channel();
    let (go, may_go) = mpsc::channel();
    let callback = move |progress: Progress| {
        if progress.tokens == 1 {
            arrive.send(()).unwrap();
            may_go.recv().unwrap();
        }
    };
    (callback, Gate { arrived, go })
}

#[test]
fn as_many_run_as_may_when_all_are_read_at_once() {
    const JOBS: usize = 10;
    watch(|| {
        let inference = bounded(2, JOBS, 100);
        // Once they are all to be cancelled, whoever still has a token took part in that step.
        let tokens = Arc::new(Mutex::new(Vec::new()));
        let cancels = Arc::new(Mutex::new(Vec::<CancelToken>::new()));
        let jobs: Vec<_> = (0..JOBS)
            .map(|job| {
                let (tokens, cancels) = (tokens.clone(), cancels.clone());
                let request = inference.infer(endless("Once", job as u64));
                let request = request.with_progress(move |_| {
                    tokens.lock().unwrap().push(job);
                    cancels.lock().unwrap().iter().for_each(CancelToken::cancel);
                });
                request.spawn()
            })
            .collect();
        let load = load_at_rest(&inference);
        assert_eq!((load.paused, load.waiting), (JOBS, 0));

        let (callback, gate) = gate();
        let last = inference.infer(endless("Once", 0)).with_progress(callback).spawn();
        gate.arrived.recv().unwrap();
        tokens.lock().unwrap().clear();
        for job in &jobs {
            assert_eq!(job.stream.iter().take(2).count(), 2);
        }
        let mut all: Vec<_> = jobs.iter().map(Job::cancel_token).collect();
        all.push(last.cancel_token());
        *cancels.lock().unwrap() = all;
        gate.go.send(()).unwrap();
        for job in jobs {
            assert_eq!(job.join().unwrap().finish_reason, FinishReason::Cancelled);
        }
        // Where a character was incomplete, more than two tokens came at once, and that job is
        // still behind: this need not be the first.
        // The last one goes on in its slot, so that one is left for all of them.
        assert_eq!(tokens.lock().unwrap().len(), 1, "{tokens:?}");
    });
}

#[test]
fn a_queue_that_is_full_says_so_with_its_limit() {
    watch(|| {
        let inference = bounded(1, 0, 3);
        let (callback, gate) = gate();
        let running = inference.infer(endless("Once", 0)).with_progress(callback).spawn();
        gate.arrived.recv().unwrap();
        let spawn = |seed| inference.infer(endless("Once", seed)).spawn();
        let waiting = [1, 2, 3].map(spawn);
        let error = spawn(4).join().unwrap_err();
        assert!(
            matches!(
                error,
                Error::Service(ServiceError::QueueFull { max_waiting: 3, waiting: 3, new: 1 })
            ),
            "{error}"
        );
        assert!(error.to_string().contains("limit of 3"), "{error}");
        let error = inference.infer(endless("Once", 4)).run().unwrap_err();
        assert!(matches!(error, Error::Service(ServiceError::QueueFull { .. })), "{error}");
        gate.go.send(()).unwrap();
        // One that has gone makes room for another, before its turn too.
        let [first, second, third] = waiting;
        drop(second);
        assert_eq!(inference.load().unwrap().waiting, 2);
        let fourth = spawn(4);
        drop(running);
        for (seed, job) in [(1, first), (3, third), (4, fourth)] {
            assert_eq!(ids(&drained(job).0), alone(&endless("Once", seed)).ids);
        }
        assert_idle(&inference);
    });
}

#[test]
fn a_job_of_more_sequences_than_may_wait_is_refused_as_a_whole() {
    watch(|| {
        let inference = InferenceBuilder::new()
            .with_model(model())
            .with_max_waiting(3)
            .build(batch_handler)
            .unwrap();
        let requests = |n: usize| -> Vec<_> {
            (0..n).map(|seed| endless("Once", seed as u64).with_max_tokens(5)).collect()
        };
        let error = inference.infer(requests(4)).run().unwrap_err();
        assert!(
            matches!(
                error,
                Error::Service(ServiceError::QueueFull { max_waiting: 3, waiting: 0, new: 4 })
            ),
            "{error}"
        );
        assert_eq!(inference.infer(requests(3)).run().unwrap().completions.len(), 3);
    });
}

/// A job of several sequences that fails in one of them needs none of the others, also those
/// that still wait.
#[test]
fn a_job_that_fails_frees_its_places_in_the_queue() {
    watch(|| {
        let inference = InferenceBuilder::new()
            .with_model(model())
            .with_max_running(1)
            .with_max_waiting(8)
            .build(batch_handler)
            .unwrap();
        let request = inference.infer(vec![endless("Once", 1); 8]).with_progress(|progress| {
            assert!(progress.tokens < 3, "the progress callback is wrong");
        });
        let job = request.spawn();
        let _ = job.stream.iter().count();
        assert_idle(&inference);
        assert!(matches!(job.join_all(), Err(Error::Service(ServiceError::Panicked { .. }))));
        let short = vec![endless("Once", 1).with_max_tokens(2); 8];
        assert_eq!(inference.infer(short).run().unwrap().completions.len(), 8);
    });
}

/// The time of the fastest step of a job that runs while `waiting` others wait.
fn fastest_step(waiting: usize) -> Duration {
    let inference = bounded(1, 0, waiting + 1);
    let (mut callback, gate) = gate();
    let steps = Arc::new(Mutex::new(Vec::new()));
    let keep = steps.clone();
    let request = inference.infer(endless("Once", 0)).with_progress(move |progress| {
        callback(progress);
        keep.lock().unwrap().push(Instant::now());
    });
    let job = request.spawn();
    gate.arrived.recv().unwrap();
    let later = Duration::from_secs(1000);
    let spawn = |seed| inference.infer(endless("a", seed).with_deadline(later)).spawn();
    let others: Vec<_> = (0..waiting as u64).map(spawn).collect();
    gate.go.send(()).unwrap();
    assert_eq!(drained(job).0.len(), 200);
    drop(others);
    assert_idle(&inference);
    let steps = steps.lock().unwrap();
    steps.windows(2).map(|pair| pair[1] - pair[0]).min().unwrap()
}

#[test]
fn a_step_takes_no_longer_where_many_wait() {
    watch(|| {
        let (alone, beside) = (fastest_step(0), fastest_step(50_000));
        assert!(beside < 3 * alone, "{alone:?} alone, {beside:?} while 50,000 wait");
    });
}
