use your_engine::Parts;
use your_engine::parts::Decode;

use super::incremental_decode::Decoder;

pub fn take_over(parts: &mut Parts) {
    parts.decoder = || Box::new(Decoder::default());
}

impl Decode for Decoder {
    fn push(&mut self, bytes: &[u8]) -> String {
        Decoder::push(self, bytes)
    }

    fn finish(self: Box<Self>) -> String {
        Decoder::finish(*self)
    }
}
