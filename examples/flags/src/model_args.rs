//! The flags that say which model, and where it is computed.

use bytesize::ByteSize;
use clap::{Args, ValueEnum};
use slowburn::device::{self, DeviceChoice, OpenDevice, Precision};
use slowburn::kernels::{Activations, BLOCK, Cpu, KvFormat, Quantized, Rounding, Simd};
use slowburn::kv::KvPool;
use slowburn::model::Model;
use slowburn::pretrained::Pretrained;
use slowburn::speculation::DraftModel;
use slowburn::storage::{MatrixFormat, Storage};

use crate::{Bundled, Dtype, Error, ModelSource, Result, bytes, memory, note, values, whole};

/// The flags that say which model, and where it is computed.
#[derive(Debug, Clone, Args)]
pub struct ModelArgs {
    /// A folder as Hugging Face publishes it, a GGUF file (of a model in several, any of them), or a
    /// model on the hub: hf:org/name, hf:org/name:Q4_K_M or hf:org/name/file.gguf, each with @revision or without;
    /// or one inside this program: ember tells stories, spark talks [default: ember, and in a chat spark]
    #[arg(long = "model", value_name = "MODEL")]
    pub source: Option<ModelSource>,

    /// The device to compute on, or remote:HOST:PORT: one that `17_remote_device --serve` lends there
    ///
    /// Where that asks for a token, it is taken from SLOWBURN_DEVICE_TOKEN.
    #[arg(long, value_parser = values::DeviceParser, default_value = "auto")]
    pub device: DeviceChoice,

    /// The storage format of weights, and also of keys and values, without --kv-dtype
    ///
    /// auto is the format that the files have, if the device takes it; the model inside this program is
    /// stored in f32. A GPU also computes in this format; the CPU always computes in f32, which holds
    /// each number of the other formats exactly. These take half the memory, and half the bytes to read
    /// at each step.
    ///
    /// Quantized weights of a GGUF file or a quantized checkpoint stay as they are where there are kernels for
    /// them, and are f32 with auto where there are none (NF4, Q2_K, GPTQ with act-order; on a GPU also FP8).
    #[arg(long, value_parser = values::dtype(), default_value = "auto")]
    pub dtype: Dtype,

    /// Store the matrices of the layers as integers, in groups that share a scale: 4 or 7 times
    /// smaller than in f32. The embedding and the head are in int8 then, unless --quantize-embedding
    /// says otherwise
    #[arg(long, value_parser = values::quantized(), value_name = "FORMAT")]
    pub quantize: Option<Quantized>,

    /// The storage format of the embedding and the head [default: int8 with --quantize, otherwise as
    /// --dtype; quantized weights of a GGUF file stay as they are]
    #[arg(long, value_parser = values::matrix_format(), value_name = "FORMAT")]
    pub quantize_embedding: Option<MatrixFormat>,

    /// With --quantize: how the scale of a group is chosen
    #[arg(long, value_parser = values::rounding(), default_value = "nearest", value_name = "HOW")]
    pub rounding: Rounding,

    /// The format of the activations that weights are multiplied with: int8 for quantized weights, except
    /// for FP8, and bf16 for those in bf16. Either makes prefill faster, and results less accurate. On the
    /// CPU only
    #[arg(long, value_parser = values::activations(), default_value = "f32", value_name = "DTYPE")]
    pub activations: Activations,

    /// On a GPU, compute each token in a way that depends on nothing else in the batch, down to the last
    /// bit. On the CPU, on NVIDIA's GPUs since Ampere, and with weights in f32, int8 or int4, it is always so; on
    /// other GPUs with f16 and bf16, prefill is slower then
    #[arg(long)]
    pub batch_invariant: bool,

    /// The storage format of keys and values, on the CPU and on GPUs [default: that of --dtype]
    #[arg(long, value_parser = values::kv_format(), value_name = "DTYPE")]
    pub kv_dtype: Option<KvFormat>,

