//! The settings of the server: flags, environment, and a file.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::time::Duration;

use axum::http::HeaderValue;
use bytesize::ByteSize;
use clap::builder::{NonEmptyStringValueParser, TypedValueParser};
use clap::{Parser, ValueEnum};
use slowburn::outside::in_words;
use slowburn_flags::{AdapterArgs, Bundled, ModelArgs, ModelSource, SpeculateArgs, memory, whole};

use super::auth::ApiKeys;

/// Serves a model over HTTP, with OpenAI's API
///
/// Each setting is a flag, an environment variable and a line of the file that --config names:
/// --kv-cache-bytes 64MiB, SLOWBURN_KV_CACHE_BYTES=64MiB, kv_cache_bytes = "64MiB". A flag
/// overrides the variable, and the variable overrides the file.
#[derive(Debug, Clone, Parser)]
#[command(next_help_heading = "Server")]
pub struct Settings {
    /// A TOML file with settings
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// The name of the model in the API [default: the name of its folder, or ember]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub model_name: Option<String>,

    /// The address to listen on, or its name. Any but this machine's own requires --api-key or
    /// --no-auth
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1", value_parser = address_of)]
    pub host: IpAddr,

    /// The port to listen on; 0 takes a free one
    #[arg(long, default_value_t = 8080, value_name = "PORT", value_parser = whole::<u16>(..=65535))]
    pub port: u16,

    /// The API keys of clients, separated by commas; better in the environment than here
    #[arg(long, value_name = "KEYS", hide_env_values = true)]
    pub api_key: Option<ApiKeys>,

    /// Serve every client that can reach the address, without a key
    #[arg(long, conflicts_with = "api_key")]
    pub no_auth: bool,

    /// Sites whose pages may call this server from a browser, separated by commas, or * for all
    #[arg(long, value_name = "ORIGINS")]
    pub cors_origins: Option<Origins>,

    /// The most sequences in a step
    #[arg(long, default_value_t = 64, value_name = "N", value_parser = count())]
    pub max_running: u64,

    /// The most sequences in the queue; further ones get 429
    #[arg(long, default_value_t = 256, value_name = "N", value_parser = count())]
    pub max_waiting: u64,

    /// The most tokens of a step
    #[arg(long, default_value_t = 512, value_name = "N", value_parser = count())]
    pub token_budget: u64,

    /// Compute every prompt anew, without reusing the blocks of earlier requests
    #[arg(long)]
    pub no_prefix_cache: bool,

    /// The most new tokens of a request [default: as many as the context and the KV cache hold]
    #[arg(long, value_name = "N", value_parser = count())]
    pub max_tokens: Option<u64>,

    /// The most sequences of a request: prompts times `n`
    #[arg(long, default_value_t = 64, value_name = "N", value_parser = count())]
    pub max_sequences: u64,

    /// The most requests of one client in a minute [default: no limit]
    #[arg(long, value_name = "N", value_parser = count32())]
    pub rate_per_minute: Option<u32>,

    /// How many requests one client may send at once [default: a tenth of the rate, at least 1]
    #[arg(long, value_name = "N", requires = "rate_per_minute", value_parser = count32())]
    pub burst: Option<u32>,

    /// The most bytes of a request's body
    #[arg(long, default_value = "2MiB", value_name = "BYTES", value_parser = some_bytes)]
    pub body_limit: ByteSize,

    /// The most connections at once. Beyond that, the one idle longest is closed for a new one
    #[arg(long, default_value_t = 1024, value_name = "N", value_parser = count())]
    pub max_connections: u64,

    /// The most of these for one client address; a proxy is one client [default: half of them]
    #[arg(long, value_name = "N", value_parser = count())]
    pub max_connections_per_client: Option<u64>,

    /// The most seconds of a request, from when it was read: in the queue, for its grammar and for
    /// its text
    #[arg(long, default_value = "300", value_name = "SECONDS")]
    pub request_timeout: Seconds,

