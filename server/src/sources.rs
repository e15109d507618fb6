//! Where settings come from: the command line, the environment, and a file.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue};
use clap::{Arg, ArgAction, Command, CommandFactory, FromArgMatches};
use slowburn::outside::{in_words, quoted, short};
use slowburn_flags::DEVICE_TOKEN;
use toml::{Table, Value};

use super::Settings;

/// The beginning of the environment variables of all settings.
const PREFIX: &str = "SLOWBURN_";

/// A file of settings that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error(
        "cannot read the settings in {path}: {source}",
        path = quoted(.path), source = in_words(.source)
    )]
    Io {
        path: PathBuf,
        source: std::io::Error,
    },

    #[error("{path} is not TOML: {message}", path = quoted(.path))]
    NotToml { path: PathBuf, message: String },

    #[error("{path}: there is no setting `{name}`{hint}", path = quoted(.path))]
    Unknown {
        path: PathBuf,
        name: String,
        hint: String,
    },

    #[error(
        "the environment variable `{name}` is no setting{hint}: unset it, or see --help for those that there are"
    )]
    UnknownVariable { name: String, hint: String },

    #[error("{path}: the setting `{name}` must be {expected}", path = quoted(.path))]
    Kind {
        path: PathBuf,
        name: String,
        expected: &'static str,
    },

    /// A value out of its range, a flag that does not exist, or a request for help.
    #[error(transparent)]
    Arguments(#[from] clap::Error),

    #[error(transparent)]
    Settings(#[from] super::SettingsError),
}

impl ConfigError {
    pub(super) fn not_toml(path: &Path, error: &toml::de::Error) -> Self {
        // What the parser calls a text in quotes.
        let message = error.to_string().trim_end().replace("literal string", "a text in quotes");
        ConfigError::NotToml { path: path.to_owned(), message }
    }

    /// Ends the program: an error with exit code 2, a request for help with 0.
    pub fn exit(&self) -> ! {
        match self {
            ConfigError::Arguments(error) => error.exit(),
            error => {
                eprintln!("error: {error}");
                std::process::exit(2)
            }
        }
    }
}

impl Settings {
    /// The settings of these command line arguments (the first is the program's name), of the
    /// environment, and of the file that either names.
    ///
    /// # Errors
    /// A setting that does not exist or is out of its range, by its name; settings that contradict
    /// each other; a file that cannot be read.
    pub fn load(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, ConfigError> {
        Self::load_as(command(), arguments)
    }

    /// As [`load`](Self::load), by a [`command`] that may have another name and other help.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn load_as(
        command: Command,
        arguments: impl IntoIterator<Item = OsString>,
    ) -> Result<Self, ConfigError> {
        let arguments: Vec<OsString> = arguments.into_iter().collect();
        let (program, flags) = arguments.split_at(arguments.len().min(1));
        let parse = |of_file: &[OsString]| {
            let all = [program, of_file, flags].concat();
            let matches = command.clone().try_get_matches_from(all);
            matches.and_then(|matches| Settings::from_arg_matches(&matches))
        };
        let first = parse(&[]).map_err(|error| located(error, &command, flags, None))?;
        check_variables(&command)?;
        let settings = match &first.config {
            None => first,
            Some(path) => {
                let of_file = of_file(&command, path, flags)?;
                parse(&of_file).map_err(|error| located(error, &command, flags, Some(path)))?
            }
        };
        settings.check()?;
        Ok(settings)
    }
}

// ANCHOR: command
/// The command line, with an environment variable for each flag.
pub fn command() -> Command {
    let with_variable = |arg: Arg| match variable(&arg) {
        Some(name) if !is_of_kubernetes(&name) && !is_off(&arg, &name) => arg.env(name),
        _ => arg,
    };
    Settings::command().mut_args(with_variable).args_override_self(true)
}

/// The name of a setting's environment variable: `SLOWBURN_KV_CACHE_BYTES`.
fn variable(arg: &Arg) -> Option<String> {
    Some(format!("{PREFIX}{}", name(arg)?.to_uppercase()))
}
// ANCHOR_END: command

/// Whether this variable leaves a switch off. For clap, a switch with a variable is there whatever that
/// says, and contradicts other settings.
fn is_off(arg: &Arg, variable: &str) -> bool {
    is_switch(arg) && env::var(variable).is_ok_and(|value| value == "false")
}

fn is_switch(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::SetTrue)
}

/// The name of a setting in a file: `kv_cache_bytes`.
fn name(arg: &Arg) -> Option<String> {
    Some(arg.get_long()?.replace('-', "_"))
}

/// Refuses variables with the name of a setting that does not exist: a limit with a typing error
/// would be no limit.
fn check_variables(command: &Command) -> Result<(), ConfigError> {
    let known: Vec<String> = command.get_arguments().filter_map(variable).collect();
    let names = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let is_unknown = |name: &String| {
        name.starts_with(PREFIX)
            && name != DEVICE_TOKEN
            && !known.contains(name)
            && !is_of_kubernetes(name)
    };
    let unknown = names.filter(is_unknown).min();
    unknown.map_or(Ok(()), |name| {
        let hint = nearest(known, &name);
        Err(ConfigError::UnknownVariable { name: short(name), hint })
    })
}

