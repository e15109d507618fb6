//! Who speculates: nobody. What it changes is between two steps of the model thread.

#[path = "../../src/speculation/residual.rs"]
pub(crate) mod residual;

use crate::error::Result;
use crate::model::Model;
use crate::sampling::Sampler;

pub struct Text<'a> {
    pub tokens: &'a [u32],
    pub prompt: usize,
    pub sampler: &'a Sampler,
}

#[derive(Debug, Clone)]
pub struct Speculation;

pub struct Speculator;

impl Speculation {
    pub fn start(&self, _: &Model) -> Result<Speculator> {
        Ok(Speculator)
    }
}

impl Speculator {
    pub fn propose_within(
        &mut self,
        _: &mut usize,
        _: &Text<'_>,
        _: usize,
        _: usize,
    ) -> Result<Vec<u32>> {
        Ok(Vec::new())
    }

    pub fn residual(&self) -> Option<&[Vec<f32>]> {
        None
    }

    pub fn checked(&mut self, _: usize, _: usize) {}
}
