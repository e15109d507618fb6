//! `cargo xtask train`: trains a tokenizer and a decoder on the stories of the small world.
//!
//! The recipe, in the order of the files: [`tokenizer`] learns a byte-level BPE from the first
//! stories; [`data`] packs stories into rows; [`schedule`] sets the learning rate and the row
//! length of each step; [`take_steps`] repeats the loss, its gradients and an optimizer step;
//! [`checkpoint`] saves the state, so that an interrupted run can resume.

mod checkpoint;
mod data;
mod folder;
mod schedule;
mod tokenizer;

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use burn::module::{Module, ParamGroup};
use burn::nn::loss::{CrossEntropyLoss, CrossEntropyLossConfig};
use burn::optim::decay::WeightDecayConfig;
use burn::optim::grad_clipping::GradientClippingConfig;
use burn::optim::{AdamWConfig, AdjustLrFn, GradientsParams, ModuleOptimizer, MuonConfig};
use burn::tensor::{Device, Int, Tensor, TensorData};
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use slowburn::model::activation::Activation;
use slowburn::model::config::{Family, LlamaConfig, RopeConfig};

use slowburn::checkpoint::Weights;
use slowburn::model::{ModelConfig, decoder::Decoder, pass::Pass, rope::Ropes};

use tokenizers::Tokenizer;

use crate::corpus::{self, HELD_OUT, SEED, TRAINED_STORIES, talk};
use crate::live::weights::gguf;
use checkpoint::Checkpoint;
use data::Rows;
use schedule::Schedule;

#[derive(Args)]
pub struct TrainArgs {
    /// Where the finished model goes: config.json, model.safetensors, tokenizer.json, and if it talks
    /// tokenizer_config.json with a chat template, and all of it as model.gguf
    #[arg(long, default_value = "data/model")]
    out: PathBuf,
    /// Where checkpoints and the loss curve go
    #[arg(long, default_value = "data/run")]
    run: PathBuf,
    /// Go on from the last checkpoint in the run folder
    #[arg(long)]
    resume: bool,
    /// The bundled model, the small one that guesses ahead for it, or the bundled one that talks
    #[arg(long, value_enum, default_value_t = Shape::Ember)]
    shape: Shape,
    /// How many optimizer steps
    #[arg(long, default_value_t = 7000)]
    steps: usize,
    /// Tokens in one step
    #[arg(long, default_value_t = 2048)]
    batch_tokens: usize,
    /// Learning rate at its peak
    #[arg(long, default_value_t = 8e-3)]
    learning_rate: f64,
    /// How many distinct stories or conversations to train on [default: 120000, and 60000 of the latter]
    #[arg(long)]
    stories: Option<usize>,
    /// Seed of the stories and of the first weights
    #[arg(long, default_value_t = SEED)]
    seed: u64,
    /// Save a checkpoint every this many steps
    #[arg(long, default_value_t = 500)]
    checkpoint_every: usize,
}

/// How many conversations a model that talks is trained on.
const TRAINED_TALKS: usize = 60_000;

const WEIGHT_DECAY: f32 = 0.05;

const ROPE: RopeConfig = RopeConfig::new(10_000.0);

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Shape {
    /// 2.4 million parameters
    Ember,
    /// 0.3 million parameters, with the same vocabulary
    Draft,
    /// 1.8 million parameters, trained on conversations
    Spark,
}

impl Shape {
    fn config(self) -> ModelConfig {
        match self {
            Self::Ember => ember(),
            Self::Draft => draft(),
            Self::Spark => spark(),
        }
    }

    /// Whether it is trained on conversations.
    fn talks(self) -> bool {
        matches!(self, Self::Spark)
    }
}

/// The shape of the bundled model that talks.
fn spark() -> ModelConfig {
    ModelConfig {
        vocab_size: 1024,
        n_layers: 4,
        context_length: 1024,
        ..ember()
    }
}

