//! A device of another machine: one process lends it, another computes on it.
//!
//! cargo run --features remote --example 17_remote_device -- --serve
//! cargo run --features remote --example 05_kv_cache -- --device remote:127.0.0.1:3000
//! cargo run --features remote --example 17_remote_device

mod wire;

use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use burn::server::{RemoteServer, TokenAuthorizer, WebSocketTransport};
use clap::Parser;
use slowburn::device::{self, DeviceChoice, OpenDevice, Precision, RemoteAddress};
use slowburn::generate::{self, Batch, Event, Options};
use slowburn::pretrained::Pretrained;
use slowburn::sampling::SamplingParams;
use slowburn::speculation::{DraftLength, PromptLookup, Speculator};
use slowburn_examples::cli::{self, Error, whole};

use wire::{Traffic, Wire};

/// Lends this machine's device, or computes on a lent one and counts what goes over the wire
#[derive(Parser)]
struct Cli {
    /// Lend this machine's device at this address, until Ctrl-C. For other addresses than this
    /// machine's own, SLOWBURN_DEVICE_TOKEN must hold a token
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "127.0.0.1:3000", value_parser = address)]
    serve: Option<SocketAddr>,
    /// The token that clients must give
    #[arg(long, env = "SLOWBURN_DEVICE_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// How long each byte is on the wire, in milliseconds; each in turn
    #[arg(
        long,
        value_name = "MS",
        value_delimiter = ',',
        default_value = "0,1,10",
        value_parser = whole::<u64>(..)
    )]
    delays: Vec<u64>,
    /// The tokens of each text
    #[arg(long, default_value_t = 48, value_parser = whole::<usize>(..))]
    max_tokens: usize,
}

/// Where a device is lent.
fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse()
        .map_err(|_| "an address with a port is needed, such as 127.0.0.1:3000".to_owned())
}

fn main() -> ExitCode {
    let args: Cli = cli::parse();
    cli::exit(match args.serve {
        Some(address) => lend(address, args.token),
        None => measure(&args),
    })
}

/// Lends this machine's device: a GPU that is compiled in and works, or else the CPU.
fn lend(address: SocketAddr, token: Option<String>) -> cli::Result<()> {
    if !address.ip().is_loopback() && token.is_none() {
        return Err(Error::LendToAll { address });
    }
    let failed = |reason: String| Error::Lend { address, reason };
    let listener = TcpListener::bind(address).map_err(|error| failed(error.to_string()))?;
    let device = device::open(DeviceChoice::Auto)?;
    print(&format!("{device} is lent at {address} (Ctrl-C ends it)"))?;
    let mut server = RemoteServer::new([device.device]);
    if let Some(token) = token {
        let only = TokenAuthorizer::new(token).map_err(|error| failed(error.to_string()))?;
        server = server.with_authorizer(only);
    }
    let transport = WebSocketTransport::from_listener(listener);
    server.serve(transport).map_err(|error| failed(error.to_string()))
}

/// Both ends in one process, with a wire between them.
fn measure(args: &Cli) -> cli::Result<()> {
    let server = lend_here().map_err(Error::Output)?;
    print("| delay | text | tokens | passes | round trips | bytes sent | received | tokens/s |")?;
    print("|---:|---|---:|---:|---:|---:|---:|---:|")?;
    let mut told = None;
    for &delay in &args.delays {
        let wire = Wire::new(server, Duration::from_millis(delay)).map_err(Error::Output)?;
        let device = reach(wire.address)?;
        let loaded = Pretrained::bundled(&device, Precision::F32)?;
        let told = match &told {
            Some(told) => told,
            None => told.insert(told_again(&loaded)?),
        };
        for way in [Way::Alone, Way::Lookup, Way::Eight] {
            // Weights are sent without waiting for them: all are there once a token has come back.
            way.run(&loaded, told, 2)?;
            let before = wire.traffic();
            let (ran, seconds) = way.run(&loaded, told, args.max_tokens)?;
            let Traffic { sent, received, round_trips } = wire.traffic() - before;
            let Ran { tokens, passes } = ran;
            let (name, rate) = (way.name(), tokens as f64 / seconds);
            print(&format!(
                "| {delay} ms | {name} | {tokens} | {passes} | {round_trips} | {sent} | {received} | {rate:.0} |"
            ))?;
        }
    }
    Ok(())
}

/// Prints a line at once. One that nobody reads ends the program, as in the other examples.
fn print(line: &str) -> cli::Result<()> {
    writeln!(io::stdout(), "{line}").map_err(Error::Output)
}

/// A story, and its beginning once more: prompt lookup finds what follows there.
fn told_again(loaded: &Pretrained) -> cli::Result<Vec<u32>> {
    let prompt = loaded.prompt_ids("Once upon a time")?;
    let story = generate::cached(&loaded.model, &prompt, &greedy(120), &mut go_on)?;
    Ok([prompt.clone(), story.ids, prompt].concat())
}

fn greedy(max_tokens: usize) -> Options {
    let sampling = SamplingParams { temperature: 0.0, ..SamplingParams::default() };
    Options { max_tokens, sampling, ignore_eos: true, ..Options::default() }
}

fn go_on(_: &generate::Chosen<'_>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Lends the device of this process at a free port.
fn lend_here() -> io::Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        let device = device::open(DeviceChoice::Auto).expect("a device that works");
        let server = RemoteServer::new([device.device]);
        server.serve(WebSocketTransport::from_listener(listener))
    });
    Ok(address)
}

// ANCHOR: reach
fn reach(address: SocketAddr) -> cli::Result<OpenDevice> {
    let address = RemoteAddress { host: address.to_string(), token: None };
    Ok(device::open(DeviceChoice::Remote(address))?)
}
// ANCHOR_END: reach

/// A way to spend fewer round trips for each token, or none.
#[derive(Clone, Copy)]
enum Way {
    Alone,
    Lookup,
    Eight,
}

struct Ran {
    tokens: usize,
    passes: usize,
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Self::Alone => "one, token by token",
            Self::Lookup => "one, with prompt lookup",
            Self::Eight => "eight in a batch",
        }
    }

    /// Writes tokens behind the prompt: how many, in how many passes, and the seconds that they took.
    fn run(
        self,
        loaded: &Pretrained,
        prompt: &[u32],
        max_tokens: usize,
    ) -> cli::Result<(Ran, f64)> {
        let (model, options) = (&loaded.model, greedy(max_tokens));
        let start = Instant::now();
        let ran = match self {
            Self::Alone => {
                let tokens = generate::cached(model, prompt, &options, &mut go_on)?.ids.len();
                Ran { tokens, passes: tokens }
            }
            Self::Lookup => {
                let length = DraftLength::adaptive(8);
                let mut by = Speculator::new(PromptLookup::default(), length);
                let text = generate::speculated(model, &mut by, prompt, &options, &mut go_on)?;
                let tokens = text.ids.len();
                Ran { tokens, passes: tokens - text.accepted }
            }
            Self::Eight => {
                let (mut batch, mut tokens, mut passes) = (Batch::new(model), 0, 0);
                for _ in 0..8 {
                    batch.join(prompt, &options)?;
                }
                while batch.has_work() {
                    for (_, event) in batch.step() {
                        match event {
                            Event::Token(_) => tokens += 1,
                            Event::Finished(_) => {}
                            Event::Failed(error) => return Err(error.into()),
                        }
                    }
                    passes += 1;
                }
                Ran { tokens, passes }
            }
        };
        Ok((ran, start.elapsed().as_secs_f64()))
    }
}
