//! Requests to a router in front of two engines.

use std::sync::LazyLock;

use your_engine::Parts;
use your_engine::router::{self, Found, Policy};
use your_engine::server::Stopped;
use your_engine::verdict::{Expected, of_routed};

use crate::ANSWERS;
use crate::support::{
    ENGINE, LIMIT, SAME, assert_each_fits, assert_each_is_seen, right, with_a_wrong_one,
};

const OF_A_ROUTER: [&str; 4] = ["health", "prefix_router", "bounded_hash", "retry_elsewhere"];

fn ask(parts: &Parts, policy: Policy) -> Result<Found, Stopped> {
    router::ask(&ENGINE, parts, policy, LIMIT)
}

/// What the book's parts make of the requests.
static EXPECTED: LazyLock<[Found; 2]> =
    LazyLock::new(|| Policy::ALL.map(|policy| ask(&Parts::of_the_book(), policy).unwrap()));

/// What comes of the requests: what broke, what differs, or else the first call that does.
fn said(parts: &Parts) -> String {
    for (policy, expected) in Policy::ALL.into_iter().zip(EXPECTED.iter()) {
        match ask(parts, policy) {
            Err(Stopped::Broken(broken)) => return broken.to_string(),
            Err(Stopped::Other(error)) => return error,
            Ok(found) => {
                if let Some(wrong) = of_routed(&found, expected) {
                    return wrong;
                }
            }
        }
    }
    parts.noticed.odd().map_or(SAME.to_owned(), |odd| odd.to_string())
}

#[test]
fn all_parts_send_each_request_to_the_same_replicas() {
    assert_eq!(said(&right(ANSWERS)), SAME);
    assert_each_fits(ANSWERS.iter().filter(|answers| OF_A_ROUTER.contains(&answers.part)), said);
}

#[test]
fn the_requests_ask_something_of_every_part() {
    let crates = Expected::several(&ENGINE.1);
    for found in EXPECTED.iter() {
        // Replica 0 is gone. It is asked first, and never again once two checks have failed.
        let first = &found.routed[0];
        assert_eq!((first.tried.len(), first.status), (2, 200), "{first:?}");
        assert!(found.routed[1..].iter().all(|routed| !routed.tried.contains(&0)), "{found:?}");
        // Both engines work, one request is refused by both, and then the budget has no retry left.
        for engine in [1, 2] {
            assert!(found.routed.iter().any(|routed| routed.tried.last() == Some(&engine)));
        }
        let last = found.routed.last().unwrap();
        assert_eq!((last.tried.len(), last.status), (1, 429), "{last:?}");
        // Wherever a text was written, it is the one that the crate writes alone.
        for (text, expected) in [1, 2, 3, 0].into_iter().enumerate() {
            assert_eq!(found.texts[text], Some(Ok(crates[expected].streamed.clone())));
        }
    }
    // Those that begin alike go to the same engine.
    let [by_prefix, by_hash] = &*EXPECTED;
    assert_eq!(by_prefix.routed[1].tried, by_prefix.routed[2].tried);
    assert_ne!(by_prefix.routed, by_hash.routed);
}

#[test]
fn a_wrong_answer_in_any_place_is_seen() {
    let wrong = [
        ("health", "wrong_one_more", "Request 2 went to replica 0, then 1, instead of 2."),
        (
            "prefix_router",
            "wrong_last_of_equal",
            "Request 1 went to replica 2, instead of 0, then 1.",
        ),
        (
            "bounded_hash",
            "wrong_new_request_left_out",
            "Request 2 went to replica 2, instead of 1.",
        ),
        ("bounded_hash", "wrong_one_more", "Request 3 went to replica 1, instead of 2."),
        (
            "retry_elsewhere",
            "wrong_always_503",
            "Request 6 went to replica 1, then 2: 503, instead of 1, then 2: 429.",
        ),
    ];
    for part in OF_A_ROUTER {
        assert!(wrong.iter().any(|(name, ..)| *name == part), "{part}");
    }
    assert_each_is_seen(ANSWERS, &wrong, said);
}

#[test]
fn requests_can_be_right_with_a_wrong_part() {
    // No replica comes back, drains, or breaks in the middle.
    for (part, variant) in [
        ("health", "wrong_never_set_back"),
        ("health", "wrong_draining_keeps_the_count"),
        ("retry_elsewhere", "wrong_broken_is_retried"),
    ] {
        assert_eq!(with_a_wrong_one(ANSWERS, part, variant, said), SAME, "{part}, {variant}");
    }
}
