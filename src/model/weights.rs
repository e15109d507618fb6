//! Where a model's numbers come from: a safetensors file, or a random start for training.

use burn::module::Param;
use burn::tensor::{DType, Device, Distribution, Tensor, TensorData};
use safetensors::{Dtype, SafeTensors};

use crate::error::{Error, Result};

/// Hands out tensors by their name in a Hugging Face checkpoint.
pub struct Weights<'a> {
    source: Source<'a>,
    device: Device,
    dtype: DType,
}

enum Source<'a> {
    File {
        tensors: SafeTensors<'a>,
        origin: String,
    },
    Random,
}

impl<'a> Weights<'a> {
    /// Reads the header of a safetensors file that lies in `bytes`; tensors are converted to
    /// `dtype` as they are asked for. `origin` names the file in errors.
    ///
    /// # Errors
    /// A file that is truncated or whose header does not fit its data.
    pub fn from_safetensors(
        bytes: &'a [u8],
        origin: &str,
        device: &Device,
        dtype: DType,
    ) -> Result<Self> {
        let tensors = SafeTensors::deserialize(bytes)
            .map_err(|source| Error::Safetensors { origin: origin.to_owned(), source })?;
        let source = Source::File { tensors, origin: origin.to_owned() };
        Ok(Self { source, device: device.clone(), dtype })
    }

    /// Fresh weights to train from: matrices are normal with a standard deviation of one by the
    /// root of their inputs, vectors (the norms) are ones. Seed the device first.
    pub fn random(device: &Device) -> Self {
        Self {
            source: Source::Random,
            device: device.clone(),
            dtype: DType::F32,
        }
    }

    /// Where the tensors are put.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// What the tensors are converted to.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The tensor called `name`, which must have this `shape`.
    ///
    /// # Errors
    /// A tensor that is missing, has another shape, or is not stored as f32, f16 or bf16.
    pub fn tensor<const D: usize>(
        &self,
        name: &str,
        shape: [usize; D],
    ) -> Result<Param<Tensor<D>>> {
        let value = match &self.source {
            Source::Random if D == 1 => Tensor::ones(shape, (&self.device, self.dtype)),
            Source::Random => {
                // `[out, in]`: what goes in with unit variance comes out with unit variance.
                // With the 0.02 that large models use, a narrow one takes many times as many
                // steps before its attention looks beyond the nearest tokens.
                let std = (shape[D - 1] as f64).powf(-0.5);
                let normal = Distribution::Normal(0.0, std);
                Tensor::random(shape, normal, (&self.device, self.dtype))
            }
            Source::File { tensors, origin } => {
                let data = read(tensors, origin, name, &shape)?.convert_dtype(self.dtype);
                Tensor::from_data(data, (&self.device, self.dtype))
            }
        };
        Ok(Param::from_tensor(value))
    }
}

fn read(
    tensors: &SafeTensors<'_>,
    origin: &str,
    name: &str,
    shape: &[usize],
) -> Result<TensorData> {
    let view = tensors
        .tensor(name)
        .map_err(|_| Error::TensorMissing { origin: origin.to_owned(), tensor: name.to_owned() })?;
    if view.shape() != shape {
        return Err(Error::TensorShape {
            origin: origin.to_owned(),
            tensor: name.to_owned(),
            found: view.shape().to_vec(),
            expected: shape.to_vec(),
        });
    }
    let dtype = match view.dtype() {
        Dtype::F32 => DType::F32,
        Dtype::F16 => DType::F16,
        Dtype::BF16 => DType::BF16,
        other => {
            return Err(Error::TensorDType {
                origin: origin.to_owned(),
                tensor: name.to_owned(),
                found: format!("{other:?}"),
            });
        }
    };
    Ok(TensorData::from_bytes_vec(view.data().to_vec(), shape.to_vec(), dtype))
}
