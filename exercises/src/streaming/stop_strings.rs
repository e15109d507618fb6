//! Stop strings that begin in one token and end in another.

/// Lets a text through until it contains a stop string. `held` is for what is not given out yet.
#[derive(Debug)]
pub struct StopFilter {
    stops: Vec<String>,
    held: String,
}

/// What one token adds to the text of the result.
#[derive(Debug, Clone, PartialEq)]
pub struct Passed {
    pub text: String,
    /// Whether a stop string is complete: the generation has ended.
    pub stopped: bool,
}

impl StopFilter {
    /// A filter for these stop strings, none of which is empty. There may be none at all.
    pub fn new(stops: &[&str]) -> Self {
        let stops = stops.iter().map(|&stop| stop.to_owned()).collect();
        Self { stops, held: String::new() }
    }

    /// Takes the text of one more token, which may be empty, and returns what is now known to be a
    /// part of the result.
    ///
    /// - The result is the text before the stop string. The stop string, and what comes after it in
    ///   the same token, are not a part of it.
    /// - The stop string that is complete first ends the text, read from left to right. Where two
    ///   are complete with the same character, the longer one counts.
    /// - The longest end of the text that may be the beginning of a stop string is held back. All
    ///   before it is given out at once.
    ///
    /// After a stop, nothing is pushed any more.
    ///
    /// ```text
    /// stop strings "aab" and "END"
    ///
    /// push "Hi E"    "Hi "     "E" may be the beginning of "END"
    /// push "a"       "E"       "Ea" is none, and "a" may begin "aab"
    /// push "a"       ""
    /// push "a"       "a"       "aaa" is no beginning, but its last two are
    /// push "bc"      ""        "aab" is complete: stopped
    /// finish         ""
    /// ```
    pub fn push(&mut self, piece: &str) -> Passed {
        todo!()
    }

    /// No more tokens come. Returns what was still held back: it has not become a stop string. After
    /// a stop there is nothing.
    pub fn finish(self) -> String {
        todo!()
    }
}