/// The shape of the bundled draft model: half of it is the embedding matrix.
fn draft() -> ModelConfig {
    ModelConfig {
        d_model: 64,
        n_layers: 3,
        n_heads: 2,
        n_kv_heads: 1,
        head_dim: 32,
        d_ff: 192,
        ..ember()
    }
}

/// The shape of the bundled model.
fn ember() -> ModelConfig {
    ModelConfig {
        family: Family::Llama(LlamaConfig::plain(ROPE)),
        vocab_size: 2048,
        d_model: 192,
        n_layers: 5,
        n_heads: 4,
        n_kv_heads: 2,
        head_dim: 48,
        d_ff: 512,
        context_length: 512,
        norm_eps: 1e-5,
        activation: Activation::Silu,
        tied_head: true,
        bos_token_id: Some(tokenizer::BEGIN_ID),
        eos_token_ids: vec![tokenizer::END_ID],
    }
}

pub fn run(args: &TrainArgs) -> Result<()> {
    ensure!(args.steps > 0, "nothing to do");
    let config = args.shape.config();
    let longest = config.context_length;
    ensure!(
        args.batch_tokens >= longest,
        "--batch-tokens must be at least {longest}, one row of the longest"
    );
    std::fs::create_dir_all(&args.run)?;

    let (tokenizer, train, held_out) = texts(args, &config)?;
    let tokens: usize = train.iter().map(Vec::len).sum();
    eprintln!("{} stories, {tokens} tokens", train.len());

    let device = training_device();
    let mut trainer = Trainer::new(&config, &device, args)?;
    let mut rows = Rows::new(train);
    let mut first_step = 0;
    if args.resume {
        let checkpoint = Checkpoint::load(&args.run, trainer.model, trainer.optimizer)?;
        (trainer.model, trainer.optimizer) = (checkpoint.model, checkpoint.optimizer);
        rows.seek(checkpoint.next_story);
        first_step = checkpoint.step;
    }
    eprintln!("{} parameters", trainer.model.num_params());

    take_steps(args, first_step, longest, &mut trainer, &mut rows, &held_out)?;

    std::fs::create_dir_all(&args.out)?;
    folder::write_safetensors(&trainer.model, &args.out.join("model.safetensors"))?;
    std::fs::write(args.out.join("config.json"), folder::config_json(&config, &ROPE))?;
    tokenizer::save(&tokenizer, &args.out.join("tokenizer.json"))?;
    if args.shape.talks() {
        std::fs::write(args.out.join("tokenizer_config.json"), tokenizer::chat_config())?;
        std::fs::write(args.out.join("model.gguf"), gguf(&args.out, "spark")?)?;
    }
    eprintln!("the model is in {}", args.out.display());
    Ok(())
}

/// The token ids of texts.
type Texts = Vec<Vec<u32>>;

/// The tokenizer, the texts to train on, and those that measure the loss.
fn texts(args: &TrainArgs, config: &ModelConfig) -> Result<(Tokenizer, Texts, Texts)> {
    let count = args.stories.unwrap_or(match args.shape {
        Shape::Spark => TRAINED_TALKS,
        Shape::Ember | Shape::Draft => TRAINED_STORIES,
    });
    ensure!(count > 0, "--stories is to be at least 1");
    let texts: Vec<String>;
    let (tokenizer, mut train) = if args.shape.talks() {
        let dialogues: Vec<_> = talk::dialogues(args.seed).take(count + HELD_OUT).collect();
        let said = dialogues[..count].iter().flat_map(talk::Dialogue::messages);
        texts = said.map(|(_, text)| text.to_owned()).collect();
        let tokenizer = tokenizer::train(&texts, config.vocab_size, true)?;
        let ids = tokenizer::encode_talk(&tokenizer, &dialogues)?;
        (tokenizer, ids)
    } else {
        let stories = corpus::stories(args.seed).take(count + HELD_OUT);
        texts = stories.map(|story| story.text).collect();
        let tokenizer = tokenizer::train(&texts[..count], config.vocab_size, false)?;
        let ids = tokenizer::encode(&tokenizer, &texts)?;
        (tokenizer, ids)
    };
    let held_out = train.split_off(count);
    Ok((tokenizer, train, held_out))
}

