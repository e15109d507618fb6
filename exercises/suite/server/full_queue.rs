use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind, take_hook};
use std::sync::{Arc, Once};
use std::thread::panicking;
use std::time::Duration;

use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, FailurePersistence, MaxSteps, Runner, thread};

use super::full_queue::{Queue, Refusal, Slots};
use crate::support::Case;

use Refusal::{Full, TooLarge};

const SECOND: Duration = Duration::from_secs(1);

/// Runs `test` under a scheduler, which decides after each step of a thread whose turn it is.
fn run(scheduler: impl Scheduler + 'static, test: impl Fn() + Send + Sync + 'static) {
    static HOOK: Once = Once::new();
    // With its first runner, shuttle makes every panic of the program name a schedule.
    HOOK.call_once(|| {
        Runner::new(RandomScheduler::new_from_seed(0, 1), config()).run(|| {});
        drop(take_hook());
    });
    Runner::new(scheduler, config()).run(test);
}

fn config() -> Config {
    let mut config = Config::new();
    config.stack_size = 1 << 18;
    config.max_steps = MaxSteps::FailAfter(100_000);
    config.failure_persistence = FailurePersistence::None;
    config.silence_warnings = true;
    config
}

/// What has one thread runs once.
fn once(test: impl Fn() + Send + Sync + 'static) {
    run(RandomScheduler::new_from_seed(8, 1), test);
}

/// What `admit` gave. While a test fails its slots are not dropped: a second panic would end the
/// whole run of the tests.
struct Admitted(Option<Result<Slots, Refusal>>);

fn admit(queue: &Queue, sequences: usize, per_slot: Duration) -> Admitted {
    Admitted(Some(queue.admit(sequences, per_slot)))
}

impl Admitted {
    fn said(&self) -> Result<&'static str, Refusal> {
        match self.0.as_ref().expect("it is taken in `drop` alone") {
            Ok(_) => Ok("Slots"),
            Err(refusal) => Err(refusal.clone()),
        }
    }

    fn end_one(&mut self) {
        if let Some(Ok(slots)) = &mut self.0 {
            slots.end_one();
        }
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        if panicking() {
            std::mem::forget(self.0.take());
        }
    }
}

