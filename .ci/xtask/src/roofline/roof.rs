//! The roofline of a machine.

/// The limits of bandwidth and arithmetic.
#[derive(Debug, Clone, Copy)]
pub struct Roof {
    /// Bytes per second.
    pub bandwidth: f64,
    /// Floating-point operations per second; a multiply-add is two.
    pub arithmetic: f64,
}

impl Roof {
    /// The highest operations per second at an arithmetic intensity.
    pub fn at(&self, intensity: f64) -> f64 {
        self.arithmetic.min(self.bandwidth * intensity)
    }

    /// The limiting resource at an arithmetic intensity.
    pub fn limit(&self, intensity: f64) -> &'static str {
        if intensity < self.ridge() {
            "bytes"
        } else {
            "arithmetic"
        }
    }

    /// The ridge point: the least intensity limited by the arithmetic.
    pub fn ridge(&self) -> f64 {
        self.arithmetic / self.bandwidth
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_roof_rises_with_the_bandwidth_and_is_flat_from_the_ridge_on() {
        let roof = Roof { bandwidth: 10.0, arithmetic: 100.0 };
        assert_eq!(roof.ridge(), 10.0);
        assert_eq!([0.5, 10.0, 40.0].map(|intensity| roof.at(intensity)), [5.0, 100.0, 100.0]);
        assert_eq!([0.5, 40.0].map(|intensity| roof.limit(intensity)), ["bytes", "arithmetic"]);
    }
}
