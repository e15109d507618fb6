//! Percentiles from a histogram, as `/metrics` shows it.

/// Counts values by size: for each of several bounds, how many values were no greater.
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram {
    /// In milliseconds, from the least to the greatest, all different. The last bucket, for values
    /// above all bounds, has none.
    pub bounds: Vec<u64>,
    /// For each bound, the number of values up to and including it. One more at the end: the number
    /// of all values. So these numbers never fall from one to the next.
    pub counts: Vec<u64>,
}

impl Histogram {
    /// No value yet.
    pub fn new(bounds: &[u64]) -> Self {
        todo!()
    }

    /// Counts a value, in milliseconds.
    pub fn observe(&mut self, value: u64) {
        todo!()
    }

    /// Adds the values of another server, and returns whether that was possible: histograms with
    /// other bounds can't be added, and then nothing changes.
    pub fn add(&mut self, other: &Histogram) -> bool {
        todo!()
    }

    /// Is p99 below a second? A server that kept every value could tell, but it keeps only counts.
    /// So return the two bounds between which the percentile by nearest rank lies: the least value
    /// that at least `per_mille` thousandths of all values do not exceed. `per_mille` is 1 to 1000:
    /// 990 is p99.
    ///
    /// First comes the greatest bound that is too small, or 0, then the least that is not: `None`
    /// if the value is above all bounds. Without any value, the whole answer is `None`. Counts may
    /// be as large as a `u64` holds.
    ///
    /// ```text
    /// bounds 100 250, counts 150 199 200
    ///
    /// percentile(500)    Some((0, Some(100)))      the 100th value
    /// percentile(990)    Some((100, Some(250)))    the 198th value
    /// percentile(1000)   Some((250, None))         the 200th value
    /// ```
    pub fn percentile(&self, per_mille: u64) -> Option<(u64, Option<u64>)> {
        todo!()
    }
}
