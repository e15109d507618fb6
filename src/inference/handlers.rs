//! Ready-made handlers.

use std::borrow::Borrow;

use super::handler::In;
use super::model_handle::ModelHandle;
use super::request::GenerateRequest;
use super::stream::OutStream;
use crate::error::Result;
use crate::generate::TokenOutput;
use crate::pretrained::Pretrained;

/// Streams the tokens of one request.
///
/// # Errors
/// As [`ModelHandle::prepare`].
// ANCHOR: streaming_handler
pub fn streaming_handler<M: Borrow<Pretrained>>(
    In(request): In<GenerateRequest>,
    model: ModelHandle<M>,
    output: OutStream<TokenOutput>,
) -> Result<()> {
    model.prepare(&request)?.start(move |token| output.emit(token))
}
// ANCHOR_END: streaming_handler

/// Streams the tokens of several requests, each with the index of its request.
///
/// # Errors
/// As [`ModelHandle::prepare`]: if one request is refused, no sequence is started.
// ANCHOR: batch_handler
pub fn batch_handler<M: Borrow<Pretrained>>(
    In(requests): In<Vec<GenerateRequest>>,
    model: ModelHandle<M>,
    output: OutStream<(usize, TokenOutput)>,
) -> Result<()> {
    for (index, request) in requests.iter().enumerate() {
        let output = output.clone();
        model.prepare(request)?.start(move |token| output.emit((index, token)))?;
    }
    Ok(())
}
// ANCHOR_END: batch_handler
