//! Consistent hashing with bounded loads.

/// Requests with the same prefix should go to the same replica, which has it in its cache. But a
/// popular prefix must not drown one replica. Return the replica that a router sends a request to.
///
/// - `ring` has the **points** of the replicas, in ascending order of their first numbers, which
///   all differ: `(point, replica)`. Every replica has at least one point.
/// - `key` is the hash of the request's prefix. Requests with the same prefix have the same key.
/// - `loads[replica]` is how many requests the replica has open. There is at least one replica.
/// - `percent` is at least 100. No replica may have more than `percent` / 100 times the mean of the
///   open requests, with the new one counted, and rounded up: its **bound**.
///
/// The request goes to the first point at or after `key` whose replica has fewer open requests than
/// the bound. After the last point comes the first.
///
/// ```text
/// ring (10, 0) (20, 1) (30, 0) (40, 2)    percent 125
///
/// loads [0, 0, 0]   bound: 1 * 1.25 / 3, rounded up: 1
///   key 15 → 1, from the point 20         key 41 → 0, from the point 10
/// loads [1, 3, 2]   bound: 7 * 1.25 / 3, rounded up: 3
///   key 15 → 0, from the point 30: replica 1 has 3 already
/// ```
///
/// **Limits**, for when that passes: the sum of the loads fits in a `usize`, but not always its
/// product with `percent`.
pub fn bounded_hash(ring: &[(u64, usize)], key: u64, loads: &[usize], percent: usize) -> usize {
    todo!()
}
