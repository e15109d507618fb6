use super::prefix_router::{Replica, Settings, prefix_router};
use crate::support::{Case, Random};

fn replica(open: usize, sent: &[&[u32]]) -> Replica {
    Replica {
        open,
        sent: sent.iter().map(|prompt| prompt.to_vec()).collect(),
    }
}

#[track_caller]
fn check(
    rule: &str,
    replicas: &[Replica],
    prompt: &[u32],
    (block, imbalance): (usize, usize),
    expected: usize,
) {
    let case = Case::rule(rule)
        .given("replicas", replicas)
        .given("prompt", prompt)
        .given("block", block)
        .given("imbalance", imbalance);
    let found = prefix_router(replicas, prompt, Settings { block, imbalance });
    case.equal(expected, found);
}

#[test]
fn the_example_of_the_task() {
    let rule = "the example above the function: hits have whole blocks of any prompt sent, half of the prompt is enough, and `imbalance` more requests are allowed";
    let mut replicas = vec![
        replica(0, &[&[9, 9]]),
        replica(2, &[&[1, 2, 3, 9]]),
        replica(3, &[&[1, 2, 3, 4, 9], &[1]]),
    ];
    check(rule, &replicas, &[1, 2, 3, 4, 5], (2, 3), 2);
    replicas[2].open = 4;
    check(rule, &replicas, &[1, 2, 3, 4, 5], (2, 3), 0);
}

#[test]
fn half_of_the_prompt() {
    let rule = "a hit of half of the prompt is enough: no more than half is asked for";
    let replicas = [replica(0, &[]), replica(1, &[&[1, 2]])];
    check(rule, &replicas, &[1, 2, 3, 4], (1, 5), 1);
    let rule = "a hit of less than half is no reason to wait";
    check(rule, &replicas, &[1, 2, 3, 4, 5], (1, 5), 0);
    let rule = "without a hit, the fewest open requests, then the smallest index";
    let replicas = [replica(2, &[]), replica(1, &[]), replica(1, &[])];
    check(rule, &replicas, &[1], (1, 5), 1);
}

#[test]
fn the_longest_hit() {
    let rule = "the longest hit, whichever of the prompts has it";
    let replicas = [
        replica(0, &[&[1, 2, 3]]),
        replica(1, &[&[7], &[1, 2, 3, 4, 5], &[8]]),
        replica(1, &[&[1, 2, 3, 4]]),
    ];
    check(rule, &replicas, &[1, 2, 3, 4, 5, 6], (1, 5), 1);
    let rule = "a prefix, and no part in the middle";
    let replicas = [replica(1, &[&[0, 1, 2, 3, 4]]), replica(0, &[])];
    check(rule, &replicas, &[1, 2, 3, 4], (1, 5), 1);
    let rule = "tokens after the first difference do not count";
    let replicas = [
        replica(1, &[&[1, 0, 3, 4, 5, 6]]),
        replica(2, &[&[1, 2, 3]]),
    ];
    check(rule, &replicas, &[1, 2, 3, 4, 5, 6], (1, 5), 1);
    let rule = "of equal hits, the one with the fewest open requests";
    let replicas = [
        replica(3, &[&[1, 2]]),
        replica(2, &[&[1, 2, 3]]),
        replica(2, &[&[1, 2]]),
    ];
    check(rule, &replicas, &[1, 2], (1, 5), 1);
    let rule = "the whole prompt was sent before, as part of a longer one";
    let replicas = [replica(0, &[]), replica(1, &[&[1, 2, 3, 4]])];
    check(rule, &replicas, &[1, 2], (1, 5), 1);
}

#[test]
fn whole_blocks() {
    let rule = "a hit has whole blocks";
    let replicas = [replica(0, &[]), replica(1, &[&[1, 2, 3]])];
    check(rule, &replicas, &[1, 2, 3, 4], (4, 5), 0);
    check(rule, &replicas, &[1, 2, 3, 4], (3, 5), 1);
    let rule = "5 and 4 common tokens are as many blocks of 4";
    let replicas = [
        replica(1, &[&[1, 2, 3, 4, 5]]),
        replica(0, &[&[1, 2, 3, 4]]),
    ];
    check(rule, &replicas, &[1, 2, 3, 4, 5, 6], (4, 5), 1);
}

#[test]
fn too_busy() {
    let rule = "`imbalance` more than the least loaded is still allowed";
    let replicas = [replica(1, &[]), replica(3, &[&[1, 2]])];
    check(rule, &replicas, &[1, 2], (1, 2), 1);
    let rule = "more than that is not";
    check(rule, &replicas, &[1, 2], (1, 1), 0);
    let rule = "the longest hit of the replicas that are not left out";
    let replicas = [
        replica(0, &[]),
        replica(9, &[&[1, 2, 3, 4]]),
        replica(2, &[&[1, 2, 3]]),
    ];
    check(rule, &replicas, &[1, 2, 3, 4], (1, 4), 2);
    let rule = "what counts is the distance from the least loaded, and not from the mean";
    let replicas = [replica(100, &[]), replica(102, &[&[1, 2]]), replica(0, &[])];
    check(rule, &replicas, &[1, 2], (1, 4), 2);
    let rule = "an imbalance of `usize::MAX` leaves out no replica";
    let replicas = [replica(1, &[]), replica(9, &[&[1, 2]])];
    check(rule, &replicas, &[1, 2], (1, usize::MAX), 1);
}

#[test]
fn any_replicas() {
    let mut random = Random::new(32);
    for _ in 0..3000 {
        let prompts = |random: &mut Random| -> Vec<u32> {
            let length = 1 + random.below(7);
            // Few tokens, so that many prefixes agree.
            (0..length).map(|_| random.below(2) as u32).collect()
        };
        let replicas: Vec<Replica> = (0..1 + random.below(4))
            .map(|_| Replica {
                open: random.below(5),
                sent: (0..random.below(4)).map(|_| prompts(&mut random)).collect(),
            })
            .collect();
        let prompt = prompts(&mut random);
        let (block, imbalance) = (1 + random.below(3), random.below(4));
        let hit = |replica: &Replica| {
            let mut blocks = (0..=prompt.len() / block).rev();
            let has = |blocks: &usize| {
                let prefix = &prompt[..blocks * block];
                replica.sent.iter().any(|sent| sent.starts_with(prefix)) || *blocks == 0
            };
            block * blocks.find(has).expect("none is enough")
        };
        let least = replicas.iter().map(|replica| replica.open).min().expect("there is one");
        let near = |replica: &Replica| replica.open <= least + imbalance;
        let longest = replicas.iter().filter(|replica| near(replica)).map(hit).max();
        let longest = longest.expect("the least loaded is near");
        let wanted = |replica: &Replica| {
            near(replica) && (2 * longest < prompt.len() || hit(replica) == longest)
        };
        let open = replicas.iter().filter(|r| wanted(r)).map(|r| r.open).min();
        let expected = replicas.iter().position(|r| wanted(r) && Some(r.open) == open);
        let rule = "any replicas and prompts";
        check(rule, &replicas, &prompt, (block, imbalance), expected.expect("one is wanted"));
    }
}
