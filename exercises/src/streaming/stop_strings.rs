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
    /// A filter for these stop strings, none of which is empty. There may be no stop string at all.
    pub fn new(stops: &[&str]) -> Self {
        let stops = stops.iter().map(|&stop| stop.to_owned()).collect();
        Self { stops, held: String::new() }
    }

    /// A stop string may begin in one token and end in another, and what you have streamed you
    /// can't take back. So take the text of one more token, which may be empty, and return what is
    /// now known to be part of the result.
    ///
    /// - The result is the text before the stop string. The stop string is not part of it, and what
    ///   follows it in the same token isn't either.
    /// - The stop string that is complete first ends the text, read from left to right. If two are
    ///   complete with the same character, the longer one counts.
    /// - Hold back the longest end of the text that may be the beginning of a stop string. Give out
    ///   everything before it at once.
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

    /// No more tokens come. Return what was still held back: it has not become a stop string. After
    /// a stop there is nothing.
    pub fn finish(self) -> String {
        todo!()
    }
}