/// Takes the steps from `first_step` on; the last have rows of the length `longest`. Writes the loss curve
/// and checkpoints.
fn take_steps(
    args: &TrainArgs,
    first_step: usize,
    longest: usize,
    trainer: &mut Trainer,
    rows: &mut Rows,
    held_out: &[Vec<u32>],
) -> Result<()> {
    let schedule = Schedule::new(args.learning_rate, args.steps);
    let bar = progress_bar(args.steps, first_step);
    let mut log = LossLog::open(args, first_step)?;
    let mut smooth_loss = None;
    for step in first_step..args.steps {
        let length = schedule.row_length(step, longest);
        let batch = rows.take(args.batch_tokens / length, length);
        let loss = trainer.step(&batch, schedule.learning_rate(step));
        ensure!(loss.is_finite(), "the loss is {loss} at step {step}: lower --learning-rate");

        let smooth = smooth_loss.map_or(loss, |smooth| 0.98 * smooth + 0.02 * loss);
        smooth_loss = Some(smooth);
        let rate = bar.per_sec() * args.batch_tokens as f64;
        bar.set_message(format!("loss {smooth:.3}, {rate:.0} tokens/s"));
        bar.inc(1);
        log.train(step + 1, smooth)?;

        let done = step + 1;
        if done.is_multiple_of(args.checkpoint_every) || done == args.steps {
            let held_out_loss = trainer.loss(held_out);
            log.held_out(done, held_out_loss)?;
            bar.println(format!("step {done}: loss {smooth:.3}, held out {held_out_loss:.3}"));
            checkpoint::save(
                &args.run,
                &trainer.model,
                &trainer.optimizer,
                done,
                rows.next_story(),
            )?;
        }
    }
    bar.finish();
    Ok(())
}

/// The GPU with the feature `cuda`, the CPU otherwise.
fn training_device() -> Device {
    #[cfg(feature = "cuda")]
    return Device::cuda(0);
    #[cfg(not(feature = "cuda"))]
    Device::flex()
}

/// A model and its optimizers.
struct Trainer {
    model: Decoder,
    optimizer: ModuleOptimizer,
    ropes: Ropes,
    loss: CrossEntropyLoss,
    /// Whether only answers are learned.
    talks: bool,
    device: Device,
}

impl Trainer {
    fn new(config: &ModelConfig, device: &Device, args: &TrainArgs) -> Result<Self> {
        let trained = device.clone().autodiff();
        trained.seed(args.seed);
        let llama = LlamaConfig::plain(ROPE);
        let talks = args.shape.talks();
        // ANCHOR: optimizer
        // Burn's own epsilon, 1e-5, is larger than many gradients here.
        let vectors = AdamWConfig::new()
            .with_epsilon(1e-8)
            .with_beta_2(0.99)
            .with_weight_decay(WEIGHT_DECAY)
            .with_grad_clipping(Some(GradientClippingConfig::Norm(1.0)));
        // Muon updates all directions of a matrix at one rate. Attention needs many of them to tell
        // names apart, and AdamW learns these one after another.
        let matrices = MuonConfig::new()
            .with_weight_decay(Some(WeightDecayConfig { penalty: WEIGHT_DECAY }))
            .with_adjust_lr_fn(AdjustLrFn::MatchRmsAdamW);
        let inside_blocks = ParamGroup::from_predicate("_proj");
        let optimizer = vectors.init().with_group(inside_blocks, matrices.build(), None);
        // ANCHOR_END: optimizer
        Ok(Self {
            model: Decoder::load(&Weights::random(&trained), config, &llama)?,
            optimizer,
            ropes: Ropes::of(config, &llama),
            loss: CrossEntropyLossConfig::new()
                .with_pad_tokens(talks.then(|| vec![tokenizer::BEGIN_ID as usize]))
                .init(device),
            talks,
            device: device.clone(),
        })
    }

