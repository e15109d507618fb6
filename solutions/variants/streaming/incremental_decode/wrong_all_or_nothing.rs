//! Nothing is given out while the text ends in U+FFFD, whatever that stands for.

#[derive(Debug, Default)]
pub struct Decoder {
    held: Vec<u8>,
}

impl Decoder {
    pub fn push(&mut self, bytes: &[u8]) -> String {
        self.held.extend_from_slice(bytes);
        let text = String::from_utf8_lossy(&self.held).into_owned();
        if text.ends_with('\u{FFFD}') {
            return String::new();
        }
        self.held.clear();
        text
    }

    pub fn finish(self) -> String {
        String::from_utf8_lossy(&self.held).into_owned()
    }
}
