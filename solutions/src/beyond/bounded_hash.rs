//! Consistent hashing with bounded loads.
//!
//! Why: requests with the same prefix have the same key, so they go to the same replica, whose
//! prefix cache has it. When a replica joins or leaves, only the keys next to its points move. And
//! a prefix that everyone uses overflows to the next replicas on the ring, always in the same
//! order, so that they have it in their caches too.
//!
//! What it costs: a binary search, and a few steps if replicas are full. The router has to know how
//! many requests are open. A low bound spreads the load and loses hits, a high one does the
//! opposite.
//!
//! A common wrong turn: leaving the new request out of the mean. With no request open, the bound is
//! 0, and no replica is below it.

/// The replica that a router sends a request to.
pub fn bounded_hash(ring: &[(u64, usize)], key: u64, loads: &[usize], percent: usize) -> usize {
    let open = loads.iter().sum::<usize>() + 1;
    let bound = (percent as u128 * open as u128).div_ceil(100 * loads.len() as u128);
    let first = ring.partition_point(|&(point, _)| point < key);
    let (before, after) = ring.split_at(first);
    let mut replicas = after.iter().chain(before).map(|&(_, replica)| replica);
    // The mean is below the bound, so one replica is.
    replicas
        .find(|&replica| (loads[replica] as u128) < bound)
        .expect("every replica has a point")
}
