//! From a request on the wire to the library's own.

use slowburn::inference::GenerateRequest;
use slowburn::sampling::SamplingParams;
use uuid::Uuid;

use super::error::ApiError;
use super::seeds::seed_of;
use super::state::App;
use super::wire::{MAX_STOPS, NO_LIMIT, SamplingOptions};

/// What a request asks for as its model.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    /// The name in the API.
    pub(super) name: String,
    /// The adapter, where it is one.
    pub(super) adapter: Option<String>,
}

/// Finds what a request asks for: the model, without a name, or one of its adapters.
pub(super) fn find_model(app: &App, asked: Option<&str>) -> Result<Asked, ApiError> {
    let name = asked.unwrap_or(app.name()).to_owned();
    if name == app.name() {
        return Ok(Asked { name, adapter: None });
    }
    let is_adapter = |name: &str| {
        app.loaded().is_some_and(|service| service.pretrained.adapters.get(name).is_ok())
    };
    if is_adapter(&name) {
        return Ok(Asked { adapter: Some(name.clone()), name });
    }
    Err(ApiError::no_model(&name, &app.model_names()))
}

/// Checks the name of the model, for a route that computes nothing with adapters.
pub(super) fn check_model(app: &App, asked: Option<&str>) -> Result<(), ApiError> {
    let Asked { adapter, .. } = find_model(app, asked)?;
    match adapter {
        Some(name) => Err(ApiError::invalid(
            "model",
            format!("{name:?} is an adapter, and this route has none: ask for {:?}", app.name()),
        )),
        None => Ok(()),
    }
}

/// Checks the number of sequences of a request.
pub(super) fn check_sequences(app: &App, sequences: usize) -> Result<(), ApiError> {
    let most = app.settings().max_sequences();
    if sequences > most {
        let message = format!(
            "the request asks for {sequences} sequences (prompts times n, or best_of), but at most {most} are allowed here"
        );
        return Err(ApiError::invalid("n", message));
    }
    Ok(())
}

/// A request for one sequence, whose prompt is in the field `place` of the request. `max_tokens` is the
/// request's own, which calls it `field`, else the default `or`, else as many as the context and the
/// KV cache hold, as with [`NO_LIMIT`].
pub(super) fn generate_request(
    app: &App,
    (place, ids): (&str, Vec<u32>),
    (field, max_tokens): (&'static str, Option<i64>),
    or: Option<usize>,
    options: &SamplingOptions,
) -> Result<GenerateRequest, ApiError> {
    let most = app.settings().max_tokens.map_or(usize::MAX, |most| most as usize);
    // Where the KV cache holds less than the context, a text that may be longer would be refused: for a
    // limit that nobody has asked for.
    let room = app.loaded().map_or(usize::MAX, |service| service.max_cached_tokens());
    let open_end = most.min(room.saturating_sub(ids.len()).max(1));
    let max_tokens = match max_tokens {
        Some(NO_LIMIT) => open_end,
        Some(asked) => match usize::try_from(asked) {
            Ok(asked) if asked <= most => asked,
            _ => {
                let message = format!("{field} is {asked}, but at most {most} are allowed here");
                return Err(ApiError::invalid(field, message));
            }
        },
        None => or.unwrap_or(usize::MAX).min(open_end),
    };
    if let Some(service) = app.loaded() {
        let checked = service.check_prompt(&ids, max_tokens);
        checked.map_err(|error| ApiError::from(error).with_param(place))?;
    }
    Ok(GenerateRequest {
        sampling: params(options)?,
        stop: stops(options)?,
        stop_ids: options.stop_token_ids.clone().unwrap_or_default(),
        ignore_eos: options.ignore_eos.unwrap_or(false),
        ..GenerateRequest::new(ids).with_max_tokens(max_tokens)
    })
}

fn params(options: &SamplingOptions) -> Result<SamplingParams, ApiError> {
    let default = SamplingParams::default();
    let top_k = match options.top_k {
        None | Some(-1 | 0) => None,
        Some(k) => {
            let wrong = |_| ApiError::invalid("top_k", "top_k must be 1 or greater, or -1 for all");
            Some(usize::try_from(k).map_err(wrong)?)
        }
    };
    let narrow = SamplingOptions::narrow;
    let bias = options.logit_bias.iter().flatten();
    let params = SamplingParams {
        temperature: options.temperature.map_or(default.temperature, narrow),
        top_k,
        top_p: options.top_p.map(narrow),
        min_p: options.min_p.map(narrow),
        typical_p: options.typical_p.map(narrow),
        repetition_penalty: options.repetition_penalty.map_or(default.repetition_penalty, narrow),
        frequency_penalty: options.frequency_penalty.map_or(default.frequency_penalty, narrow),
        presence_penalty: options.presence_penalty.map_or(default.presence_penalty, narrow),
        logit_bias: bias.map(|(&id, &bias)| (id, narrow(bias))).collect(),
        seed: options.seed.map_or_else(random_seed, i64::cast_unsigned),
    };
    params.validate()?;
    Ok(params)
}

fn random_seed() -> u64 {
    Uuid::new_v4().as_u64_pair().0
}

fn stops(options: &SamplingOptions) -> Result<Vec<String>, ApiError> {
    let stops = options.stop.clone().map_or_else(Vec::new, |stop| stop.into_strings());
    if stops.len() > MAX_STOPS {
        let message = format!("stop has {} strings, but at most {MAX_STOPS}", stops.len());
        return Err(ApiError::invalid("stop", message));
    }
    Ok(stops)
}

/// The sequences for `n` choices of one prompt: equal, but for the [seed](seed_of).
pub(super) fn with_seeds(
    request: GenerateRequest,
    n: usize,
) -> impl Iterator<Item = GenerateRequest> {
    let seed = request.sampling.seed;
    (0..n as u64).map(move |index| request.clone().with_seed(seed_of(seed, index)))
}
