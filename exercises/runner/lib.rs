//! What the runner of the exercises and the maintainers' commands share.

pub mod cargo;
pub mod compile_error;
#[path = "../engine/parts.rs"]
pub mod engine_parts;
pub mod failure;
pub mod manifest;
pub mod originals;
pub mod progress;
pub mod test_binary;
