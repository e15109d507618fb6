use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use super::full_queue::{Queue, Refusal, Slots};
use crate::support::{Case, Random, in_time};

use Refusal::{Full, TooLarge};

const SECOND: Duration = Duration::from_secs(1);

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
        if thread::panicking() {
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
    let case = Case::rule("all slots of a new queue are free").given("capacity", 4);
    case.equal(4, Queue::new(4).free());
}

#[test]
fn requests_take_slots() {
    let rule = "a request takes a slot for each of its sequences";
    check(rule, 4, &[1], (&[Ok("Slots")], 3));
    check(rule, 4, &[3, 1], (&[Ok("Slots"), Ok("Slots")], 0));
}

#[test]
fn a_full_queue_refuses() {
    let rule = "where all slots are taken, the next request is refused";
    check(rule, 1, &[1, 1], (&[Ok("Slots"), Err(Full { retry_after: 1 })], 0));
}

#[test]
fn all_or_none() {
    let rule = "a request gets all its slots or none, and a smaller one may have room behind it";
    let answers = [Ok("Slots"), Err(Full { retry_after: 1 }), Ok("Slots")];
    check(rule, 4, &[3, 2, 1], (&answers, 0));
    let answers = [
        Ok("Slots"),
        Err(Full { retry_after: 3 }),
        Err(Full { retry_after: 3 }),
    ];
    check(rule, 4, &[3, 4, 4], (&answers, 1));
}

#[test]
fn more_than_there_is() {
    let rule = "a request that needs more slots than there are is too large, full or not";
    check(rule, 4, &[5, 4, 5], (&[Err(TooLarge), Ok("Slots"), Err(TooLarge)], 0));
    check(
        rule,
        4,
        &[usize::MAX, 1, usize::MAX],
        (&[Err(TooLarge), Ok("Slots"), Err(TooLarge)], 3),
    );
    check(rule, 0, &[1], (&[Err(TooLarge)], 0));
    let rule = "no number overflows";
    let max = usize::MAX;
    check(rule, max, &[max, max], (&[Ok("Slots"), Err(Full { retry_after: 60 })], 0));
    let two_to_the_32 = usize::try_from(1_u64 << 32).unwrap_or(max);
    let answers = [Ok("Slots"), Err(Full { retry_after: 60 })];
    check(rule, two_to_the_32, &[two_to_the_32; 2], (&answers, 0));
}

#[test]
fn dropped_slots_are_free() {
    let case = Case::rule("dropping the slots of a request frees all of them (shown: free slots)")
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
}

#[test]
fn slots_do_not_need_the_queue() {
    let case =
        Case::rule("slots may be dropped in another thread, after the queue").given("capacity", 2);
    in_time(&case, || {
        let queue = Queue::new(2);
        let slots = admit(&queue, 2, SECOND);
        drop(queue);
        thread::spawn(move || drop(slots)).join().expect("your `drop` panicked, see above");
    });
}

#[test]
fn what_is_refused_takes_nothing() {
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
}

#[test]
fn one_sequence_ends_before_the_others() {
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
}

#[test]
fn no_slot_is_freed_twice() {
    let case = Case::rule("a slot is freed once, however often one says so (shown: free slots)")
        .given("capacity", 5)
        .given("requests", "2 sequences, which stay, and 2: end_one four times, then dropped");
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
}

#[test]
fn a_panic_frees_the_slots() {
    let case = Case::rule("a panic in a thread that has slots frees them, and the queue goes on")
        .given("capacity", 2)
        .given("thread", "has 2 slots, and panics");
    let found = in_time(&case, || {
        let queue = Queue::new(2);
        let slots = queue.admit(2, SECOND);
        let thread = thread::Builder::new().spawn(move || {
            let _slots = slots;
            std::panic::resume_unwind(Box::new("on purpose"));
        });
        let _ = thread.expect("a thread").join();
        (queue.free(), admit(&queue, 1, SECOND).said())
    });
    case.equal((2, Ok("Slots")), found);
}

#[test]
fn when_to_come_again() {
    let check = |rule: &str, missing: usize, per_slot: Duration, expected: u64| {
        let case = Case::rule(rule)
            .given("capacity", 1000)
            .given("slots that are missing", missing)
            .given("per_slot", per_slot);
        let queue = Queue::new(1000);
        let stays = admit(&queue, 1000 - 7, SECOND);
        let found = admit(&queue, 7 + missing, per_slot).said();
        drop(stays);
        case.equal(Err(Full { retry_after: expected }), found);
    };
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
    check(rule, 900, Duration::MAX, 60);
    check(rule, 1, Duration::MAX, 60);
}

#[test]
fn many_threads() {
    let case = Case::rule("never more slots than there are, and all are free in the end")
        .given("capacity", 5)
        .given("threads", "8, each of them 500 times: admit 1 to 3, and drop it");
    let found = in_time(&case, || {
        let (queue, used) = (Arc::new(Queue::new(5)), Arc::new(AtomicUsize::new(0)));
        let threads: Vec<_> = (0..8)
            .map(|seed| {
                let (queue, used) = (queue.clone(), used.clone());
                thread::spawn(move || {
                    let mut random = Random::new(seed);
                    let mut most = 0;
                    for _ in 0..500 {
                        let count = 1 + random.below(3);
                        if let Ok(slots) = queue.admit(count, SECOND) {
                            most = most.max(count + used.fetch_add(count, Ordering::SeqCst));
                            thread::yield_now();
                            used.fetch_sub(count, Ordering::SeqCst);
                            drop(slots);
                        }
                    }
                    most
                })
            })
            .collect();
        let join = |thread: thread::JoinHandle<usize>| thread.join().expect("see above");
        let most = threads.into_iter().map(join).max();
        (most, queue.free())
    });
    case.holds(
        found.0.is_some_and(|most| most <= 5) && found.1 == 5,
        "at most 5 slots in use, and 5 free in the end",
        format!("{:?} in use, and {} free in the end", found.0, found.1),
    );
}
