//! Each piece is decoded by itself.

#[derive(Debug, Default)]
pub struct Decoder {
    held: Vec<u8>,
}

impl Decoder {
    pub fn push(&mut self, bytes: &[u8]) -> String {
        String::from_utf8_lossy(bytes).into_owned()
    }

    pub fn finish(self) -> String {
        String::from_utf8_lossy(&self.held).into_owned()
    }
}
