//! The output of `10_kernels`: the layers of a forward pass against the roofline.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use slowburn::RequestError;
use slowburn::kernels::Roof;
use slowburn::kernels::trace::{self, Call, Cost, Operation};
use slowburn::model::Model;

use slowburn_examples::cli::{BOLD, DIM, Result, bar, print};

use super::args::KernelArgs;

/// The kinds of layers, in the order of a forward pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Embedding,
    Norms,
    Qkv,
    Rope,
    Attention,
    Output,
    GateUp,
    Activation,
    Down,
    Head,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Embedding => "embedding",
            Self::Norms => "norms",
            Self::Qkv => "q, k, v",
            Self::Rope => "rope",
            Self::Attention => "attention",
            Self::Output => "output",
            Self::GateUp => "gate, up",
            Self::Activation => "activation",
            Self::Down => "down",
            Self::Head => "head",
        }
    }

    /// The kind of layer of a call. The calls before and after tell which layer a matrix product
    /// belongs to.
    fn of(before: Option<Operation>, operation: Operation, after: Option<Operation>) -> Self {
        match (before, operation, after) {
            (_, Operation::Embedding, _) => Self::Embedding,
            (_, Operation::Norm, _) => Self::Norms,
            (_, Operation::Rotation, _) => Self::Rope,
            (_, Operation::Attention | Operation::State, _) => Self::Attention,
            (_, Operation::Activation, _) => Self::Activation,
            (Some(Operation::Attention | Operation::State), Operation::Linear, _) => Self::Output,
            (Some(Operation::Activation), Operation::Linear, _) => Self::Down,
            (_, Operation::Linear, Some(Operation::Activation)) => Self::GateUp,
            (_, Operation::Linear, None) => Self::Head,
            (_, Operation::Linear, Some(_)) => Self::Qkv,
        }
    }
}

/// All layers of one kind.
#[derive(Default)]
struct Layers {
    count: usize,
    time: Duration,
    cost: Cost,
}

/// The times of the layers in one forward pass.
pub struct LayerTimes {
    total: Duration,
    layers: BTreeMap<Kind, Layers>,
}

impl LayerTimes {
    /// Runs the same forward pass several times, and keeps the times of the fastest.
    ///
    /// # Errors
    /// The errors of `pass`; a device without this crate's kernels.
    pub fn fastest<T>(
        rounds: usize,
        mut pass: impl FnMut() -> slowburn::Result<T>,
    ) -> Result<Self> {
        let mut fastest: Option<(Duration, Vec<Call>)> = None;
        for _ in 0..rounds {
            let start = Instant::now();
            let (outcome, calls) = trace::record(&mut pass);
            outcome?;
            let time = start.elapsed();
            if fastest.as_ref().is_none_or(|(least, _)| time < *least) {
                fastest = Some((time, calls));
            }
        }
        let (total, calls) = fastest.unwrap_or_default();
        Ok(Self { total, layers: by_kind(&calls)? })
    }

    fn text(&self, name: &str, roof: &Roof, out: &mut String) {
        let total = self.total.as_secs_f64();
        let milliseconds = 1e3 * total;
        let _ = writeln!(out, "\n{BOLD}{name}: {milliseconds:.2} ms{BOLD:#}");
        let _ = writeln!(
            out,
            "{:<10}{:>6}{:>9}{:>8}{:>8}{:>9}{:>7}  share of the roof",
            "", "calls", "µs", "of all", "kB", "Mflop", "flop/B"
        );
        for (kind, Layers { count, time, cost }) in &self.layers {
            let share = share(*cost, *time, roof);
            let _ = writeln!(
                out,
                "{:<10}{count:>6}{:>9.1}{:>7.1}%{:>8.0}{:>9.1}{:>7.2}  {:<8}{:>5.0}% {DIM}{}{DIM:#}",
                kind.name(),
                1e6 * time.as_secs_f64(),
                100.0 * time.as_secs_f64() / total,
                cost.bytes as f64 / 1e3,
                cost.flops as f64 / 1e6,
                intensity(*cost),
                bar(share, 8),
                100.0 * share,
                limit(*cost, roof),
            );
        }
        let rest = self.rest().as_secs_f64();
        let _ = writeln!(
            out,
            "{DIM}{:<10}{:>6}{:>9.1}{:>7.1}%{DIM:#}",
            "the rest",
            "",
            1e6 * rest,
            100.0 * rest / total
        );
    }

    /// The remaining time: residual additions and the gaps between kernels.
    fn rest(&self) -> Duration {
        self.total.saturating_sub(self.layers.values().map(|layers| layers.time).sum())
    }

