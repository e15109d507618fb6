//! A byte order mark is left out.

use std::str;

#[derive(Debug, Default)]
pub struct Decoder {
    held: Vec<u8>,
}

impl Decoder {
    pub fn push(&mut self, bytes: &[u8]) -> String {
        self.held.extend_from_slice(bytes);
        let mut text = String::new();
        let mut done = 0;
        while done < self.held.len() {
            let rest = &self.held[done..];
            let (valid, wrong) = match str::from_utf8(rest) {
                Ok(_) => (rest.len(), Some(0)),
                Err(error) => (error.valid_up_to(), error.error_len()),
            };
            text.push_str(&String::from_utf8_lossy(&rest[..valid]).trim_start_matches('\u{feff}'));
            done += valid;
            match wrong {
                Some(0) => {}
                Some(count) => {
                    text.push('\u{FFFD}');
                    done += count;
                }
                // A character of which bytes are still to come.
                None => break,
            }
        }
        self.held.drain(..done);
        text
    }

    pub fn finish(self) -> String {
        String::from_utf8_lossy(&self.held).into_owned()
    }
}
