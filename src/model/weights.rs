//! Where a model's numbers come from: safetensors files, or a random start for training.

use std::cell::RefCell;
use std::collections::BTreeMap;

use burn::module::Param;
use burn::tensor::{DType, Device, Distribution, Tensor, TensorData};

use super::convert::Numbers;
use super::safetensors::SafetensorsFile;
use crate::error::{Error, Result};

/// Hands out tensors by their name in a Hugging Face checkpoint.
pub struct Weights<'a> {
    source: Source<'a>,
    device: Device,
    dtype: DType,
}

enum Source<'a> {
    Files(Files<'a>),
    Random,
}

struct Files<'a> {
    /// Names the whole in errors, where no single file is to blame.
    origin: String,
    files: Vec<SafetensorsFile<'a>>,
    /// In which file each tensor lies. What was handed out is taken out, so that in the end
    /// the tensors remain that nothing asked for.
    untaken: RefCell<BTreeMap<String, usize>>,
    /// In which file each tensor lies.
    file_of: BTreeMap<String, usize>,
}

impl<'a> Weights<'a> {
    /// Takes tensors from the files of one checkpoint; they are converted to `dtype` as they
    /// are asked for. `origin` names the whole in errors.
    ///
    /// # Errors
    /// Two files that hold a tensor of the same name.
    pub fn from_files(
        files: Vec<SafetensorsFile<'a>>,
        origin: &str,
        device: &Device,
        dtype: DType,
    ) -> Result<Self> {
        let mut file_of = BTreeMap::new();
        for (i, file) in files.iter().enumerate() {
            for name in file.names() {
                if let Some(first) = file_of.insert(name.to_owned(), i) {
                    return Err(Error::TensorTwice {
                        origin: file.origin().to_owned(),
                        tensor: name.to_owned(),
                        other: files[first].origin().to_owned(),
                    });
                }
            }
        }
        let files = Files {
            origin: origin.to_owned(),
            files,
            untaken: RefCell::new(file_of.clone()),
            file_of,
        };
        Ok(Self { source: Source::Files(files), device: device.clone(), dtype })
    }

    /// Takes tensors from one safetensors file that lies in `bytes`. `origin` names the file
    /// in errors.
    ///
    /// # Errors
    /// A file that is truncated or whose header does not fit its data.
    pub fn from_safetensors(
        bytes: &'a [u8],
        origin: &str,
        device: &Device,
        dtype: DType,
    ) -> Result<Self> {
        let file = SafetensorsFile::parse(bytes, origin)?;
        Self::from_files(vec![file], origin, device, dtype)
    }

    /// Fresh weights to train from: matrices are normal with a standard deviation of one by the
    /// root of their inputs, norms are ones and biases zeros. Seed the device first.
    pub fn random(device: &Device) -> Self {
        Self {
            source: Source::Random,
            device: device.clone(),
            dtype: DType::F32,
        }
    }

    /// Whether they are a random start.
    pub(super) fn are_random(&self) -> bool {
        matches!(self.source, Source::Random)
    }

    /// Where the tensors are put.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// What the tensors are converted to.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The first of `prefixes` under which there is a tensor called `name`, or else the first
    /// of all: the same model is published with and without the name of its outermost part.
    pub(super) fn prefix(&self, prefixes: [&'static str; 2], name: &str) -> &'static str {
        let Source::Files(files) = &self.source else {
            return prefixes[0];
        };
        let has = |prefix: &&str| files.file_of.contains_key(&format!("{prefix}{name}"));
        prefixes.into_iter().find(has).unwrap_or(prefixes[0])
    }

    // ANCHOR: tensor
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
            Source::Random => self.random_tensor(name, shape),
            Source::Files(files) => {
                let data = files.read(name, &shape, self.dtype)?;
                Tensor::from_data(data, (&self.device, self.dtype))
            }
        };
        Ok(Param::from_tensor(value))
    }
    // ANCHOR_END: tensor

    /// The matrix called `name`, which is stored as `[in, out]`, turned to `[out, in]`.
    ///
    /// # Errors
    /// As [`tensor`](Self::tensor).
    pub fn transposed(&self, name: &str, [n_out, n_in]: [usize; 2]) -> Result<Param<Tensor<2>>> {
        let stored = self.tensor(name, [n_in, n_out])?.into_value();
        // On the way through host memory the numbers are laid out anew. A transpose alone is
        // a view, and every product would have to step through memory the long way.
        let turned = stored.transpose().into_data();
        Ok(Param::from_tensor(Tensor::from_data(turned, (&self.device, self.dtype))))
    }

    /// The names of the tensors that nothing has asked for.
    pub fn untaken(&self) -> Vec<String> {
        match &self.source {
            Source::Files(files) => files.untaken.borrow().keys().cloned().collect(),
            Source::Random => Vec::new(),
        }
    }

    fn random_tensor<const D: usize>(&self, name: &str, shape: [usize; D]) -> Tensor<D> {
        let options = (&self.device, self.dtype);
        if name.ends_with("bias") {
            return Tensor::zeros(shape, options);
        }
        if D == 1 {
            return Tensor::ones(shape, options);
        }
        // ANCHOR: random
        // `[out, in]`: what goes in with unit variance comes out with unit variance.
        // With the 0.02 that large models use, a narrow one takes many times as many
        // steps before its attention looks beyond the nearest tokens.
        let std = (shape[D - 1] as f64).powf(-0.5);
        Tensor::random(shape, Distribution::Normal(0.0, std), options)
        // ANCHOR_END: random
    }
}

impl Files<'_> {
    fn read(&self, name: &str, shape: &[usize], dtype: DType) -> Result<TensorData> {
        let Some(&file) = self.file_of.get(name) else {
            let (origin, tensor) = (self.origin.clone(), name.to_owned());
            return Err(Error::TensorMissing { origin, tensor });
        };
        let stored = self.files[file].tensor(name, shape)?;
        let mut numbers = Numbers::with_capacity(shape.iter().product(), dtype);
        numbers.extend(&stored);
        self.untaken.borrow_mut().remove(name);
        Ok(TensorData::from_bytes(numbers.into_bytes(), shape.to_vec(), dtype))
    }
}
