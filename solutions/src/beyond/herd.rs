//! The requests go to the replica that has the fewest.
//!
//! Why: a request was counted when its answer began. Until then, which takes a prefill, it was
//! invisible, and all that came meanwhile chose as if it were not there: a herd. A request that
//! failed before its answer began was never counted, but its end was. So the count of a replica
//! that refuses was too low by the requests it refused, and `saturating_sub`, which was there
//! against a panic, hid that it would have been negative. Count where the decision is made, and
//! there is one place where a request begins, and one where it ends.
//!
//! What it costs: nothing. But one router counts only its requests. Two routers do not see each
//! other's: with many routers, two random replicas and the better of both, *power of two choices*,
//! is the usual way out.
//!
//! A common wrong turn: counting in `choose` and in `head`. And a replica that fails at once still
//! has the fewest open requests: the count is no substitute for a health check.

/// A router that sends each request to the replica with the fewest open requests.
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
        let replica = replicas.min_by_key(key).expect("there is a replica");
        self.open[replica] += 1;
        self.chosen[replica] += 1;
        replica
    }

    /// The head of an answer has arrived from this replica.
    pub fn head(&mut self, replica: usize) {
        let _ = replica;
    }

    /// A request to this replica has ended.
    pub fn end(&mut self, replica: usize) {
        self.open[replica] -= 1;
    }

    /// How many requests each replica has open.
    pub fn open(&self) -> &[usize] {
        &self.open
    }
}
