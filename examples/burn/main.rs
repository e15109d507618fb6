//! Burn, as far as this crate uses it: shapes, kinds, types, views, masks, modules.
//!
//! cargo run --example burn

mod encoder;

use std::io::{self, Write};
use std::process::ExitCode;

use burn::module::{Module, Param};
use burn::tensor::{Bool, DType, Device, Int, Tensor, TensorData, activation::softmax, s};
use slowburn::device::{self, DeviceChoice};
use slowburn_examples::cli;

use encoder::Encoder;

// ANCHOR: module
/// `[.., 3]` -> `[.., 2]`: two rows of weights, one for each output.
#[derive(Module, Debug)]
struct Head {
    weight: Param<Tensor<2>>,
}

impl Head {
    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        x.matmul(self.weight.val().transpose())
    }
}
// ANCHOR_END: module

fn main() -> ExitCode {
    let device = device::open(DeviceChoice::Auto).map_err(cli::Error::from);
    cli::exit(device.and_then(|open| run(&open.device).map_err(cli::Error::Output)))
}

fn run(device: &Device) -> io::Result<()> {
    let mut out = io::stdout();

    // ANCHOR: tensors
    let x = Tensor::<2>::from_data([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], device);
    show("x", &x)?;
    show("x minus its column sums", &(x.clone() - x.clone().sum_dim(0)))?;
    let scale = Tensor::<1>::from_data([1.0, 10.0, 100.0], device);
    show("x scaled", &(x.clone() * scale.unsqueeze()))?; // [3] -> [1, 3]
    show("x times its transpose", &x.clone().matmul(x.clone().transpose()))?;
    // ANCHOR_END: tensors

    // ANCHOR: kinds
    let ids = TensorData::new(vec![1u32, 0, 1], [1, 3]);
    let ids = Tensor::<2, Int>::from_data(ids, device);
    let positions = Tensor::<1, Int>::arange(0..3, device); // [3]
    let positions = positions.unsqueeze::<2>().repeat_dim(0, 2); // [2, 3]
    writeln!(out, "ids {:?} {:?}", ids.dims(), ids.dtype())?;
    writeln!(out, "positions {:?}", positions.dims())?;
    let half = x.clone().cast(DType::F16);
    writeln!(out, "{:?} as {:?}", x.dtype(), half.dtype())?;
    writeln!(out, "their sum, on the host: {}", half.sum().into_scalar::<f32>())?;
    // ANCHOR_END: kinds

    // ANCHOR: slices
    show("the last row, of rank 2", &x.clone().slice(s![1.., ..]))?;
    let rows = Tensor::from_data([1, 0, 1], device);
    show("rows 1, 0, 1", &x.clone().select(0, rows))?;
    let last: Tensor<1> = x.clone().slice(s![1.., ..]).squeeze_dim(0);
    writeln!(out, "the last row, of rank 1 {:?}", last.dims())?;
    writeln!(out, "its greatest is at {}", last.argmax(0).into_scalar::<i32>())?;
    // ANCHOR_END: slices

    // ANCHOR: heads
    let wide = [[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]]; // two positions of four numbers
    let wide = Tensor::<3>::from_data(wide, device); // [1, 2, 4]
    let cut = wide.reshape([1, 2, 2, 2]); // [batch, seq, heads, head_dim]
    let heads = cut.swap_dims(1, 2); // [batch, heads, seq, head_dim]
    show("head 0", &heads.clone().slice(s![0, 0..1, .., ..]).reshape([2, 2]))?;
    show("head 1", &heads.slice(s![0, 1..2, .., ..]).reshape([2, 2]))?;
    // ANCHOR_END: heads

    // ANCHOR: mask
    let mask = Tensor::<2, Bool>::tril_mask([2, 3], 1, device);
    let scores = x.clone().mask_fill(mask, f32::NEG_INFINITY);
    show("weights of a causal mask", &softmax(scores, 1))?;
    // ANCHOR_END: mask

    // ANCHOR: inplace
    let mut cache = Tensor::<2>::zeros([4, 3], device);
    cache.inplace(|all| all.slice_assign(s![0..2, ..], x.clone()));
    let filled = cache.clone().slice(s![..2, ..]); // shares the memory
    writeln!(out, "in place, while a view is held: {}", cache.can_mut())?;
    drop(filled);
    writeln!(out, "in place, after it was dropped: {}", cache.can_mut())?;
    // ANCHOR_END: inplace

    // ANCHOR: weights
    let weight = Tensor::from_data([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]], device);
    let head = Head { weight: Param::from_tensor(weight) };
    show(&format!("a module of {} numbers", head.num_params()), &head.forward(x))?;
    // ANCHOR_END: weights

    let encoder = Encoder::random(50, 6, 32, device);
    let logits =
        |ids: [i32; 6]| encoder.forward(Tensor::<1, Int>::from_data(ids, device).unsqueeze());
    let (before, after) = (logits([3, 14, 15, 9, 26, 5]), logits([3, 14, 15, 49, 26, 5]));
    let distances = (before - after).abs().max_dim(2).squeeze_dims::<1>(&[0, 2]); // [6]
    let distances = distances.to_data();
    let rows = distances.iter::<f32>().enumerate().filter(|&(_, distance)| distance > 1e-3);
    let changed = rows.map(|(row, _)| row).collect::<Vec<_>>();
    writeln!(out, "another id at 3 changes the logits at {changed:?}")?;
    Ok(())
}

fn show(what: &str, x: &Tensor<2>) -> io::Result<()> {
    let rows = x.to_data().iter::<f32>().collect::<Vec<_>>();
    let rows: Vec<_> = rows.chunks(x.dims()[1]).map(|row| format!("{row:.2?}")).collect();
    writeln!(io::stdout(), "{what} {:?}: {}", x.dims(), rows.join(" "))
}
