//! A bug hunt: the least loaded replica is the busiest.

/// A router that sends each request to the replica with the fewest open requests.
///
/// **What was observed.** With a few requests a second, the load is even. But when forty requests
/// come within a millisecond, all of them go to one replica, and the other three do nothing. And
/// once, a replica that could not be connected to got nearly all requests for minutes, and refused
/// each of them, though its count of open requests was never shown above 0. Once it had recovered,
/// it was the busiest for a long time.
///
/// Find the reason, and fix it. What should be:
///
/// - A request is open from the moment at which `choose` returned its replica, until `end` is
///   called for it. `end` is called once for each request, whether it was answered or not.
/// - `head` is called when the head of an answer has arrived: not for every request.
/// - `choose` returns the replica with the fewest open requests, and of equal ones the one that
///   `choose` has returned least often. Of equal ones again, the one with the smallest index.
pub struct Router {
    open: Vec<usize>,
    chosen: Vec<usize>,
}

impl Router {
    /// With `replicas` replicas, at least 1.
    pub fn new(replicas: usize) -> Self {
        Self { open: vec![0; replicas], chosen: vec![0; replicas] }
    }

    /// The replica that the next request goes to.
    pub fn choose(&mut self) -> usize {
        let replicas = 0..self.open.len();
        let key = |&replica: &usize| (self.open[replica], self.chosen[replica]);
        replicas.min_by_key(key).expect("there is a replica")
    }

    /// The head of an answer has arrived from this replica.
    pub fn head(&mut self, replica: usize) {
        self.open[replica] += 1;
        self.chosen[replica] += 1;
    }

    /// A request to this replica has ended.
    pub fn end(&mut self, replica: usize) {
        self.open[replica] = self.open[replica].saturating_sub(1);
    }

    /// How many requests each replica has open.
    pub fn open(&self) -> &[usize] {
        &self.open
    }
}
