//! Loads a model and its tokenizer.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use burn::tensor::{DType, Device};

use super::pooling::read::{MODULES, POOLING, check_modules};
use super::{Pooling, Pretrained};
use crate::adapter::{Adapter, Adapters};
use crate::checkpoint::folder::{not_a_model, read};
use crate::checkpoint::gguf::{GgufFile, find_in_folder};
use crate::checkpoint::{AdapterFolder, GenerationConfig, Shards, Weights};
use crate::device::OpenDevice;
use crate::error::{LoadError, Result};
use crate::grammar::Grammars;
use crate::model::{Model, ModelConfig};
use crate::storage::{Precision, Storage};
use crate::tokenizer::{ChatTemplate, Tokenizer};

/// The folder with templates beside the default one, each a file by its name.
pub(crate) const NAMED_TEMPLATES: &str = "additional_chat_templates";

/// The files of a folder, and their names in errors.
struct Files<'a> {
    name: &'a dyn Fn(&str) -> String,
    config: &'a [u8],
    generation_config: Option<&'a [u8]>,
    weights: &'a dyn Fn(&Device, DType) -> Result<Weights<'a>>,
    tokenizer: &'a [u8],
    tokenizer_config: Option<&'a [u8]>,
    special_tokens_map: Option<&'a [u8]>,
    chat_template: Option<&'a [u8]>,
    /// Of a model that was trained for embeddings.
    modules: Option<&'a [u8]>,
    pooling: Option<&'a [u8]>,
    /// Those beside the default, by their names.
    named_templates: &'a [(String, Vec<u8>)],
}

impl Pretrained {
    /// Ember, the model inside this crate (`models/ember`). It needs no file and no download.
    ///
    /// # Errors
    /// A device that can't compute in this precision, or with quantized weights if you ask for them.
    pub fn bundled(device: &OpenDevice, storage: impl Into<Storage>) -> Result<Self> {
        let config = include_bytes!("../../models/ember/config.json");
        let weights = include_bytes!("../../models/ember/model.safetensors");
        Self::from_bundled(&|file| format!("the bundled {file}"), config, weights, device, storage)
    }

    /// The draft model inside this crate (`models/ember/draft`), which guesses ahead for the
    /// [bundled](Self::bundled) one. See [`speculation`](crate::speculation).
    ///
    /// # Errors
    /// As [`bundled`](Self::bundled).
    #[cfg(not(target_family = "wasm"))]
    pub fn bundled_draft(device: &OpenDevice, storage: impl Into<Storage>) -> Result<Self> {
        let config = include_bytes!("../../models/ember/draft/config.json");
        let weights = include_bytes!("../../models/ember/draft/model.safetensors");
        let name = &|file: &str| format!("the bundled draft model's {file}");
        Self::from_bundled(name, config, weights, device, storage)
    }

    /// Spark, the model inside this crate that holds little conversations (`models/spark`).
    ///
    /// ```
    /// use slowburn::device::{self, DeviceChoice, Precision};
    /// use slowburn::tokenizer::{ChatOptions, Message, Role};
    /// use slowburn::{Options, Pretrained};
    ///
    /// let device = device::open(DeviceChoice::Cpu)?;
    /// let spark = Pretrained::bundled_chat(&device, Precision::F32)?;
    /// let messages = [Message::new(Role::User, "Where do you live?")];
    /// let prompt = spark.chat_ids(&messages, &ChatOptions::default())?;
    /// # assert!(!prompt.is_empty());
    /// # Ok::<(), slowburn::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`bundled`](Self::bundled).
    #[cfg(not(target_family = "wasm"))]
    pub fn bundled_chat(device: &OpenDevice, storage: impl Into<Storage>) -> Result<Self> {
        let file = include_bytes!("../../models/spark/model.gguf");
        Self::from_gguf(file, "the bundled model for conversations", device, storage)
    }

