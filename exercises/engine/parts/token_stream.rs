use your_engine::Parts;
use your_engine::parts;

use super::token_stream::{Emitted, TokenSender, token_stream};

pub fn take_over(parts: &mut Parts) {
    parts.token_stream = |capacity| {
        let (sender, stream) = token_stream(capacity);
        (Box::new(sender), Box::new(stream))
    };
}

impl parts::Emit for TokenSender {
    fn emit(&self, piece: String) -> parts::Emitted {
        if self.is_gone() {
            return parts::Emitted::Gone;
        }
        match TokenSender::emit(self, piece) {
            Emitted::Sent => parts::Emitted::Sent,
            Emitted::Behind(piece) => parts::Emitted::Behind(piece),
            Emitted::Gone => parts::Emitted::Gone,
        }
    }
}
