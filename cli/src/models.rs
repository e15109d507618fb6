//! `slowburn models`: what lies in the cache of the Hugging Face Hub.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Lists the models on this machine, or removes one
///
/// Those in the cache of the Hugging Face Hub, which all programs share: HF_HUB_CACHE, HF_HOME/hub or
/// ~/.cache/huggingface/hub.
#[derive(Parser)]
pub struct Models {
    #[command(subcommand)]
    task: Option<Task>,

    /// Print one JSON object, and nothing else, on standard output
    #[arg(long)]
    json: bool,
}

#[derive(Subcommand)]
enum Task {
    /// Removes a model from the cache, in all its versions: org/name
    Remove {
        /// The name of the model on the hub
        #[arg(value_name = "MODEL")]
        model: String,
    },
}

/// Lists the models in the cache, or removes one.
#[cfg(feature = "hub")]
pub fn models(args: &Models) -> ExitCode {
    slowburn_examples::cli::exit(match &args.task {
        None => list(args.json),
        Some(Task::Remove { model }) => remove(model),
    })
}

#[cfg(not(feature = "hub"))]
pub fn models(args: &Models) -> ExitCode {
    let Models { json: _, task } = args;
    if let Some(Task::Remove { model: _ }) = task {}
    slowburn_flags::note(
        "error: this program was built without the Hugging Face Hub: build it with `cargo install --path cli --features full`, or here with `cargo run --features hub -- models`\n",
    );
    ExitCode::from(2)
}

#[cfg(feature = "hub")]
fn list(as_json: bool) -> slowburn_examples::cli::Result<()> {
    use std::fmt::Write;

    use slowburn::hub::Hub;
    use slowburn_examples::cli::{BOLD, DIM, print};
    use slowburn_flags::{Error, bytes};

    let hub = Hub::from_env().map_err(Error::from)?;
    let models = hub.cached().map_err(Error::from)?;
    let object = |model: &slowburn::hub::CachedModel| {
        serde_json::json!({
            "model": format!("hf:{}", model.model),
            "bytes": model.bytes,
            "complete": model.is_whole,
            "path": model.path,
        })
    };
    let json = serde_json::json!({
        "cache": hub.cache,
        "models": models.iter().map(object).collect::<Vec<_>>(),
    });
    let mut text = String::new();
    let _ = writeln!(text, "{BOLD}ember{BOLD:#}, inside this program: the default");
    let _ = writeln!(text, "{BOLD}spark{BOLD:#}, inside this program: the default of a chat");
    for model in &models {
        let size = bytes(usize::try_from(model.bytes).unwrap_or(usize::MAX));
        let state = if model.is_whole {
            "complete"
        } else {
            "files are missing: --model fetches them"
        };
        let _ = writeln!(
            text,
            "\n{BOLD}hf:{}{BOLD:#}  {size}, {state}\n  {DIM}{}{DIM:#}",
            model.model,
            model.path.display()
        );
    }
    if models.is_empty() {
        let _ = writeln!(text, "\nNo others in {}", hub.cache.display());
    }
    print(as_json, &json, &text)
}

#[cfg(feature = "hub")]
fn remove(name: &str) -> slowburn_examples::cli::Result<()> {
    use slowburn::hub::{Hub, HubModel};
    use slowburn::{RequestError, hub};
    use slowburn_examples::cli::print;
    use slowburn_flags::{Error, bytes};

    let model: HubModel = name.strip_prefix("hf:").unwrap_or(name).parse()?;
    if model.file.is_some() {
        let wrong = RequestError::Parameter {
            name: "the model to remove",
            value: format!("`{name}`"),
            allowed: "org/name: all files of a model are removed together",
        };
        return Err(slowburn::Error::from(wrong).into());
    }
    let removed = Hub::from_env().and_then(|hub| hub.remove(&model));
    let removed = removed.map_err(|error: hub::Error| Error::from(error))?;
    let size = bytes(usize::try_from(removed).unwrap_or(usize::MAX));
    print(false, &serde_json::Value::Null, &format!("removed hf:{}: {size}\n", model.name))
}
