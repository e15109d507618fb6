//! What the runner of the exercises and the maintainers' commands share.

pub mod manifest;