/// Whether Kubernetes sets this variable in each pod beside a service named `slowburn`, such as
/// `SLOWBURN_SERVICE_HOST` or `SLOWBURN_PORT=tcp://10.0.0.11:8080`. It is no setting then.
fn is_of_kubernetes(name: &str) -> bool {
    match name.strip_prefix(PREFIX) {
        Some("PORT") => env::var(name).is_ok_and(|value| value.contains("://")),
        Some(rest) => {
            rest == "SERVICE_HOST" || rest.starts_with("SERVICE_PORT") || rest.starts_with("PORT_")
        }
        None => false,
    }
}

/// Whether these arguments set it.
fn is_among(flags: &[OsString], arg: &Arg) -> bool {
    let Some(long) = arg.get_long() else {
        return false;
    };
    flags.iter().filter_map(|flag| flag.to_str()?.strip_prefix("--")).any(|flag| {
        flag.strip_prefix(long).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
    })
}

/// The variable that sets it.
fn set_variable(arg: &Arg) -> Option<String> {
    variable(arg).filter(|name| env::var_os(name).is_some() && !is_of_kubernetes(name))
}

/// An error that names a setting by what it was set with. For clap, all of them are flags.
fn located(
    mut error: clap::Error,
    command: &Command,
    flags: &[OsString],
    file: Option<&Path>,
) -> clap::Error {
    for kind in [ContextKind::InvalidArg, ContextKind::PriorArg] {
        let Some(ContextValue::String(shown)) = error.get(kind) else {
            continue;
        };
        let long = shown.strip_prefix("--").and_then(|shown| shown.split([' ', '=', '[']).next());
        let is_it = |arg: &&Arg| arg.get_long().is_some() && arg.get_long() == long;
        let Some(arg) = command.get_arguments().find(is_it) else {
            continue;
        };
        // What is hidden in the help must not be in an error either.
        if arg.is_hide_env_values_set() && error.get(ContextKind::InvalidValue).is_some() {
            let hidden = ContextValue::String("...".to_owned());
            error.insert(ContextKind::InvalidValue, hidden);
        }
        if is_among(flags, arg) {
            continue;
        }
        let origin = match (set_variable(arg), file, name(arg)) {
            (Some(variable), _, _) => variable,
            (None, Some(path), Some(name)) => format!("{name} in {}", short(path.display())),
            _ => continue,
        };
        error.insert(kind, ContextValue::String(origin));
    }
    error
}

/// The settings of a file, as arguments that come before those of the command line. Those that the
/// environment or a flag sets are left out, because both count before the file.
fn of_file(
    command: &Command,
    path: &PathBuf,
    flags: &[OsString],
) -> Result<Vec<OsString>, ConfigError> {
    let read = |source| ConfigError::Io { path: path.clone(), source };
    let text = fs::read_to_string(path).map_err(read)?;
    let table: Table = text.parse().map_err(|error| ConfigError::not_toml(path, &error))?;
    let mut arguments = Vec::new();
    for (key, value) in &table {
        let is_it = |arg: &&Arg| name(arg).as_deref() == Some(key) && key != "config";
        let Some(arg) = command.get_arguments().find(is_it) else {
            let names = command.get_arguments().filter_map(name);
            let hint = nearest(names.filter(|name| name != "config"), key);
            return Err(ConfigError::Unknown { path: path.clone(), name: key.clone(), hint });
        };
        if is_among(flags, arg) || set_variable(arg).is_some() {
            continue;
        }
        let kind = |expected| ConfigError::Kind { path: path.clone(), name: key.clone(), expected };
        arguments.extend(argument(arg, value).map_err(kind)?);
    }
    Ok(arguments)
}

/// A setting as an argument: `--kv-cache-bytes=64MiB`. None for a switch that is off.
fn argument(arg: &Arg, value: &Value) -> Result<Option<OsString>, &'static str> {
    let long = arg.get_long().unwrap_or_default();
    let text = match (is_switch(arg), value) {
        (true, Value::Boolean(true)) => return Ok(Some(format!("--{long}").into())),
        (true, Value::Boolean(false)) => return Ok(None),
        (true, _) => return Err("true or false"),
        (false, value) => scalar(value).ok_or("a string or a number, or a list of strings")?,
    };
    Ok(Some(format!("--{long}={text}").into()))
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Array(values) => {
            let texts: Option<Vec<_>> = values.iter().map(Value::as_str).collect();
            Some(texts?.join(","))
        }
        _ => None,
    }
}

/// A hint at the setting that was meant, if there is one with much the same name: in a short name few
/// letters may differ.
fn nearest(names: impl IntoIterator<Item = String>, key: &str) -> String {
    let letters = key.trim_start_matches("SLOWBURN_").chars().count();
    let most = (letters / 3).clamp(1, 3);
    let distance = |name: &String| strsim::damerau_levenshtein(name, key);
    let close = names.into_iter().filter(|name| distance(name) <= most).min_by_key(distance);
    close.map_or_else(String::new, |name| format!(" (is `{name}` meant?)"))
}
