//! What takes the place of [`Guidance`] without the feature `schema`.

use std::sync::Arc;

use super::Schema;
use crate::constrained::{Cancel, Constraint, Vocabulary};
use crate::error::{Error, RequestError, Result};

/// Reads no grammar.
#[derive(Debug)]
pub(super) struct Guidance;

impl Guidance {
    pub(super) fn new(_: Arc<Vocabulary>) -> Result<Self> {
        Ok(Self)
    }

    pub(super) fn json_schema(&self, _: &Schema, _: &Cancel) -> Result<Constraint> {
        Err(not_compiled("a JSON schema"))
    }

    pub(super) fn lark(&self, _: &str, _: &Cancel) -> Result<Constraint> {
        Err(not_compiled("a Lark grammar"))
    }
}

fn not_compiled(kind: &'static str) -> Error {
    Error::Request(RequestError::GrammarNotCompiled { kind, feature: "schema" })
}
