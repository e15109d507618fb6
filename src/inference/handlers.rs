//! The handlers that are ready to use.

use std::borrow::Borrow;

use super::accessor::ModelAccessor;
use super::handler::In;
use super::request::GenerateRequest;
use super::stream::OutStream;
use crate::error::Result;
use crate::generate::TokenOutput;
use crate::pretrained::Pretrained;

/// Streams the tokens of one request.
///
/// # Errors
/// As [`ModelAccessor::prepare`].
// ANCHOR: streaming_handler
pub fn streaming_handler<M: Borrow<Pretrained>>(
    In(request): In<GenerateRequest>,
    model: ModelAccessor<M>,
    output: OutStream<TokenOutput>,
) -> Result<()> {
    model.prepare(&request)?.start(move |token| output.emit(token))
}
// ANCHOR_END: streaming_handler

/// Streams the tokens of several requests, each with the place of its request.
///
/// # Errors
/// As [`ModelAccessor::prepare`]: where one request is refused, none is started.
// ANCHOR: batch_handler
pub fn batch_handler<M: Borrow<Pretrained>>(
    In(requests): In<Vec<GenerateRequest>>,
    model: ModelAccessor<M>,
    output: OutStream<(usize, TokenOutput)>,
) -> Result<()> {
    for (place, request) in requests.iter().enumerate() {
        let output = output.clone();
        model.prepare(request)?.start(move |token| output.emit((place, token)))?;
    }
    Ok(())
}
// ANCHOR_END: batch_handler