    // ANCHOR: step
    /// One optimizer step on `batch`; returns the loss before it.
    fn step(&mut self, batch: &[Vec<u32>], learning_rate: f64) -> f32 {
        let loss = self.loss_of(&self.model, batch);
        let value = loss.clone().into_scalar::<f32>();
        let gradients = GradientsParams::from_grads(loss.backward(), &self.model);
        self.model = self.optimizer.step(learning_rate, self.model.clone(), gradients);
        value
    }
    // ANCHOR_END: step

    /// The mean loss over whole stories, without gradients.
    fn loss(&self, stories: &[Vec<u32>]) -> f32 {
        let model = self.model.valid();
        let mut sum = 0.0;
        let mut tokens = 0;
        for story in stories {
            let story = std::slice::from_ref(story);
            let targets = data::targets(&story[0], self.talks);
            let n = targets.iter().filter(|&&id| id != tokenizer::BEGIN_ID).count();
            let loss = self.loss_of(&model, story);
            sum += f64::from(loss.into_scalar::<f32>()) * n as f64;
            tokens += n;
        }
        (sum / tokens as f64) as f32
    }

    /// The mean of -log p(next token), in nats, over rows of equal length: `[1]`.
    fn loss_of(&self, model: &Decoder, rows: &[Vec<u32>]) -> Tensor<1> {
        let seq = rows[0].len() - 1;
        let tensor = |ids: Vec<u32>| {
            let ids: Vec<i32> = ids.into_iter().map(|id| id as i32).collect();
            Tensor::<2, Int>::from_data(TensorData::new(ids, [rows.len(), seq]), &self.device)
        };
        let inputs = rows.iter().flat_map(|row| row[..seq].to_vec()).collect();
        let targets = rows.iter().flat_map(|row| data::targets(row, self.talks)).collect();
        let mut pass = Pass::whole(seq);
        let hidden = model.hidden_states(tensor(inputs), &self.ropes, &mut pass); // [batch, seq, d_model]
        let logits = model.logits(hidden).flatten::<2>(0, 1); // [batch * seq, vocab]
        self.loss.forward(logits, tensor(targets).flatten(0, 1))
    }
}

/// The loss curve in `loss.csv`, from which the book's training chart is drawn.
struct LossLog {
    file: std::fs::File,
    start: Instant,
}

impl LossLog {
    /// The number of steps between two rows.
    const EVERY: usize = 20;

    fn open(args: &TrainArgs, first_step: usize) -> Result<Self> {
        let path = args.run.join("loss.csv");
        let mut file = OpenOptions::new()
            .create(true)
            .append(first_step > 0)
            .write(true)
            .truncate(first_step == 0)
            .open(&path)
            .with_context(|| format!("cannot write {}", path.display()))?;
        if first_step == 0 {
            writeln!(file, "step,seconds,set,loss")?;
        }
        let start = Instant::now();
        Ok(Self { file, start })
    }

    fn train(&mut self, step: usize, loss: f32) -> Result<()> {
        if step.is_multiple_of(Self::EVERY) {
            self.line(step, "train", loss)?;
        }
        Ok(())
    }

    fn held_out(&mut self, step: usize, loss: f32) -> Result<()> {
        self.line(step, "held-out", loss)
    }

    fn line(&mut self, step: usize, set: &str, loss: f32) -> Result<()> {
        let seconds = self.start.elapsed().as_secs();
        writeln!(self.file, "{step},{seconds},{set},{loss:.4}")?;
        Ok(())
    }
}

fn progress_bar(steps: usize, first_step: usize) -> ProgressBar {
    let bar = ProgressBar::new(steps as u64).with_position(first_step as u64);
    bar.reset_eta();
    let template = "{bar:24} step {pos}/{len}, {msg}, {eta} left";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}