    /// The most seconds that a client may take to send its request
    #[arg(long, default_value = "30", value_name = "SECONDS")]
    pub read_timeout: Seconds,

    /// The most seconds that a client may read nothing
    #[arg(long, default_value = "60", value_name = "SECONDS")]
    pub write_timeout: Seconds,

    /// The most seconds that a shutdown waits for running requests
    #[arg(long, default_value = "30", value_name = "SECONDS")]
    pub drain_timeout: Seconds,

    /// The format of the log, on standard error
    #[arg(long, value_enum, default_value_t = LogFormat::Text)]
    pub log_format: LogFormat,

    /// The level of the log: error, warn, info, debug, or a filter of tracing-subscriber
    #[arg(long, default_value = "info", value_name = "LEVEL")]
    pub log: LogFilter,

    /// Write prompts to the log
    #[arg(long)]
    pub log_prompts: bool,

    /// Let clients load and unload adapters: from any folder that this program can read
    #[arg(long)]
    pub allow_lora_updates: bool,

    #[command(flatten)]
    pub adapters: AdapterArgs,

    #[command(flatten)]
    pub speculate: SpeculateArgs,

    #[command(flatten, next_help_heading = "Model")]
    pub model: ModelArgs,
}

/// The form of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Lines for a person
    Text,
    /// One JSON object a line
    Json,
}

fn count() -> impl TypedValueParser<Value = u64> {
    whole::<u64>(1..=1 << 32)
}

fn count32() -> impl TypedValueParser<Value = u32> {
    whole::<u32>(1..)
}

/// The address of a name, which is an address already most of the time.
fn address_of(name: &str) -> Result<IpAddr, String> {
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    if let Ok(address) = bare.unwrap_or(name).parse() {
        return Ok(address);
    }
    let found = (name, 0).to_socket_addrs().map_err(|error| {
        format!(
            "an address such as 127.0.0.1, or the name of one, is needed: {}",
            in_words(error)
        )
    })?;
    let addresses: Vec<IpAddr> = found.map(|found| found.ip()).collect();
    // Most clients try IPv4 too, if a name has both, and some try nothing else.
    let of_name = addresses.iter().find(|address| address.is_ipv4()).or(addresses.first());
    of_name.copied().ok_or_else(|| "this name has no address".to_owned())
}

fn some_bytes(text: &str) -> Result<ByteSize, String> {
    match memory(text) {
        Ok(ByteSize(0)) => Err("no request would fit: at least 1 byte is needed".to_owned()),
        outcome => outcome,
    }
}

/// A length of time, in seconds: more than nothing, and at most a year.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seconds(pub Duration);

impl std::str::FromStr for Seconds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let seconds: Option<f64> = text.parse().ok();
        let is_allowed = |seconds: &f64| *seconds > 0.0 && *seconds <= 365.0 * 86400.0;
        let time = seconds.filter(is_allowed).map(Duration::from_secs_f64);
        // What is less than half a nanosecond is rounded to nothing.
        match time.filter(|time| !time.is_zero()) {
            Some(time) => Ok(Seconds(time)),
            None => Err("a number of seconds is needed, greater than 0".to_owned()),
        }
    }
}

/// Which messages are logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFilter(pub String);

impl std::str::FromStr for LogFilter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match tracing_subscriber::EnvFilter::try_new(text) {
            Ok(_) => Ok(LogFilter(text.to_owned())),
            Err(_) => Err("a level is needed (error, warn, info or debug), or a filter such as info,slowburn=debug".to_owned()),
        }
    }
}

/// The sites that a browser lets read the answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origins {
    All,
    These(Vec<HeaderValue>),
}

