//! Attention of the Llama family on the CPU.

use super::llama::{Angles, norm};
use super::{Linear, Stop, Watch, linear};
use crate::activation::Activation;
use crate::kernels::{Scoring, recorded};
use crate::model::attention::Attention;
use crate::model::pass::Pass;

impl Attention<Linear, Vec<f32>> {
    /// The linear layers that adapters can change.
    pub(super) fn linears(&mut self) -> Vec<&mut Linear> {
        let inputs = [&mut self.k_proj, &mut self.v_proj].into_iter().flatten();
        [&mut self.q_proj].into_iter().chain(inputs).chain([&mut self.o_proj]).collect()
    }

    /// What attention adds to `x`, `[seq, d_model]`. `angles` are those of all kinds of RoPE in the model.
    pub(super) fn forward(
        &self,
        x: &[f32],
        angles: &[Angles],
        pass: &mut Pass<'_>,
        [q, k, v]: &mut [Vec<f32>; 3],
        added: &mut Vec<f32>,
        watch: &mut Watch<'_>,
    ) {
        let rows = &pass.rows();
        match (&self.k_proj, &self.v_proj) {
            (Some(k_proj), Some(v_proj)) => {
                linear([&self.q_proj, k_proj, v_proj], x, rows, [q, k, v]);
            }
            (Some(k_proj), None) => {
                linear([&self.q_proj, k_proj], x, rows, [q, k]);
                v.clone_from(k);
            }
            (None, _) => {
                linear([&self.q_proj], x, rows, [q]);
                pass.kept_numbers(self.place.layer, [k, v]);
            }
        }
        let mut gate = self.take_gate(q);
        norm(&self.q_norm, q);
        norm(&self.k_norm, k);
        norm(&self.v_norm, v);
        watch(Stop::Query, q);
        watch(Stop::Key, k);
        watch(Stop::Value, v);
        if let Some(angles) = self.place.rotation(angles) {
            angles.rotate(q, self.head_dim);
            if self.k_proj.is_some() {
                angles.rotate(k, self.head_dim); // those of an earlier layer are rotated
            }
            angles.grow(q);
        }
        if self.place.is_source {
            pass.keep_numbers(self.place.layer, [k, v]);
        }
        watch(Stop::RotatedQuery, q);
        watch(Stop::RotatedKey, k);
        let mixed = pass.attend_in_blocks(self.place.layer, q, k, v, self.scoring());
        watch(Stop::Mixed, &mixed);
        let mixed = if self.has_gate {
            recorded::gated(&mut gate, &mixed, Activation::Sigmoid);
            gate
        } else {
            mixed
        };
        linear([&self.o_proj], &mixed, rows, [added]);
    }

    /// Takes the gates out of what the projection of queries made, and leaves the queries.
    fn take_gate(&self, q: &mut Vec<f32>) -> Vec<f32> {
        if !self.has_gate {
            return Vec::new();
        }
        let heads = q.chunks_exact(2 * self.head_dim);
        let (queries, gates): (Vec<&[f32]>, Vec<&[f32]>) =
            heads.map(|head| head.split_at(self.head_dim)).unzip();
        let (queries, gates) = (queries.concat(), gates.concat());
        *q = queries;
        gates
    }

    /// How attention scores.
    pub(super) fn scoring(&self) -> Scoring<'_> {
        Scoring { sinks: self.sinks.as_deref(), ..self.place.scoring }
    }
}
