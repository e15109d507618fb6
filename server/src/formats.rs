//! From the fields of a request that say which texts are allowed to a grammar.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Map, Value};
use slowburn::constrained::{Cancel, Constraint};
use slowburn::grammar::{Grammar, Schema};
use slowburn::outside::json_in_words;
use tokio::time::timeout;

use super::blocking::blocking;
use super::deadline;
use super::error::ApiError;
use super::service::Service;
use super::unsupported::{Field, check_fields};
use super::wire::{FormatOptions, ResponseFormat, StructuredOutputs};

/// The fields of a request that are read here.
pub(super) const FIELDS: &[&str] = &[
    "response_format",
    "structured_outputs",
    "guided_json",
    "guided_regex",
    "guided_choice",
    "guided_grammar",
];

/// What vLLM has beside the grammars.
const UNSUPPORTED: &[Field] = &[
    ("disable_fallback", &["false"]),
    ("disable_any_whitespace", &["false"]),
    ("disable_additional_properties", &["false"]),
    ("whitespace_pattern", &[]),
    ("structural_tag", &[]),
];

/// A grammar, and the field of the request that asks for it.
#[derive(Debug, Clone)]
pub(super) struct Format {
    pub(super) grammar: Grammar,
    pub(super) field: &'static str,
}

/// Compiles a grammar, or takes it from the latest.
///
/// A large schema takes longer than a token. It has no more than what is left of the request's time, the wait for
/// its turn included, and is given up when the client goes.
///
/// # Errors
/// A grammar that is wrong or too large, or allows no text that the model can write; one that took too long.
pub(super) async fn compile(
    service: &Arc<Service>,
    grammar: Grammar,
) -> Result<Constraint, ApiError> {
    let given_up = GivenUp(Cancel::default());
    if let Some(known) = service.pretrained.grammars.known(&grammar) {
        return Ok(known);
    }
    let (of_work, cancel) = (service.clone(), given_up.0.clone());
    let compiled = async {
        // Those who wait here hold no thread and no memory, and leave with their client.
        let turn = service.compile_turns.clone().acquire_owned().await;
        blocking(move || {
            // Until the work has ended, whoever waits for it.
            let _turn = turn;
            let _used = Used(&of_work.has_used_grammar);
            of_work.pretrained.constraint_unless(&grammar, &cancel)
        })
        .await
    };
    let limit = service.request_timeout;
    let compiled = timeout(deadline::left(limit), compiled).await;
    Ok(compiled.map_err(|_| ApiError::deadline(limit, true))???)
}

/// Says that a grammar was compiled when that has ended, in whatever way: memory that is given back before is
/// taken again.
struct Used<'a>(&'a AtomicBool);

impl Drop for Used<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Gives up the work when it is dropped, as with the request of a client that goes away.
struct GivenUp(Cancel);

impl Drop for GivenUp {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// What an answer must look like, compiled; None for any text.
///
/// # Errors
/// As [`Format::compiled`].
pub(super) async fn grammar(
    service: &Arc<Service>,
    format: Option<Format>,
) -> Result<Option<Constraint>, ApiError> {
    match format {
        Some(format) => Ok(Some(format.compiled(service).await?)),
        None => Ok(None),
    }
}

impl Format {
    /// The grammar, compiled.
    ///
    /// # Errors
    /// A grammar that is wrong or too large, or allows no text that the model can write.
    pub(super) async fn compiled(self, service: &Arc<Service>) -> Result<Constraint, ApiError> {
        let Self { grammar, field } = self;
        compile(service, grammar).await.map_err(|error| error.with_param(field))
    }

    /// What the fields ask for; None for any text.
    ///
    /// # Errors
    /// Two fields that ask for something; a schema that is no JSON; a grammar in another syntax.
    pub(super) fn of(options: FormatOptions) -> Result<Option<Self>, ApiError> {
        let FormatOptions { response_format, structured_outputs, .. } = options;
        let response_format = response_format.map(of_response_format).transpose()?;
        let mut asked = vec![
            response_format.unwrap_or(("response_format", None)),
            (
                "guided_json",
                options.guided_json.map(|json| schema("guided_json", json)).transpose()?,
            ),
            ("guided_regex", options.guided_regex.map(Grammar::Regex)),
            ("guided_choice", options.guided_choice.map(Grammar::Choice)),
            ("guided_grammar", options.guided_grammar.map(Grammar::Lark)),
        ];
        if let Some(structured) = structured_outputs {
            asked.extend(of_structured(structured)?);
        }
        Self::only(asked)
    }

    /// What SGLang's sampling parameters ask for; None for any text.
    ///
    /// # Errors
    /// Both of them; a schema that is no JSON.
    pub(super) fn of_sglang(
        json_schema: Option<Value>,
        regex: Option<String>,
    ) -> Result<Option<Self>, ApiError> {
        let field = "sampling_params.json_schema";
        Self::only(vec![
            ("sampling_params.regex", regex.map(Grammar::Regex)),
            (field, json_schema.map(|json| schema(field, json)).transpose()?),
        ])
    }

