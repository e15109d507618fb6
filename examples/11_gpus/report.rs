//! The flags and the output of `11_gpus`.

use std::fmt::Write;

use clap::Args;
use serde_json::{Value, json};
use slowburn::device::{DeviceChoice, OpenDevice};
use slowburn::generate::{Generation, Options};
use slowburn::kernels::trace::{Call, Cost};
use slowburn::pretrained::Pretrained;
use slowburn::tokenizer::Tokenizer;

use slowburn_examples::cli::{BOLD, GenerateArgs, Result, print, quoted};

use super::launch::{Grid, Load};

/// The flags of `11_gpus`.
#[derive(Debug, Clone, Args)]
pub struct GpuArgs {
    #[command(flatten)]
    pub generate: GenerateArgs,

    /// How many GB a second the GPU of the estimate reads
    #[arg(long, default_value_t = 1000.0, value_name = "GB", value_parser = positive)]
    pub gb_per_second: f64,

    /// How many microseconds the host of that GPU takes to start a launch
    #[arg(long, default_value_t = 5.0, value_name = "US", value_parser = positive)]
    pub launch_us: f64,
}

impl GpuArgs {
    /// Loads the model on the CPU, and where the flags say another device, there too.
    ///
    /// # Errors
    /// Those of [`GenerateArgs::load`].
    pub fn load(&self) -> Result<(Pretrained, Option<(Pretrained, OpenDevice)>)> {
        let (pretrained, device) = self.generate.load()?;
        if device.name == "cpu" {
            return Ok((pretrained, None));
        }
        let mut on_cpu = self.generate.model.clone();
        on_cpu.device = DeviceChoice::Cpu;
        Ok((on_cpu.load()?.0, Some((pretrained, device))))
    }

    /// The options of the story: 60 tokens unless the flags say otherwise, whose logits are hashed.
    pub fn options(&self) -> Options {
        Options {
            max_tokens: self.generate.max_tokens.unwrap_or(60),
            hash_logits: true,
            ..self.generate.options()
        }
    }
}

/// A number above 0.
fn positive(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if number > 0.0 && f64::is_finite(number) => Ok(number),
        _ => Err("a number above 0 is needed".to_owned()),
    }
}

/// One text on the CPU and on a device.
pub struct DeviceStory {
    /// The device and its adapter.
    pub device: String,
    pub on_cpu: Generation,
    /// The text on the device, and how many kernels were launched up to each of its tokens.
    pub counted: (Generation, Vec<u64>),
    /// The same text on the device, beside others.
    pub in_a_batch: Generation,
}

impl DeviceStory {
    /// The launches of a decode step, on average. None where none were counted.
    fn launches_of_a_step(&self) -> Option<f64> {
        let (first, last) = (self.counted.1.first()?, self.counted.1.last()?);
        let steps = self.counted.1.len() - 1;
        (last > first).then(|| (last - first) as f64 / steps as f64)
    }

    /// The first token that differs from the CPU's, from 0.
    fn parts_at(&self) -> Option<usize> {
        let (here, there) = (&self.counted.0.ids, &self.on_cpu.ids);
        let longer = here.len().max(there.len());
        (0..longer).find(|&i| here.get(i) != there.get(i))
    }

    fn same_bits_in_a_batch(&self) -> bool {
        self.counted.0.logits_hash == self.in_a_batch.logits_hash
    }

    fn text(&self, tokenizer: &Tokenizer, out: &mut String) {
        let _ = writeln!(out, "\n{BOLD}a story on {}{BOLD:#}", self.device);
        if let Some(launches) = self.launches_of_a_step() {
            let _ = writeln!(out, "  {launches:.1} launches for a token");
        }
        let token = |text: &Generation, i: usize| {
            text.ids.get(i).map_or("its end".to_owned(), |&id| quoted(tokenizer, id))
        };
        let _ = match self.parts_at() {
            None => writeln!(out, "  {} tokens, all as on the CPU", self.on_cpu.ids.len()),
            Some(i) => writeln!(
                out,
                "  it parts from the CPU's at token {}: {} instead of {}",
                i + 1,
                token(&self.counted.0, i),
                token(&self.on_cpu, i),
            ),
        };
        let bits = if self.same_bits_in_a_batch() {
            "the same bits"
        } else {
            "other bits"
        };
        let _ = writeln!(out, "  beside other texts its logits have {bits}");
    }