/// Admits requests with so many sequences each, which stay. Then, the answers and how many slots
/// are free.
fn check(
    rule: &str,
    capacity: usize,
    requests: &[usize],
    expected: (&[Result<&'static str, Refusal>], usize),
) {
    let case = Case::rule(format!("{rule} (shown: the answers, and how many slots are free then)"))
        .given("capacity", capacity)
        .given("sequences of each request, which all stay", requests)
        .given("per_slot", SECOND);
    let queue = Queue::new(capacity);
    let admitted: Vec<_> = requests.iter().map(|&n| admit(&queue, n, SECOND)).collect();
    let found: Vec<_> = admitted.iter().map(Admitted::said).collect();
    case.equal((expected.0.to_vec(), expected.1), (found, queue.free()));
}

#[test]
fn a_new_queue_is_free() {
    once(|| {
        let case = Case::rule("all slots of a new queue are free").given("capacity", 4);
        case.equal(4, Queue::new(4).free());
    });
}

#[test]
fn requests_take_slots() {
    once(|| {
        let rule = "a request takes a slot for each of its sequences";
        check(rule, 4, &[1], (&[Ok("Slots")], 3));
        check(rule, 4, &[3, 1], (&[Ok("Slots"), Ok("Slots")], 0));
    });
}

#[test]
fn a_full_queue_refuses() {
    once(|| {
        let rule = "if all slots are taken, the next request is refused";
        check(rule, 1, &[1, 1], (&[Ok("Slots"), Err(Full { retry_after: 1 })], 0));
    });
}

#[test]
fn all_or_none() {
    once(|| {
        let rule =
            "a request gets all its slots or none, and a smaller one may have room behind it";
        let answers = [Ok("Slots"), Err(Full { retry_after: 1 }), Ok("Slots")];
        check(rule, 4, &[3, 2, 1], (&answers, 0));
        let answers = [
            Ok("Slots"),
            Err(Full { retry_after: 3 }),
            Err(Full { retry_after: 3 }),
        ];
        check(rule, 4, &[3, 4, 4], (&answers, 1));
    });
}

#[test]
fn more_than_there_is() {
    once(|| {
        let rule = "a request that needs more slots than there are is too large, full or not";
        check(rule, 4, &[5, 4, 5], (&[Err(TooLarge), Ok("Slots"), Err(TooLarge)], 0));
        check(
            rule,
            4,
            &[usize::MAX, 1, usize::MAX],
            (&[Err(TooLarge), Ok("Slots"), Err(TooLarge)], 3),
        );
        check(rule, 0, &[1], (&[Err(TooLarge)], 0));
    });
}

#[test]
fn dropped_slots_are_free() {
    once(|| {
        let case =
            Case::rule("dropping the slots of a request frees all of them (shown: free slots)")
                .given("capacity", 4)
                .given("requests", "3 sequences, and 1")
                .given("dropped", "the first, then the second");
        let queue = Queue::new(4);
        let (first, second) = (admit(&queue, 3, SECOND), admit(&queue, 1, SECOND));
        let mut free = vec![queue.free()];
        drop(first);
        free.push(queue.free());
        drop(second);
        free.push(queue.free());
        case.equal(vec![0, 3, 4], free);
    });
}

#[test]
fn slots_do_not_need_the_queue() {
    once(|| {
        let case = Case::rule("slots may be dropped in another thread, after the queue")
            .given("capacity", 2);
        let queue = Queue::new(2);
        let slots = admit(&queue, 2, SECOND);
        drop(queue);
        let ended = thread::spawn(move || drop(slots)).join().is_ok();
        case.holds(ended, "the thread ends", "a panic");
    });
}

#[test]
fn what_is_refused_takes_nothing() {
    once(|| {
        let case =
            Case::rule("a refusal takes no slot, and dropping it frees none (shown: free slots)")
                .given("capacity", 4)
                .given("requests", "3 sequences, which stay, and then 2 and 9, again and again");
        let queue = Queue::new(4);
        let stays = admit(&queue, 3, SECOND);
        for _ in 0..5 {
            drop(admit(&queue, 2, SECOND));
            drop(admit(&queue, 9, SECOND));
            case.equal(1, queue.free());
        }
        drop(stays);
        case.equal(4, queue.free());
    });
}

#[test]
fn one_sequence_ends_before_the_others() {
    once(|| {
        let case = Case::rule(
            "a sequence that ends frees its slot, and the drop frees the others (shown: free slots)",
        )
        .given("capacity", 4)
        .given("request", "3 sequences: end_one twice, then dropped");
        let queue = Queue::new(4);
        let mut slots = admit(&queue, 3, SECOND);
        let mut free = vec![queue.free()];
        for _ in 0..2 {
            slots.end_one();
            free.push(queue.free());
        }
        drop(slots);
        free.push(queue.free());
        case.equal(vec![1, 2, 3, 4], free);
    });
}

#[test]
fn no_slot_is_freed_twice() {
    once(|| {
        let case =
            Case::rule("a slot is freed once, however often end_one is called (shown: free slots)")
                .given("capacity", 5)
                .given(
                    "requests",
                    "2 sequences, which stay, and 2: end_one four times, then dropped",
                );
        let queue = Queue::new(5);
        let stays = admit(&queue, 2, SECOND);
        let mut slots = admit(&queue, 2, SECOND);
        let mut free = Vec::new();
        for _ in 0..4 {
            slots.end_one();
            free.push(queue.free());
        }
        drop(slots);
        free.push(queue.free());
        case.equal(vec![2, 3, 3, 3, 3], free);
        drop(stays);
    });
}

#[test]
fn a_panic_frees_the_slots() {
    once(|| {
        let case = Case::rule("a panic of what has slots frees them, and the queue goes on")
            .given("capacity", 2)
            .given("request", "has 2 slots, and panics");
        let queue = Queue::new(2);
        let slots = queue.admit(2, SECOND);
        let panics = catch_unwind(AssertUnwindSafe(move || {
            let _slots = slots;
            resume_unwind(Box::new("on purpose"));
        }));
        let answer = admit(&queue, 1, SECOND);
        case.equal((true, Ok("Slots")), (panics.is_err(), answer.said()));
    });
}

/// What a request is told for which so many slots are missing.
fn check_retry(rule: &str, missing: usize, per_slot: Duration, expected: u64) {
    let case = Case::rule(rule)
        .given("capacity", 1000)
        .given("slots that are missing", missing)
        .given("per_slot", per_slot);
    let queue = Queue::new(1000);
    let stays = admit(&queue, 1000 - 7, SECOND);
    let found = admit(&queue, 7 + missing, per_slot).said();
    drop(stays);
    case.equal(Err(Full { retry_after: expected }), found);
}

#[test]
fn when_to_come_again() {
    once(|| {
        let check = check_retry;
        let rule = "per_slot for each slot that is missing";
        check(rule, 1, SECOND, 1);
        check(rule, 5, 2 * SECOND, 10);
        check(rule, 8, Duration::from_millis(500), 4);
        let rule = "it is rounded up to whole seconds, after the multiplication";
        check(rule, 1, Duration::from_millis(1001), 2);
        check(rule, 3, Duration::from_millis(800), 3);
        check(rule, 5, Duration::from_millis(800), 4);
        check(rule, 50, Duration::from_millis(140), 7);
        check(rule, 2, Duration::from_nanos(1_000_000_001), 3);
        let rule = "it is at least 1";
        check(rule, 1, Duration::ZERO, 1);
        check(rule, 3, Duration::from_millis(1), 1);
        let rule = "it is at most 60";
        check(rule, 60, SECOND, 60);
        check(rule, 61, SECOND, 60);
    });
}

/// Three threads, each of which admits a request of two sequences, ends one of them, and drops the
/// rest; then, whether all slots are free.
fn three_threads() {
    let rule = "no other thread comes between a look at the count and its change: never more slots than there are, and all are free in the end";
    let case = Case::rule(rule)
        .given("capacity", 3)
        .given("threads", "3, each of them: admit 2, end_one, drop")
        .given("order", "many are tried: this is one in which it goes wrong");
    let queue = Arc::new(Queue::new(3));
    // What is admitted: nobody else has a turn between two of its lines.
    let admitted = Arc::new(std::sync::Mutex::new((0, 0)));
    let request = |queue: Arc<Queue>, admitted: Arc<std::sync::Mutex<(usize, usize)>>| {
        move || {
            let count = |change: fn(usize) -> usize| {
                let mut admitted = admitted.lock().unwrap_or_else(|error| error.into_inner());
                admitted.0 = change(admitted.0);
                admitted.1 = admitted.1.max(admitted.0);
            };
            let mut slots = admit(&queue, 2, SECOND);
            if slots.said().is_ok() {
                count(|admitted| admitted + 2);
                thread::yield_now();
                count(|admitted| admitted - 1);
                slots.end_one();
                thread::yield_now();
                count(|admitted| admitted - 1);
            }
        }
    };
    // A panic would end the run before the rule is told.
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let request = request(queue.clone(), admitted.clone());
            thread::spawn(move || catch_unwind(AssertUnwindSafe(request)).is_ok())
        })
        .collect();
    let ended = threads.into_iter().all(|thread| thread.join().unwrap_or(false));
    let most = admitted.lock().unwrap_or_else(|error| error.into_inner()).1;
    let free = catch_unwind(AssertUnwindSafe(|| queue.free())).ok();
    let found = match free {
        Some(free) if ended => format!("{most} in use, and {free} free in the end"),
        _ => "the panic above. Where all other tests pass, it is a race: the count was changed by another thread between two of your lines".into(),
    };
    case.told(
        ended && most <= 3 && free == Some(3),
        "at most 3 slots in use, and 3 free in the end",
        &found,
    );
}

#[test]
fn many_threads() {
    run(RandomScheduler::new_from_seed(8, 1000), three_threads);
    run(PctScheduler::new_from_seed(8, 3, 1000), three_threads);
}

#[test]
fn limit_no_number_overflows() {
    once(|| {
        let rule = "no number overflows";
        let max = usize::MAX;
        check(rule, max, &[max, max], (&[Ok("Slots"), Err(Full { retry_after: 60 })], 0));
        let two_to_the_32 = usize::try_from(1_u64 << 32).unwrap_or(max);
        let answers = [Ok("Slots"), Err(Full { retry_after: 60 })];
        check(rule, two_to_the_32, &[two_to_the_32; 2], (&answers, 0));
        let rule = "`per_slot` may be any Duration, and the wait is at most 60";
        check_retry(rule, 900, Duration::MAX, 60);
        check_retry(rule, 1, Duration::MAX, 60);
    });
}