    /// A model that has the tokenizer of ember.
    fn from_bundled(
        name: &dyn Fn(&str) -> String,
        config: &[u8],
        weights: &[u8],
        device: &OpenDevice,
        storage: impl Into<Storage>,
    ) -> Result<Self> {
        let origin = name("model.safetensors");
        let files = Files {
            name,
            config,
            generation_config: None,
            weights: &|device, dtype| Weights::from_safetensors(weights, &origin, device, dtype),
            tokenizer: include_bytes!("../../models/ember/tokenizer.json"),
            tokenizer_config: None,
            special_tokens_map: None,
            chat_template: None,
            modules: None,
            pooling: None,
            named_templates: &[],
        };
        Self::from_files(&files, device, storage.into())
    }

    /// Loads a model from a folder as Hugging Face publishes it, or from a GGUF file.
    ///
    /// A folder has `config.json`, `tokenizer.json`, and the weights in `model.safetensors` or in several
    /// files that `model.safetensors.index.json` lists. Optional are `generation_config.json`,
    /// `tokenizer_config.json`, `special_tokens_map.json`, `chat_template.jinja` with further templates in
    /// `additional_chat_templates`, and for embedding models `modules.json` and `1_Pooling/config.json`.
    ///
    /// A folder may be quantized: `quantization_config` of FP8, compressed-tensors, AWQ, GPTQ, bitsandbytes and
    /// ModelOpt is read. Its weights keep their values on the CPU and on GPUs, in groups of integers if a format
    /// holds these, and otherwise as f32 if that is what you ask for.
    ///
    /// A path that ends in `.gguf` is one file with all of this, or any part of a split one; a folder without
    /// `config.json` may hold one such model too. On the CPU and on GPUs its quantized weights keep their
    /// values, and on other devices they are dequantized.
    ///
    /// Files are read, not memory-mapped. So if another program changes one meanwhile, loading fails or
    /// gives other numbers, but nothing worse. You can map a file yourself and pass the bytes to
    /// [`Weights::from_safetensors`]. That saves no memory, because the weights are copied either way, and
    /// a program that truncates the file ends yours (SIGBUS).
    ///
    /// # Errors
    /// Files that are missing, damaged, or describe a model that this crate does not implement;
    /// weights that do not fit into memory; a system that refuses to start threads.
    pub fn load(path: &Path, device: &OpenDevice, storage: impl Into<Storage>) -> Result<Self> {
        let storage = storage.into();
        match gguf_file(path)? {
            Some(file) => Self::load_gguf(&file, device, storage),
            None => Self::load_folder(path, device, storage),
        }
    }

    /// Reads an adapter (LoRA or rsLoRA) for this model from a folder as PEFT writes it: `adapter_config.json` and
    /// `adapter_model.safetensors`. Use it in [`Options`](crate::Options), or put it into
    /// [`adapters`](Self::adapters), where requests find it by a name.
    ///
    /// # Errors
    /// Files that are missing or damaged; an adapter of another kind, or of another model; a device that computes
    /// without adapters, as all do but the CPU.
    pub fn read_adapter(&self, folder: &Path) -> Result<Arc<Adapter>> {
        let sites = self.model.sites()?;
        AdapterFolder::open(folder)?.read(sites).map(Arc::new)
    }

    /// The format of most numbers in the files that [`load`](Self::load) would read. Pass it to `load`, and a
    /// checkpoint in bf16 stays in bf16. Quantized weights count as f32: what no format of integers holds becomes
    /// that.
    ///
    /// # Errors
    /// Weights that are missing or damaged.
    pub fn precision_of(path: &Path) -> Result<Precision> {
        match gguf_file(path)? {
            Some(file) => Ok(GgufFile::open(&file)?.precision()),
            None => Shards::open(path)?.precision(),
        }
    }