    /// The only one of the fields that asks for something.
    fn only(asked: Asked) -> Result<Option<Self>, ApiError> {
        let mut asked = asked
            .into_iter()
            .filter_map(|(field, grammar)| Some(Self { field, grammar: grammar? }));
        let first = asked.next();
        if let (Some(first), Some(second)) = (&first, asked.next()) {
            let message = format!(
                "{} and {} both say which texts are allowed: send one of them",
                first.field, second.field
            );
            return Err(ApiError::invalid(second.field, message));
        }
        first.iter().try_for_each(Self::check_syntax)?;
        Ok(first)
    }

    /// What `text.format` of `/v1/responses` asks for; None for any text.
    ///
    /// # Errors
    /// A type that is none of OpenAI's; a field that is not known.
    pub(super) fn of_response(format: &Value) -> Result<Option<Self>, ApiError> {
        let kind = format.get("type").and_then(Value::as_str);
        if let Value::Object(fields) = format {
            let known = match kind {
                Some("json_object" | "json_schema") => &["type", "schema"][..],
                _ => &["type"],
            };
            check_known(fields, known, "text.format", "text.format.schema")?;
        }
        let schema = match kind {
            Some("text") => return Ok(None),
            Some("json_object" | "json_schema") => object_or(format.get("schema").cloned()),
            _ => {
                let message =
                    "text.format.type must be \"text\", \"json_object\" or \"json_schema\"";
                return Err(ApiError::invalid("text.format.type", message));
            }
        };
        Ok(Some(Self {
            grammar: Grammar::JsonSchema(schema),
            field: "text.format.schema",
        }))
    }