    /// The most memory for keys and values, such as 64MiB, those of a draft model included [default:
    /// half of the free memory]
    #[arg(long, value_name = "BYTES", value_parser = memory)]
    pub kv_cache_bytes: Option<ByteSize>,

    /// Report at the end how many blocks of keys and values were in use, on standard error
    #[arg(long)]
    pub block_report: bool,

    /// The number of threads, on the CPU [default: one for each core]
    #[arg(long, value_name = "N", value_parser = whole::<usize>(..))]
    pub threads: Option<usize>,

    /// The vector instructions to use, on the CPU. The choice changes no bit of the answer
    #[arg(long, value_enum, default_value_t = SimdChoice::Auto)]
    pub simd: SimdChoice,
}

/// Shares the target's budget for keys and values: each holds as many tokens.
fn share_memory(target: Model, draft: Model) -> (Model, Model) {
    let budget = target.kv_pool().budget();
    if budget == usize::MAX {
        return (target, draft);
    }
    let block_of_draft = draft.kv_pool().block_bytes();
    let blocks = budget / (target.kv_pool().block_bytes() + block_of_draft);
    let of_draft = blocks * block_of_draft;
    (
        target.with_kv_cache_bytes(budget - of_draft),
        draft.with_kv_cache_bytes(of_draft),
    )
}

/// Vector instructions, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SimdChoice {
    /// The widest that the processor has
    Auto,
    /// As avx512, with products of bf16 by the matrix unit of Xeons
    Amx,
    Avx512,
    Avx2,
    Neon,
    /// None
    Scalar,
}

impl ModelArgs {
    /// The same flags, with this model if they name none.
    #[must_use]
    pub fn or(&self, bundled: Bundled) -> Self {
        let source = self.source.clone().unwrap_or(ModelSource::Bundled(bundled));
        Self { source: Some(source), ..self.clone() }
    }

    /// Loads the requested model on the requested device.
    ///
    /// # Errors
    /// A device that cannot be used; a model that cannot be loaded.
    pub fn load(&self) -> Result<(Pretrained, OpenDevice)> {
        let device = self.open()?;
        if self.device == DeviceChoice::Auto && device::auto_has_a_choice() {
            note(&format!("computing on {device} (--device chooses another)\n"));
        }
        let pretrained = self.cpu()?.enter(|| self.load_on(&device))?;
        Ok((pretrained, device))
    }

    /// Loads a draft model for the target, which these flags have loaded, or without a name the bundled
    /// one for the bundled model. The memory for keys and values is for both.
    ///
    /// # Errors
    /// No name, and another model than the bundled one; a model that cannot be loaded, or has another
    /// vocabulary.
    pub fn load_draft(
        &self,
        draft: Option<&ModelSource>,
        target: Pretrained,
    ) -> Result<(Pretrained, Model)> {
        let load = || {
            let (device, storage) = (self.open()?, |precision| self.storage(precision));
            let draft = match (draft, &self.source) {
                (Some(draft), _) => draft.load(&device, self.dtype, storage)?,
                (None, None | Some(ModelSource::Bundled(Bundled::Ember))) => {
                    Pretrained::bundled_draft(&device, storage(self.bundled()))?
                }
                (None, Some(_)) => return Err(Error::NoDraft),
            };
            Ok(self.set_up(draft, &device)?.model)
        };
        // On the threads of the model: only one of the two computes at a time.
        let draft = target.model.cpu().enter(load)?;
        DraftModel::check(&draft, &target.model)?;
        let (model, draft) = share_memory(target.model, draft);
        Ok((Pretrained { model, ..target }, draft))
    }

    fn open(&self) -> slowburn::Result<OpenDevice> {
        let device = device::open(self.device.clone())?;
        Ok(OpenDevice { batch_invariant: self.batch_invariant, ..device })
    }

    fn load_on(&self, device: &OpenDevice) -> Result<Pretrained> {
        let source = self.source.as_ref().unwrap_or(&ModelSource::Bundled(Bundled::Ember));
        let pretrained = source.load(device, self.dtype, |dtype| self.storage(dtype))?;
        self.set_up(pretrained, device)
    }