    fn load_folder(folder: &Path, device: &OpenDevice, storage: Storage) -> Result<Self> {
        let required = |name| read(folder, name)?.ok_or_else(|| not_a_model(folder, name));
        let config = required("config.json")?;
        let generation_config = read(folder, "generation_config.json")?;
        let tokenizer_config = read(folder, "tokenizer_config.json")?;
        let special_tokens_map = read(folder, "special_tokens_map.json")?;
        let chat_template = read(folder, "chat_template.jinja")?;
        let (modules, pooling) = (read(folder, MODULES)?, read(folder, POOLING)?);
        let named_templates = read_named_templates(folder)?;
        let shards = Shards::open(folder)?;
        let files = Files {
            name: &|file| format!("{:?}", folder.join(file)),
            config: &config,
            generation_config: generation_config.as_deref(),
            weights: &|device, dtype| shards.weights(device, dtype),
            tokenizer: &required("tokenizer.json")?,
            tokenizer_config: tokenizer_config.as_deref(),
            special_tokens_map: special_tokens_map.as_deref(),
            chat_template: chat_template.as_deref(),
            modules: modules.as_deref(),
            pooling: pooling.as_deref(),
            named_templates: &named_templates,
        };
        Self::from_files(&files, device, storage)
    }

    fn load_gguf(path: &Path, device: &OpenDevice, storage: Storage) -> Result<Self> {
        Self::from_gguf_file(&GgufFile::open(path)?, device, storage)
    }

    /// Loads a GGUF file from memory, for where there are no files, such as in a browser. `origin` names it
    /// in errors.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn from_gguf(
        bytes: &[u8],
        origin: &str,
        device: &OpenDevice,
        storage: impl Into<Storage>,
    ) -> Result<Self> {
        let file = GgufFile::from_bytes(bytes, origin)?;
        Self::from_gguf_file(&file, device, storage.into())
    }

    fn from_gguf_file(file: &GgufFile<'_>, device: &OpenDevice, storage: Storage) -> Result<Self> {
        let dtype = device.check(storage)?;
        let config = ModelConfig::from_gguf(file)?;
        let tokenizer = Tokenizer::from_gguf(file, config.vocab_size)?;
        check_ids_fit(&tokenizer, &config, file.origin())?;
        let weights = Weights::from_gguf(file, &config, &device.device, dtype)?;
        let weights = weights.stored_as(storage).batch_invariant(device.batch_invariant);
        let pooling = Pooling::from_gguf(file)?;
        let loaded = Self::from_parts(config, tokenizer, &weights)?;
        Ok(Self { pooling, ..loaded.warned_of(file.warnings()?) })
    }

    fn from_files(files: &Files<'_>, device: &OpenDevice, storage: Storage) -> Result<Self> {
        let dtype = device.check(storage)?;
        let name = files.name;
        let mut config = ModelConfig::from_json(files.config, &name("config.json"))?;
        if let Some(json) = files.generation_config {
            GenerationConfig::from_json(json, &name("generation_config.json"))?.apply(&mut config);
        }
        let mut warnings = drop_ids_outside(&mut config);
        if let Some(json) = files.modules {
            check_modules(json, &name(MODULES))?;
        }
        let pooling = files.pooling.map(|json| Pooling::from_json(json, &name(POOLING)));
        let pooling = pooling.transpose()?.flatten();
        let file = name("tokenizer.json");
        let mut tokenizer = Tokenizer::from_json_for(files.tokenizer, &file, config.vocab_size)?;
        check_ids_fit(&tokenizer, &config, &file)?;
        if let Some(json) = files.special_tokens_map {
            tokenizer =
                tokenizer.with_special_tokens_map(json, &name("special_tokens_map.json"))?;
        }
        if let Some(json) = files.tokenizer_config {
            tokenizer = tokenizer.with_config(json, &name("tokenizer_config.json"))?;
        }
        if let Some(source) = files.chat_template {
            let template = String::from_utf8_lossy(source);
            let template = ChatTemplate::new(template, name("chat_template.jinja"));
            tokenizer = tokenizer.with_chat_template(template);
        }
        for (template, source) in files.named_templates {
            let origin = name(&format!("{NAMED_TEMPLATES}/{template}.jinja"));
            let source = String::from_utf8_lossy(source);
            tokenizer = tokenizer.with_named_template(template, source, &origin);
        }
        let weights = (files.weights)(&device.device, dtype)?.stored_as(storage);
        let weights = weights.batch_invariant(device.batch_invariant);
        let weights = weights.quantized_as(files.config, &name("config.json"))?;
        warnings.extend(weights.not_followed());
        let loaded = Self::from_parts(config, tokenizer, &weights)?;
        Ok(Self { pooling, ..loaded.warned_of(warnings) })
    }

    fn from_parts(
        config: ModelConfig,
        tokenizer: Tokenizer,
        weights: &Weights<'_>,
    ) -> Result<Self> {
        weights.check_memory(config.vocab_size)?;
        let model = Model::load(config, weights)?;
        weights.check_activations()?;
        let unused = weights.unused(&model);
        let dequantized = weights.were_dequantized();
        let parts = Vec::from_iter(weights.other_parts(model.config())).join("`, `");
        let skipped = format!(
            "the tensors of `{parts}` are skipped: only what reads and writes text, a token at a time, is loaded"
        );
        Ok(Self {
            model,
            tokenizer,
            unused,
            dequantized,
            warnings: if parts.is_empty() {
                Vec::new()
            } else {
                vec![skipped]
            },
            pooling: None,
            grammars: Grammars::default(),
            adapters: Adapters::default(),
        })
    }

    fn warned_of(mut self, warnings: Vec<String>) -> Self {
        self.warnings.extend(warnings);
        self
    }
}