    fn check_syntax(&self) -> Result<(), ApiError> {
        match &self.grammar {
            Grammar::Lark(text) if text.lines().any(is_of_llama_cpp) => {
                let message = format!(
                    "{} has `::=`, as grammars of llama.cpp have: write it in the syntax of Lark, `start: ...`",
                    self.field
                );
                Err(ApiError::invalid(self.field, message))
            }
            _ => Ok(()),
        }
    }
}

/// Whether a line begins a rule as grammars of llama.cpp do: `root ::= ...`. In a string of Lark it may have
/// the same characters.
fn is_of_llama_cpp(line: &str) -> bool {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    line.split_once("::=").is_some_and(|(name, _)| {
        let name = name.trim();
        !name.is_empty() && name.chars().all(is_of_name)
    })
}

/// What `response_format` asks for, and the field that says it.
fn of_response_format(format: ResponseFormat) -> Result<(&'static str, Option<Grammar>), ApiError> {
    const OF_OPENAI: &str = "response_format.json_schema.schema";
    let check = |other: &Map<String, Value>, within| check_known(other, &[], within, OF_OPENAI);
    let (field, schema) = match format {
        ResponseFormat::Text { other } => {
            check(&other, "response_format")?;
            return Ok(("response_format", None));
        }
        ResponseFormat::JsonObject { schema, other } => {
            check(&other, "response_format")?;
            ("response_format.schema", schema)
        }
        ResponseFormat::JsonSchema { json_schema, schema, other } => {
            check(&other, "response_format")?;
            match (json_schema, schema) {
                (Some(named), None) => {
                    check(&named.other, "response_format.json_schema")?;
                    (OF_OPENAI, named.schema)
                }
                (None, Some(schema)) => ("response_format.schema", Some(schema)),
                (Some(_), Some(_)) => {
                    let message = "response_format.json_schema and response_format.schema both have a schema: send one of them";
                    return Err(ApiError::invalid("response_format.schema", message));
                }
                (None, None) => {
                    let message = "response_format.json_schema is missing";
                    return Err(ApiError::invalid("response_format.json_schema", message));
                }
            }
        }
    };
    Ok((field, Some(Grammar::JsonSchema(object_or(schema)))))
}

/// A schema; any object, where there is none.
fn object_or(schema: Option<Value>) -> Schema {
    schema.filter(|schema| !schema.is_null()).map_or_else(Schema::object, Schema::from)
}

/// Refuses a field that would change the text if it were read, such as a schema at another place. These fields
/// are read, or have no effect.
fn check_known(
    fields: &Map<String, Value>,
    read: &[&str],
    within: &str,
    place: &str,
) -> Result<(), ApiError> {
    const WITHOUT_EFFECT: [&str; 3] = ["name", "description", "strict"];
    let is_known = |name: &str| read.contains(&name) || WITHOUT_EFFECT.contains(&name);
    let unknown = fields.iter().find(|(name, value)| !value.is_null() && !is_known(name));
    let Some((name, _)) = unknown else {
        return Ok(());
    };
    let field = format!("{within}.{}", slowburn::outside::short(name));
    let message = format!("`{field}` is not known here: a schema belongs into `{place}`");
    Err(ApiError::invalid(field, message))
}

type Asked = Vec<(&'static str, Option<Grammar>)>;

fn of_structured(structured: StructuredOutputs) -> Result<Asked, ApiError> {
    check_fields(UNSUPPORTED, &structured.other, "structured_outputs.")?;
    let object = structured.json_object.unwrap_or(false);
    let json = "structured_outputs.json";
    Ok(vec![
        (json, structured.json.map(|value| schema(json, value)).transpose()?),
        (
            "structured_outputs.json_object",
            object.then(|| Grammar::JsonSchema(Schema::object())),
        ),
        ("structured_outputs.regex", structured.regex.map(Grammar::Regex)),
        ("structured_outputs.choice", structured.choice.map(Grammar::Choice)),
        ("structured_outputs.grammar", structured.grammar.map(Grammar::Lark)),
    ])
}

/// A schema, as an object or as its text.
fn schema(field: &'static str, json: Value) -> Result<Grammar, ApiError> {
    let schema = match json {
        Value::String(text) => serde_json::from_str(&text).map_err(|error| {
            ApiError::invalid(
                field,
                format!("{field} is a text that is no JSON: {}", json_in_words(error)),
            )
        })?,
        json => json,
    };
    Ok(Grammar::JsonSchema(Schema::from(schema)))
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::pin::pin;
    use std::task::Poll;
    use std::time::{Duration, Instant};

    use tokio::runtime::Builder;
    use tokio::time::sleep;

    use super::super::service::COMPILE_TURNS;
    use super::*;
    use crate::Settings;

    /// Of the time of a request, what was before counts, and so does the wait for a turn.
    #[test]
    fn a_grammar_has_what_is_left_of_the_time_of_the_request() {
        let runtime = Builder::new_multi_thread().enable_all().build().unwrap();
        let settings = ["test", "--request-timeout", "1"].map(Into::into);
        let service = Arc::new(Service::load(&Settings::load(settings).unwrap()).unwrap());
        let limit = service.request_timeout;
        runtime.block_on(async {
            let turns = service.compile_turns.clone();
            let busy = turns.acquire_many_owned(COMPILE_TURNS as u32).await.unwrap();
            let start = Instant::now();
            deadline::keep(async {
                deadline::begin();
                sleep(limit * 3 / 4).await;
                let error =
                    compile(&service, Grammar::Regex("[ab]+".to_owned())).await.unwrap_err();
                let error = error.body().error;
                assert_eq!(error.code, Some("deadline_exceeded"));
                assert!(error.message.contains("send a simpler grammar"), "{}", error.message);
                assert_eq!(deadline::left(limit), Duration::from_nanos(1));
            })
            .await;
            assert!(start.elapsed() >= limit && start.elapsed() < limit * 3 / 2);
            assert!(!service.has_used_grammar.load(Ordering::Relaxed));
            drop(busy);
            compile(&service, Grammar::Regex("[ab]+".to_owned())).await.unwrap();
            assert!(service.has_used_grammar.load(Ordering::Relaxed));
        });
    }

    /// Whoever waits for a turn has none, and one that leaves compiles nothing: not then, and not when its
    /// turn would have come.
    #[test]
    fn a_client_that_leaves_the_queue_for_the_compiler_leaves_nothing_there() {
        let runtime = Builder::new_multi_thread().enable_all().build().unwrap();
        let settings = Settings::load(["test".into()]).unwrap();
        let service = Arc::new(Service::load(&settings).unwrap());
        let turns = service.compile_turns.clone();
        let regex = |text: &str| Grammar::Regex(text.to_owned());
        runtime.block_on(async {
            let busy = turns.clone().acquire_many_owned(COMPILE_TURNS as u32).await.unwrap();
            {
                let mut leaves = pin!(compile(&service, regex("[ab]+")));
                let waits =
                    poll_fn(|context| Poll::Ready(leaves.as_mut().poll(context).is_pending()));
                assert!(waits.await);
            }
            let stays = tokio::spawn({
                let service = service.clone();
                async move { compile(&service, regex("[cd]+")).await }
            });
            drop(busy);
            assert!(stays.await.unwrap().is_ok());
            // The compiler frees its turn behind the answer.
            let all = turns.acquire_many(COMPILE_TURNS as u32).await.unwrap();
            drop(all);
        });
        let is_compiled = |text: &str| service.pretrained.grammars.known(&regex(text)).is_some();
        assert!(is_compiled("[cd]+") && !is_compiled("[ab]+"));
        assert_eq!(turns.available_permits(), COMPILE_TURNS);
    }
}