    fn json(&self, name: &str, roof: &Roof) -> Value {
        let layers = |(kind, Layers { count, time, cost }): (&Kind, &Layers)| {
            json!({
                "layers": kind.name(),
                "calls": count,
                "seconds": time.as_secs_f64(),
                "bytes": cost.bytes,
                "flops": cost.flops,
                "limit": limit(*cost, roof),
                "share_of_roof": share(*cost, *time, roof),
            })
        };
        json!({
            "pass": name,
            "seconds": self.total.as_secs_f64(),
            "rest_seconds": self.rest().as_secs_f64(),
            "layers": self.layers.iter().map(layers).collect::<Vec<_>>(),
        })
    }
}

fn by_kind(calls: &[Call]) -> slowburn::Result<BTreeMap<Kind, Layers>> {
    if calls.is_empty() {
        return Err(RequestError::Parameter {
            name: "the device",
            value: "none that the kernels of this crate compute on".to_owned(),
            allowed: "`--device cpu`",
        }
        .into());
    }
    let mut by_kind = BTreeMap::<Kind, Layers>::new();
    for (i, call) in calls.iter().enumerate() {
        let before = i.checked_sub(1).map(|i| calls[i].operation);
        let after = calls.get(i + 1).map(|call| call.operation);
        let layers = by_kind.entry(Kind::of(before, call.operation, after)).or_default();
        layers.count += 1;
        layers.time += call.time;
        layers.cost = [layers.cost, call.cost].into_iter().sum();
    }
    Ok(by_kind)
}

/// Arithmetic intensity, in operations per byte.
fn intensity(cost: Cost) -> f64 {
    cost.flops as f64 / cost.bytes as f64
}

/// The share of the roofline that a call reaches: its minimum time divided by its measured time.
fn share(cost: Cost, time: Duration, roof: &Roof) -> f64 {
    // A short call may measure as 0 with a coarse clock.
    roof.seconds(cost) / time.max(Duration::from_nanos(1)).as_secs_f64()
}

/// Which of the roofline's limits applies: memory bandwidth or arithmetic.
fn limit(cost: Cost, roof: &Roof) -> &'static str {
    if intensity(cost) < roof.ridge() {
        "bytes"
    } else {
        "flops"
    }
}

/// Prints the named passes against the roofline, as text or JSON.
///
/// # Errors
/// A closed standard output.
pub fn layer_times(
    args: &KernelArgs,
    model: &Model,
    roof: &Roof,
    passes: &[(&str, LayerTimes)],
) -> Result<()> {
    let (cpu, tokens) = (model.cpu(), args.tokens);
    let (bandwidth, rate) = (roof.bytes_per_second / 1e9, roof.flops_per_second / 1e9);
    let megabytes = model.bytes() as f64 / 1e6;
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{tokens} tokens, then 1; {megabytes:.1} MB of weights; {} threads, {}",
        cpu.threads(),
        cpu.simd()
    );
    let _ = writeln!(
        out,
        "roof: reads {bandwidth:.1} GB/s, computes {rate:.0} Gflop/s; they meet at {:.1} flop/B",
        roof.ridge()
    );
    for (name, pass) in passes {
        pass.text(name, roof, &mut out);
    }
    let json = json!({
        "tokens": tokens,
        "weight_bytes": model.bytes(),
        "threads": cpu.threads(),
        "simd": cpu.simd().name(),
        "roof": {
            "bytes_per_second": roof.bytes_per_second,
            "flops_per_second": roof.flops_per_second,
        },
        "passes": passes.iter().map(|(name, pass)| pass.json(name, roof)).collect::<Vec<_>>(),
    });
    print(args.json, &json, &out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_is_named_by_its_neighbours() {
        use Operation::*;
        let kinds = |operations: &[Operation]| -> Vec<&str> {
            let at = |i: usize| operations.get(i).copied();
            let kind = |i: usize| Kind::of(i.checked_sub(1).and_then(at), operations[i], at(i + 1));
            (0..operations.len()).map(|i| kind(i).name()).collect()
        };
        let llama = [
            Embedding, Norm, Linear, Rotation, Rotation, Attention, Linear, Norm, Linear,
            Activation, Linear, Norm, Linear,
        ];
        let expected = [
            "embedding",
            "norms",
            "q, k, v",
            "rope",
            "rope",
            "attention",
            "output",
            "norms",
            "gate, up",
            "activation",
            "down",
            "norms",
            "head",
        ];
        assert_eq!(kinds(&llama), expected);
        let gpt2 = [
            Norm, Linear, Attention, Linear, Norm, Linear, Activation, Linear,
        ];
        let expected = [
            "norms",
            "q, k, v",
            "attention",
            "output",
            "norms",
            "gate, up",
            "activation",
            "down",
        ];
        assert_eq!(kinds(&gpt2), expected);
    }
}