impl std::str::FromStr for Origins {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim() == "*" {
            return Ok(Origins::All);
        }
        let origin = |origin: &str| {
            let has_host = ["http://", "https://"].iter().any(|scheme| {
                origin
                    .strip_prefix(scheme)
                    .is_some_and(|host| !host.is_empty() && !host.contains('/'))
            });
            let wrong = || format!("{origin:?} is not an origin such as https://example.com");
            if has_host {
                HeaderValue::from_str(origin).map_err(|_| wrong())
            } else {
                Err(wrong())
            }
        };
        text.split(',')
            .map(|part| origin(part.trim()))
            .collect::<Result<_, _>>()
            .map(Origins::These)
    }
}

/// Settings that contradict each other.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    #[error(
        "host is {host}, where other machines reach it: set api_key (the environment variable SLOWBURN_API_KEY), or say --no-auth"
    )]
    OpenWithoutKey { host: IpAddr },

    #[error(
        "token_budget is {token_budget}, but each of max_running = {max_running} sequences takes a token of a step: raise token_budget, or lower max_running"
    )]
    BudgetTooSmall { token_budget: u64, max_running: u64 },

    #[error(
        "max_sequences is {max_sequences}, but the queue holds max_waiting = {max_waiting}: a request of that many would always be refused"
    )]
    RequestOverQueue {
        max_sequences: u64,
        max_waiting: u64,
    },

    #[error("burst is {burst}, but rate_per_minute is {rate}: it can be at most that")]
    BurstOverRate { burst: u32, rate: u32 },
}

impl Settings {
    /// Checks what no flag can check by itself.
    ///
    /// # Errors
    /// Settings that contradict each other.
    pub fn check(&self) -> Result<(), SettingsError> {
        let Self {
            host, max_running, token_budget, max_sequences, max_waiting, ..
        } = *self;
        if !host.is_loopback() && self.api_key.is_none() && !self.no_auth {
            return Err(SettingsError::OpenWithoutKey { host });
        }
        if token_budget < max_running {
            return Err(SettingsError::BudgetTooSmall { token_budget, max_running });
        }
        if max_sequences > max_waiting {
            return Err(SettingsError::RequestOverQueue { max_sequences, max_waiting });
        }
        match (self.burst, self.rate_per_minute) {
            (Some(burst), Some(rate)) if burst > rate => {
                Err(SettingsError::BurstOverRate { burst, rate })
            }
            _ => Ok(()),
        }
    }

    /// The address to listen at.
    pub fn address(&self) -> SocketAddr {
        SocketAddr::new(self.host, self.port)
    }

    /// The name of the model in the API.
    pub fn served_name(&self) -> String {
        if let Some(name) = &self.model_name {
            return name.clone();
        }
        match &self.model.source {
            None => Bundled::Ember.name().to_owned(),
            Some(ModelSource::Bundled(bundled)) => bundled.name().to_owned(),
            Some(ModelSource::Hub(name)) => name.clone(),
            Some(ModelSource::Path(path)) => {
                let name = std::path::absolute(path).ok();
                let name = name.as_deref().and_then(|path| path.file_name());
                name.map_or_else(|| "model".to_owned(), |name| name.to_string_lossy().into_owned())
            }
        }
    }

    pub(super) fn body_limit(&self) -> usize {
        usize::try_from(self.body_limit.as_u64()).unwrap_or(usize::MAX)
    }

    pub(super) fn max_connections(&self) -> usize {
        usize::try_from(self.max_connections).unwrap_or(usize::MAX)
    }

    /// How many connections one client may have.
    pub(super) fn max_connections_per_client(&self) -> usize {
        let half = (self.max_connections / 2).max(1);
        usize::try_from(self.max_connections_per_client.unwrap_or(half)).unwrap_or(usize::MAX)
    }

    pub(super) fn max_sequences(&self) -> usize {
        usize::try_from(self.max_sequences).unwrap_or(usize::MAX)
    }

    /// How many requests of one client may come at once.
    pub(super) fn burst(&self) -> u32 {
        self.burst.unwrap_or(self.rate_per_minute.unwrap_or(1) / 10).max(1)
    }
}
