//! Latent attention on the CPU, in its absorbed form.
//!
//! What is kept of a position is its latent vector, and the part of its keys that is rotated. A key is a matrix times the
//! latent: the query takes that matrix to itself, and meets the latent. A value is another matrix times the latent:
//! attention mixes the latents, and the matrix makes the value of the mixture. These sums have another order than those
//! of the expanded form, so prompts are read in this form too, and a token has the same bits in both.

use super::llama::Angles;
use super::{Linear, Rows, Stop, Watch, linear};
use crate::error::Result;
use crate::model::attention::Place;
use crate::model::config::{LatentConfig, LlamaConfig, ModelConfig};
use crate::model::latent::{HeadShape, LoadLatent, Parts, UP};
use crate::model::pass::Pass;
use crate::model::source::{LoadLinear, Role, Source};

/// As [`latent`](crate::model::latent) defines them.
#[derive(Debug)]
pub(in crate::model) struct Latent {
    parts: Parts<Linear, Vec<f32>>,
    /// For each head, `[rank, plain]`: from what is not rotated of a query to what meets latents.
    keys: Vec<Linear>,
    /// For each head, `[value_dim, rank]`: from a mixture of latents to one of values.
    values: Vec<Linear>,
    shape: HeadShape,
    pub(super) place: Place,
}

impl LoadLatent for Latent {
    fn load(
        weights: &dyn Source,
        name: &str,
        (config, llama, index): (&ModelConfig, &LlamaConfig, usize),
        latent: &LatentConfig,
    ) -> Result<Self> {
        let parts = Parts::load(weights, name, (config, llama, latent))?;
        let up = format!("{name}.{UP}");
        let shape = HeadShape::of(config, llama, latent);
        let HeadShape { n_heads: heads, value_dim, rank, .. } = shape;
        let plain = shape.plain();
        let halves = |is_key, [n_out, n_in]: [usize; 2]| -> Result<Vec<Linear>> {
            let of_head = |head| {
                let role = Role::HalfOfHead { is_key, head, heads, plain, value_dim };
                Linear::load(weights, &up, [n_out, n_in], role, false)
            };
            (0..heads).map(of_head).collect()
        };
        // Where all of a key is rotated, nothing is left to take.
        let keys = if plain > 0 {
            halves(true, [rank, plain])?
        } else {
            Vec::new()
        };
        let values = halves(false, [value_dim, rank])?;
        let place = Place::of(config, llama, index);
        Ok(Self { parts, keys, values, shape, place })
    }
}

impl Latent {
    /// The linear layers that adapters can change.
    pub(super) fn linears(&mut self) -> Vec<&mut Linear> {
        let Parts { query_down, query_up, down, output, .. } = &mut self.parts;
        let query_down = query_down.as_mut().map(|(linear, _)| linear);
        let ups = self.keys.iter_mut().chain(&mut self.values);
        let others = query_down.into_iter().chain([query_up, down]).chain(ups);
        others.chain([output]).collect()
    }

    /// What attention adds to `x`, `[seq, d_model]`. Values are keys, as they are here: latents.
    pub(super) fn forward(
        &self,
        x: &[f32],
        angles: &[Angles],
        pass: &mut Pass<'_>,
        [q, k, _]: &mut [Vec<f32>; 3],
        added: &mut Vec<f32>,
        watch: &mut Watch<'_>,
    ) {
        let (rows, head_dim) = (&pass.rows(), self.shape.rotated + self.shape.rank);
        self.project(x, rows, [q, k]);
        watch(Stop::Query, q);
        watch(Stop::Key, k);
        let v = k.clone();
        watch(Stop::Value, &v);
        if let Some(angles) = self.place.rotation(angles) {
            angles.rotate(q, head_dim);
            angles.rotate(k, head_dim);
            angles.grow(q);
        }
        watch(Stop::RotatedQuery, q);
        watch(Stop::RotatedKey, k);
        let mixed = pass.attend_in_blocks(self.place.layer, q, k, &v, self.place.scoring);
        watch(Stop::Mixed, &mixed);
        linear([&self.parts.output], &self.values(&mixed, rows), rows, [added]);
    }

    /// `x` is `[seq, d_model]`; `q` becomes `[seq, n_heads * (rotated + rank)]`, and `k`, which are values too,
    /// `[seq, rotated + rank]`.
    fn project(&self, x: &[f32], rows: &Rows, [q, k]: [&mut Vec<f32>; 2]) {
        let Parts { query_down, query_up, down, norm, .. } = &self.parts;
        let HeadShape { n_heads, head_dim, rotated, rank, .. } = self.shape;
        let (plain, turn) = (self.shape.plain(), |i| self.shape.stored_at(i));
        let (mut latent, mut heads) = (Vec::new(), Vec::new());
        match query_down {
            Some((query_down, norm)) => {
                linear([query_down], x, rows, [&mut latent]);
                norm.apply(&mut latent);
                linear([query_up], &latent, rows, [&mut heads]);
            }
            None => linear([query_up], x, rows, [&mut heads]),
        }
        let width = rotated + rank;
        q.clear();
        q.resize(rows.count * n_heads * width, 0.0);
        for (q, head) in q.chunks_exact_mut(width).zip(heads.chunks_exact(head_dim)) {
            let rotated = q[..rotated].iter_mut().enumerate();
            rotated.for_each(|(i, q)| *q = head[plain + turn(i)]);
        }
        let (mut of_head, mut absorbed) = (Vec::new(), Vec::new());
        for (head, key) in self.keys.iter().enumerate() {
            of_head.clear();
            let queries = heads.chunks_exact(head_dim).skip(head).step_by(n_heads);
            of_head.extend(queries.flat_map(|query| &query[..plain]));
            linear([key], &of_head, rows, [&mut absorbed]);
            let queries = q.chunks_exact_mut(width).skip(head).step_by(n_heads);
            for (q, absorbed) in queries.zip(absorbed.chunks_exact(rank)) {
                q[rotated..].copy_from_slice(absorbed);
            }
        }

        let mut all = Vec::new();
        linear([down], x, rows, [&mut all]);
        let positions = || all.chunks_exact(rank + rotated);
        latent = positions().flat_map(|position| &position[..rank]).copied().collect();
        norm.apply(&mut latent);
        k.clear();
        for (position, latent) in positions().zip(latent.chunks_exact(rank)) {
            k.extend((0..rotated).map(|i| position[rank + turn(i)]));
            k.extend_from_slice(latent);
        }
    }

    /// The values of what was mixed of latents, `[seq, n_heads * (rotated + rank)]` -> `[seq, n_heads * value_dim]`.
    fn values(&self, mixed: &[f32], rows: &Rows) -> Vec<f32> {
        let HeadShape { n_heads, rotated, value_dim, rank, .. } = self.shape;
        let width = rotated + rank;
        let mut all = vec![0.0; rows.count * n_heads * value_dim];
        let (mut of_head, mut values) = (Vec::new(), Vec::new());
        for (head, value) in self.values.iter().enumerate() {
            of_head.clear();
            let mixtures = mixed.chunks_exact(width).skip(head).step_by(n_heads);
            of_head.extend(mixtures.flat_map(|mixture| &mixture[rotated..]));
            linear([value], &of_head, rows, [&mut values]);
            let parts = all.chunks_exact_mut(value_dim).skip(head).step_by(n_heads);
            parts
                .zip(values.chunks_exact(value_dim))
                .for_each(|(all, row)| all.copy_from_slice(row));
        }
        all
    }
}
