//! One character after the other: is one complete, and if not, what may go.

#[derive(Debug)]
pub struct StopFilter {
    stops: Vec<String>,
    held: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Passed {
    pub text: String,
    pub stopped: bool,
}

impl StopFilter {
    pub fn new(stops: &[&str]) -> Self {
        let stops = stops.iter().map(|&stop| stop.to_owned()).collect();
        Self { stops, held: String::new() }
    }

    pub fn push(&mut self, piece: &str) -> Passed {
        let mut text = String::new();
        for character in piece.chars() {
            self.held.push(character);
            let complete = self.stops.iter().filter(|stop| self.held.ends_with(stop.as_str()));
            if let Some(stop) = complete.max_by_key(|stop| stop.len()) {
                text += &self.held[..self.held.len() - stop.len()];
                self.held.clear();
                return Passed { text, stopped: true };
            }
            while !self.stops.iter().any(|stop| stop.starts_with(&self.held))
                && !self.held.is_empty()
            {
                text.push(self.held.remove(0));
            }
        }
        Passed { text, stopped: false }
    }

    pub fn finish(self) -> String {
        self.held
    }
}
