//! What a model computes beside texts: embeddings, beams and scores.

#[path = "../common/mod.rs"]
mod common;
mod embed;
mod search;
