use super::bounded_hash::bounded_hash;
use crate::support::{Case, Random};

fn check(
    rule: &str,
    ring: &[(u64, usize)],
    key: u64,
    (loads, percent): (&[usize], usize),
    expected: usize,
) {
    let case = Case::rule(rule)
        .given("ring", ring)
        .given("key", key)
        .given("loads", loads)
        .given("percent", percent);
    case.equal(expected, bounded_hash(ring, key, loads, percent));
}

const RING: [(u64, usize); 4] = [(10, 0), (20, 1), (30, 0), (40, 2)];

#[test]
fn the_example_of_the_task() {
    let rule = "the example above the function: the first point at or after the key, around the ring, whose replica is below the bound, rounded up";
    check(rule, &RING, 15, (&[0, 0, 0], 125), 1);
    check(rule, &RING, 41, (&[0, 0, 0], 125), 0);
    check(rule, &RING, 15, (&[1, 3, 2], 125), 0);
}

#[test]
fn the_first_point_at_or_after_the_key() {
    let rule = "the first point at the key or after it";
    let free: (&[usize], usize) = (&[0, 0, 0], 100);
    for (key, replica) in [(0, 0), (10, 0), (11, 1), (20, 1), (21, 0), (31, 2), (40, 2)] {
        check(rule, &RING, key, free, replica);
    }
    let rule = "after the last point comes the first";
    check(rule, &RING, 41, free, 0);
    check(rule, &RING, u64::MAX, free, 0);
    check(
        "the new request counts in the mean, so a ring of one point has room for it",
        &[(5, 0)],
        6,
        (&[7], 100),
        0,
    );
    let rule = "points and keys have 64 bits";
    let wide = [(1 << 20, 0), (1 << 40, 1), (1 << 60, 2)];
    check(rule, &wide, (1 << 40) + 1, free, 2);
    check(rule, &wide, (1 << 20) + 1, free, 1);
}

#[test]
fn the_bound() {
    let rule = "a replica with as many as the bound is passed over";
    // 6 * 1 / 3 = 2
    check(rule, &RING, 15, (&[1, 2, 2], 100), 0);
    check(rule, &RING, 15, (&[2, 2, 1], 100), 2);
    check(rule, &RING, 15, (&[2, 1, 2], 100), 1);
    let rule = "the new request is counted in the mean";
    check(rule, &RING, 15, (&[0, 1, 1], 100), 0);
    check(rule, &RING, 15, (&[2, 2, 2], 100), 1);
    let rule = "the bound is rounded up";
    // 5 * 1.25 / 3 = 2.08...
    check(rule, &RING, 15, (&[1, 2, 1], 125), 1);
    // 4 * 1.5 / 3 = 2, which is no fraction
    check(rule, &RING, 15, (&[0, 2, 1], 150), 0);
    // 25 * 1.12 / 2 = 14 and 50 * 1.1 / 5 = 11, which floats make a little more
    check(rule, &[(10, 0), (20, 1)], 5, (&[14, 10], 112), 1);
    let five = [(10, 0), (20, 1), (30, 2), (40, 3), (50, 4)];
    check(rule, &five, 5, (&[11, 11, 11, 9, 7], 110), 3);
    // 50 * 1.2 / 2 = 30, which an f32 makes a little more
    check(rule, &[(10, 0), (20, 1)], 5, (&[30, 19], 120), 1);
    let rule = "requests are counted, not estimated";
    // 536 940 * 1.25 / 3 = 223 725
    check(rule, &RING, 15, (&[223_724, 223_725, 89_490], 125), 0);
    let rule = "a high bound: the key decides";
    check(rule, &RING, 15, (&[0, 9, 0], 1000), 1);
    let rule = "around the ring, past several that are full";
    check(rule, &RING, 35, (&[4, 0, 4], 100), 1);
}

#[test]
fn any_ring() {
    let mut random = Random::new(32);
    for _ in 0..2000 {
        let replicas = 1 + random.below(5);
        let mut ring: Vec<(u64, usize)> = Vec::new();
        for replica in 0..replicas {
            for _ in 0..1 + random.below(3) {
                let point = random.below(60) as u64;
                let taken = ring.iter().any(|&(other, _)| other == point);
                let point = if taken {
                    1000 + ring.len() as u64
                } else {
                    point
                };
                ring.push((point, replica));
            }
        }
        ring.sort_unstable();
        let loads: Vec<usize> = (0..replicas).map(|_| random.below(6)).collect();
        let percent = 100 + 25 * random.below(5);
        let key = random.below(70) as u64;
        let open = loads.iter().sum::<usize>() + 1;
        // load < ceil(x) is load < x for whole loads.
        let has_room = |replica: usize| loads[replica] * 100 * replicas < percent * open;
        let at_or_after = ring.iter().find(|&&(point, replica)| point >= key && has_room(replica));
        let from_the_first = ring.iter().find(|&&(_, replica)| has_room(replica));
        let expected = at_or_after.or(from_the_first).expect("one is below the mean").1;
        check("any ring", &ring, key, (&loads, percent), expected);
    }
}

#[test]
fn limit_products_beyond_64_bits() {
    let rule = "loads may be so large that 64 bits do not hold them times `percent`";
    let ring = [(10, 0), (20, 1)];
    // The bound is half of 125 % of the greater load, so the replica that has it is full.
    check(rule, &ring, 5, (&[1 << 60, 0], 125), 1);
    check(rule, &ring, 15, (&[1 << 60, 0], 125), 1);
    check(rule, &ring, 5, (&[1 << 60, 1 << 60], 125), 0);
}
