use your_engine::Parts;
use your_engine::parts::Filter;

use super::stop_strings::StopFilter;

pub fn take_over(parts: &mut Parts) {
    parts.stop_filter = |stops| Box::new(StopFilter::new(stops));
}

impl Filter for StopFilter {
    fn push(&mut self, piece: &str) -> (String, bool) {
        let passed = StopFilter::push(self, piece);
        (passed.text, passed.stopped)
    }

    fn finish(self: Box<Self>) -> String {
        StopFilter::finish(*self)
    }
}