/// Drops special tokens that are outside the vocabulary, and says so: no text has them.
fn drop_ids_outside(config: &mut ModelConfig) -> Vec<String> {
    let vocab_size = config.vocab_size;
    let mut warnings = Vec::new();
    let mut exists = |field: &str, id: u32| {
        let exists = (id as usize) < vocab_size;
        if !exists {
            warnings.push(format!(
                "{field} {id} is outside the vocabulary of {vocab_size} tokens, and is ignored"
            ));
        }
        exists
    };
    config.bos_token_id = config.bos_token_id.filter(|id| exists("bos_token_id", *id));
    config.eos_token_ids.retain(|id| exists("eos_token_id", *id));
    warnings
}

/// The templates beside the default, by their names and in their order.
fn read_named_templates(folder: &Path) -> Result<Vec<(String, Vec<u8>)>> {
    /// Published models have two or three.
    const MOST: usize = 64;
    let Ok(entries) = folder.join(NAMED_TEMPLATES).read_dir() else {
        return Ok(Vec::new());
    };
    let files = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let names = files.filter_map(|file| file.strip_suffix(".jinja").map(str::to_owned));
    let mut names: Vec<String> = names.take(MOST).collect();
    names.sort_unstable();
    let read = |name: String| {
        let source = read(folder, &format!("{NAMED_TEMPLATES}/{name}.jinja"))?;
        Ok(source.map(|source| (name, source)))
    };
    names.into_iter().filter_map(|name| read(name).transpose()).collect()
}

/// The GGUF file that `path` is, or that is the model of this folder.
///
/// # Errors
/// A folder that cannot be read, or has several.
fn gguf_file(path: &Path) -> Result<Option<PathBuf>> {
    let is_gguf = path.extension().is_some_and(|name| name.eq_ignore_ascii_case("gguf"));
    if is_gguf && !path.is_dir() {
        Ok(Some(path.to_owned()))
    } else {
        find_in_folder(path)
    }
}

/// Checks that every id of the tokenizer's own vocabulary has a row in the embedding matrix. A token
/// that was added to it and has none is refused where a prompt has it.
fn check_ids_fit(tokenizer: &Tokenizer, config: &ModelConfig, origin: &str) -> Result<()> {
    let vocab_size = config.vocab_size;
    match tokenizer.largest_own_id() {
        Some(id) if id as usize >= vocab_size => {
            Err(LoadError::TokenizerTooLarge { origin: origin.to_owned(), id, vocab_size }.into())
        }
        _ => Ok(()),
    }
}
