//! Where settings come from: the command line, the environment, and a file.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use clap::{Arg, ArgAction, Command, CommandFactory, FromArgMatches};
use toml::{Table, Value};

use super::Settings;

/// A file of settings that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("cannot read the settings in {path:?}: {source}")]
    Io {
        path: PathBuf,
        source: std::io::Error,
    },

    #[error("{path:?} is not TOML: {message}")]
    NotToml { path: PathBuf, message: String },

    #[error("{path:?}: there is no setting `{name}`{hint}")]
    Unknown {
        path: PathBuf,
        name: String,
        hint: String,
    },

    #[error("{path:?}: the setting `{name}` must be {expected}")]
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
        let arguments: Vec<OsString> = arguments.into_iter().collect();
        let command = command();
        let first = Settings::from_arg_matches(&command.clone().try_get_matches_from(&arguments)?)?;
        let settings = match &first.config {
            None => first,
            Some(path) => {
                let program = arguments.iter().take(1).cloned();
                let of_file = of_file(&command, path)?;
                // The last of several values counts, so the file comes before the command line.
                let all = program.chain(of_file).chain(arguments.iter().skip(1).cloned());
                Settings::from_arg_matches(&command.try_get_matches_from(all)?)?
            }
        };
        settings.check()?;
        Ok(settings)
    }
}

// ANCHOR: command
/// The command line, with an environment variable for each flag.
fn command() -> Command {
    let with_variable = |arg: Arg| match variable(&arg) {
        Some(name) => arg.env(name),
        None => arg,
    };
    Settings::command().mut_args(with_variable).args_override_self(true)
}

/// The name of a setting's environment variable: `SLOWBURN_KV_CACHE_BYTES`.
fn variable(arg: &Arg) -> Option<String> {
    Some(format!("SLOWBURN_{}", name(arg)?.to_uppercase()))
}
// ANCHOR_END: command

/// The name of a setting in a file: `kv_cache_bytes`.
fn name(arg: &Arg) -> Option<String> {
    Some(arg.get_long()?.replace('-', "_"))
}

/// The settings of a file, as arguments. Those that the environment sets are left out, because it
/// counts before the file.
fn of_file(command: &Command, path: &PathBuf) -> Result<Vec<OsString>, ConfigError> {
    let read = |source| ConfigError::Io { path: path.clone(), source };
    let text = fs::read_to_string(path).map_err(read)?;
    let table: Table = text.parse().map_err(|error: toml::de::Error| ConfigError::NotToml {
        path: path.clone(),
        message: error.to_string(),
    })?;
    let mut arguments = Vec::new();
    for (key, value) in &table {
        let is_it = |arg: &&Arg| name(arg).as_deref() == Some(key) && key != "config";
        let Some(arg) = command.get_arguments().find(is_it) else {
            let hint = nearest(command, key);
            return Err(ConfigError::Unknown { path: path.clone(), name: key.clone(), hint });
        };
        if variable(arg).is_some_and(|name| std::env::var_os(name).is_some()) {
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
    let is_switch = matches!(arg.get_action(), ArgAction::SetTrue);
    let text = match (is_switch, value) {
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

/// A hint at the setting that was meant, if there is one with much the same name.
fn nearest(command: &Command, key: &str) -> String {
    let names = command.get_arguments().filter_map(name).filter(|name| name != "config");
    let distance = |name: &String| strsim::damerau_levenshtein(name, key);
    let close = names.filter(|name| distance(name) <= 3).min_by_key(distance);
    close.map_or_else(String::new, |name| format!(" (is `{name}` meant?)"))
}
