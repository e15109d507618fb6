use your_engine::Parts;

use super::split_heads::{merge_heads, split_heads};
use crate::tensors::{heads, tensor};

pub fn take_over(parts: &mut Parts) {
    parts.split_heads = |rows, head_dim| {
        let x = tensor(&[rows.to_vec()]).squeeze_dim::<3>(0);
        heads(split_heads(x, head_dim))
    };
    parts.merge_heads = |heads| {
        let x = merge_heads(tensor(heads));
        crate::tensors::heads(x.unsqueeze_dim(0)).concat()
    };
}