    fn json(&self) -> Value {
        json!({
            "device": self.device,
            "ids": self.counted.0.ids,
            "ids_on_cpu": self.on_cpu.ids,
            "launches_of_a_step": self.launches_of_a_step(),
            "parts_at": self.parts_at(),
            "same_bits_in_a_batch": self.same_bits_in_a_batch(),
        })
    }
}

/// What one decode step takes of a GPU at least.
struct Step {
    kernels: usize,
    cost: Cost,
    /// For the bytes, and to start the launches.
    seconds: [f64; 2],
}

/// What `11_gpus` prints.
pub struct GpuReport<'a> {
    args: &'a GpuArgs,
    tokenizer: &'a Tokenizer,
    grid: Grid,
    loads: [Load; 2],
    step: Step,
    story: Option<DeviceStory>,
}

impl<'a> GpuReport<'a> {
    /// The report of a model, with the kernels of a decode step.
    pub fn new(args: &'a GpuArgs, pretrained: &'a Pretrained, calls: &[Call]) -> Self {
        let config = pretrained.model.config();
        let cost: Cost = calls.iter().map(|call| call.cost).sum();
        let for_bytes = cost.bytes as f64 / (1e9 * args.gb_per_second);
        let to_launch = 1e-6 * args.launch_us * calls.len() as f64;
        Self {
            args,
            tokenizer: &pretrained.tokenizer,
            grid: Grid::run(3, 10, 4),
            loads: Load::of_a_matrix(config.d_ff, config.d_model),
            step: Step { kernels: calls.len(), cost, seconds: [for_bytes, to_launch] },
            story: None,
        }
    }

    /// Adds the text on a device.
    pub fn add(&mut self, story: DeviceStory) {
        self.story = Some(story);
    }

    /// Prints the report.
    ///
    /// # Errors
    /// A closed standard output.
    pub fn finish(&self) -> Result<()> {
        let mut out = String::new();
        self.grid.text(&mut out);
        let _ = writeln!(out);
        Load::text(&self.loads, &mut out);
        self.step_text(&mut out);
        match &self.story {
            Some(story) => story.text(self.tokenizer, &mut out),
            None => out.push_str(NO_DEVICE),
        }
        print(self.args.generate.json, &self.json(), &out)
    }

    fn step_text(&self, out: &mut String) {
        let Step { kernels, cost, seconds: [for_bytes, to_launch] } = self.step;
        let GpuArgs { gb_per_second, launch_us, .. } = self.args;
        let _ = writeln!(out, "\n{BOLD}a decode step{BOLD:#}");
        let _ = writeln!(
            out,
            "  {kernels} kernels, {:.1} MB to read and write",
            cost.bytes as f64 / 1e6
        );
        let _ = writeln!(
            out,
            "  at {gb_per_second} GB/s the bytes take {:.1} µs, at {launch_us} µs each the launches {:.0} µs",
            1e6 * for_bytes,
            1e6 * to_launch
        );
    }

    fn json(&self) -> Value {
        let Step { kernels, cost, seconds: [for_bytes, to_launch] } = self.step;
        json!({
            "launch": self.grid.json(),
            "loads": self.loads.iter().map(Load::json).collect::<Vec<_>>(),
            "step": {
                "kernels": kernels,
                "bytes": cost.bytes,
                "seconds_of_the_bytes": for_bytes,
                "seconds_of_the_launches": to_launch,
            },
            "story": self.story.as_ref().map(DeviceStory::json),
        })
    }
}

/// What is said where nothing but the CPU computes.
const NO_DEVICE: &str = "\n\
no GPU was asked for. Built with --features cuda, rocm, metal, vulkan or wgpu, \
and with --device of the same name, it writes a story there, next to the CPU's. \
cube-cpu, another such feature, needs no GPU.\n";
