use super::herd::Router;
use crate::support::{Case, Random};

#[test]
fn a_burst_is_spread() {
    let case = Case::rule("40 requests before the first answer begins, on 4 replicas: 10 each");
    let mut router = Router::new(4);
    let mut sent = [0; 4];
    for _ in 0..40 {
        sent[router.choose()] += 1;
    }
    case.equal([10; 4], sent);
    case.equal(vec![10; 4], router.open().to_vec());
}

#[test]
fn a_request_counts_once() {
    let case = Case::rule(
        "chosen, answered and ended, open is 1, 1 and 0; and of equal replicas the first is chosen",
    );
    let mut router = Router::new(2);
    let replica = router.choose();
    case.equal((0, vec![1, 0]), (replica, router.open().to_vec()));
    router.head(replica);
    case.equal(vec![1, 0], router.open().to_vec());
    router.end(replica);
    case.equal(vec![0, 0], router.open().to_vec());
}

#[test]
fn a_request_without_an_answer_counts_too() {
    let case = Case::rule("a request that ends without a head was open until then");
    let mut router = Router::new(2);
    let (first, second) = (router.choose(), router.choose());
    case.equal((0, 1), (first, second));
    router.end(0);
    case.equal(vec![0, 1], router.open().to_vec());
    router.head(1);
    case.equal(vec![0, 1], router.open().to_vec());
    case.equal(0, router.choose());
    router.end(0);
    router.end(1);
    case.equal(vec![0, 0], router.open().to_vec());
}

#[test]
fn one_that_refuses_takes_turns() {
    let case = Case::rule("with nothing open, the one that was chosen least often")
        .given("replica 0", "ends each request at once, without a head");
    let mut router = Router::new(3);
    let mut sent = [0; 3];
    for _ in 0..30 {
        let replica = router.choose();
        sent[replica] += 1;
        if replica != 0 {
            router.head(replica);
        }
        router.end(replica);
    }
    case.equal([10; 3], sent);
}

#[test]
fn any_order() {
    let mut random = Random::new(32);
    for _ in 0..200 {
        let replicas = 1 + random.below(4);
        let mut router = Router::new(replicas);
        let (mut open, mut chosen) = (vec![0_usize; replicas], vec![0_usize; replicas]);
        // The requests that have not ended, and whether their answers have begun.
        let mut running: Vec<(usize, bool)> = Vec::new();
        let mut events = Vec::new();
        for _ in 0..60 {
            let event = random.below(3);
            if event == 0 || running.is_empty() {
                events.push("choose".to_owned());
                let case =
                    Case::rule("the fewest open; of equal ones, the least often chosen; of these, the smallest index")
                        .given("events", &events);
                let best = (0..replicas).min_by_key(|&r| (open[r], chosen[r], r));
                let best = best.expect("there is one");
                case.equal(best, router.choose());
                open[best] += 1;
                chosen[best] += 1;
                running.push((best, false));
            } else if event == 1 {
                let index = random.below(running.len());
                if !running[index].1 {
                    running[index].1 = true;
                    events.push(format!("head of {}", running[index].0));
                    router.head(running[index].0);
                }
            } else {
                let (replica, _) = running.swap_remove(random.below(running.len()));
                events.push(format!("end of {replica}"));
                open[replica] -= 1;
                router.end(replica);
            }
            let case = Case::rule("open from `choose` to `end`").given("events", &events);
            case.equal(open.clone(), router.open().to_vec());
        }
    }
}