    /// What the flags say besides the source.
    fn set_up(&self, mut pretrained: Pretrained, device: &OpenDevice) -> Result<Pretrained> {
        warn_of_unused(&pretrained.unused);
        for warning in &pretrained.warnings {
            note(&format!("warning: {warning}\n"));
        }
        if pretrained.dequantized {
            note(&format!(
                "note: the file's weights are quantized, and {device} computes with none: they were dequantized to {}\n",
                Precision::of(pretrained.model.dtype()).name()
            ));
        }
        if let Some(format) = self.kv_dtype {
            pretrained.model = pretrained.model.with_kv_format(format)?;
        }
        if let Some(ByteSize(bytes)) = self.kv_cache_bytes {
            let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
            pretrained.model = pretrained.model.with_kv_cache_bytes(bytes);
        }
        Ok(pretrained)
    }

    /// The format of the bundled models.
    fn bundled(&self) -> Precision {
        match self.dtype {
            Dtype::Auto => Precision::F32,
            Dtype::Of(precision) => precision,
        }
    }

    /// How weights are stored.
    fn storage(&self, precision: Precision) -> Storage {
        Storage {
            precision,
            layers: self.quantize,
            embedding: self.quantize_embedding,
            rounding: self.rounding,
            activations: self.activations,
        }
    }

    /// With `--block-report`: the blocks of all KV caches, on standard error.
    pub fn report_blocks(&self, pool: &KvPool) {
        if self.block_report {
            note(&blocks(pool));
        }
    }

    /// The CPU settings: instruction set and threads.
    fn cpu(&self) -> slowburn::Result<Cpu> {
        let simd = match self.simd {
            SimdChoice::Auto => Simd::detect(),
            SimdChoice::Amx => Simd::Amx,
            SimdChoice::Avx512 => Simd::Avx512,
            SimdChoice::Avx2 => Simd::Avx2,
            SimdChoice::Neon => Simd::Neon,
            SimdChoice::Scalar => Simd::Scalar,
        };
        Cpu::new(simd, self.threads.unwrap_or_else(Cpu::cores))
    }
}

/// The blocks that were in use at once, in words.
fn blocks(pool: &KvPool) -> String {
    let (peak, block) = (pool.peak_bytes(), pool.block_bytes());
    let (max_blocks, budget) = match pool.budget() {
        usize::MAX => (String::new(), String::new()),
        budget => (format!(" of {}", pool.max_blocks()), format!(" of {}", bytes(budget))),
    };
    format!(
        "  KV cache: at most {}{max_blocks} blocks in use, {}{budget}; a block is {BLOCK} positions, {}\n",
        peak.div_ceil(block),
        bytes(peak),
        bytes(block),
    )
}

/// Warns on standard error of tensors that the model does not use.
fn warn_of_unused(tensors: &[String]) {
    if let [first, rest @ ..] = tensors {
        let more = match rest.len() {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        note(&format!(
            "warning: this model has no use for tensor {first:?}{more}; is its configuration right?\n"
        ));
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        model: ModelArgs,
    }

    #[test]
    fn a_draft_model_has_its_keys_and_values_in_the_memory_of_both() {
        let args = ["", "--device", "cpu", "--kv-cache-bytes", "3000KiB"];
        let model = Cli::parse_from(args).model;
        let (target, _) = model.load().unwrap();
        let (target, draft) = model.load_draft(None, target).unwrap();
        let pools = [target.model.kv_pool(), draft.kv_pool()];
        let [of_target, of_draft] = pools.map(KvPool::budget);
        assert_eq!(of_target + of_draft, 3_000 * 1024);
        // Each block is for as many tokens.
        let [blocks, blocks_of_draft] = pools.map(KvPool::max_blocks);
        assert!(blocks_of_draft > 0 && blocks.abs_diff(blocks_of_draft) <= 1);
        assert!(of_target > of_draft);
    }
}
