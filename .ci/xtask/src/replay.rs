//! `cargo xtask replay`: repeats a recorded run of the engine.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use slowburn::engine::{Decision, Engine, EngineConfig, Entry, RecordedModel, SequenceId};
use slowburn::model::Model;
use slowburn_flags::ModelArgs;

/// Every event of the record happens again, at the same step. The plans must be those of the
/// record, and so must the bits of all logits that it has hashes of. Tokens are taken from the
/// record. The model, and the formats of its numbers, must be those that the record was made with.
#[derive(Args)]
pub struct ReplayArgs {
    /// The record
    file: PathBuf,
    /// As in the run that was recorded
    #[command(flatten)]
    model: ModelArgs,
}

pub fn run(args: &ReplayArgs) -> Result<()> {
    let text = fs::read_to_string(&args.file)
        .with_context(|| format!("cannot read {}", args.file.display()))?;
    let entries = parse(&text)?;
    let (pretrained, _) = args.model.load()?;
    println!("{}", replay(pretrained.model, &entries)?);
    Ok(())
}

fn parse(text: &str) -> Result<Vec<Entry>> {
    let entry = |(index, line)| {
        serde_json::from_str(line)
            .with_context(|| format!("line {} is no entry of a record", index + 1))
    };
    text.lines().enumerate().map(entry).collect()
}

/// Repeats a run, and says what was the same.
fn replay(model: Model, entries: &[Entry]) -> Result<String> {
    let (recorded, config, max_blocks) = start(entries)?;
    if let Some(recorded) = recorded {
        check_model(recorded, &RecordedModel::of(&model))?;
    }
    let block_bytes = model.kv_pool().block_bytes();
    let model = model.with_kv_cache_bytes(max_blocks.saturating_mul(block_bytes));
    let mut engine = Engine::new(&model, config);
    engine.keep_record();
    let (mut steps, mut rows, mut ended) = (0, 0, false);
    // What the last step has computed here.
    let mut computed: HashMap<Rows, String> = HashMap::new();
    for (line, entry) in (1..).zip(entries).skip(1) {
        ensure!(!ended, "line {line}: the record goes on after its end");
        match entry {
            Entry::Start { .. } => bail!("line {line}: a record has one start"),
            Entry::Event { event } => engine.handle(event.clone())?,
            Entry::Step { decisions } => {
                computed = step(line, &mut engine, decisions)?;
                steps += 1;
            }
            Entry::Logits { id, hash } => {
                check_bits(line, (*id, None), hash, &mut computed)?;
                rows += 1;
            }
            Entry::PromptLogits { id, position, hash } => {
                check_bits(line, (*id, Some(*position)), hash, &mut computed)?;
            }
            Entry::Failed { id } => engine.handle(slowburn::engine::Event::Leave { id: *id })?,
            Entry::Lost => engine.lose_blocks(),
            Entry::Limit { blocks, idle } => engine.set_limit(*blocks, *idle),
            Entry::Lent { blocks, preempt } => engine.lend(*blocks, *preempt),
            Entry::End { entries } => {
                check_count(line, *entries)?;
                ended = true;
            }
        }
    }
    let said = format!("{steps} steps: the same plans; {rows} rows of logits: the same bits");
    if recorded.is_none() {
        return Ok(format!(
            "{said}. An earlier version made this record, which says neither its model nor its end"
        ));
    }
    ensure!(
        ended,
        "the record has no last line: it was cut, or the program was ended that wrote it. Up to line {}, {said}",
        entries.len()
    );
    Ok(said)
}

/// Takes a step, whose plan must be the recorded one. Returns the hashes of its logits.
fn step(
    line: usize,
    engine: &mut Engine<'_>,
    recorded: &[Decision],
) -> Result<HashMap<Rows, String>> {
    engine.take_record();
    engine.step();
    // The limit is the recorded one.
    let found = engine.take_record().into_iter();
    let mut found = found.filter(|entry| !matches!(entry, Entry::Limit { .. }));
    check_decisions(line, recorded, found.next())?;
    Ok(found.filter_map(row).collect())
}

/// Other bits from another model are no news.
fn check_model(recorded: &RecordedModel, now: &RecordedModel) -> Result<()> {
    let differences = recorded.differences(now);
    ensure!(
        differences.is_empty(),
        "the record was made with another model, or with other formats ({}): give the flags of that run",
        differences.join("; ")
    );
    Ok(())
}

fn start(entries: &[Entry]) -> Result<(Option<&RecordedModel>, EngineConfig, usize)> {
    match entries.first() {
        Some(Entry::Start { model, config, max_blocks, .. }) => {
            Ok((model.as_ref(), *config, *max_blocks))
        }
        _ => bail!("the first line of a record is its start: was this file written by --record?"),
    }
}

/// Whose logits: those of the next token, or of the prompt tokens from a position on.
type Rows = (SequenceId, Option<usize>);

fn row(entry: Entry) -> Option<(Rows, String)> {
    match entry {
        Entry::Logits { id, hash } => Some(((id, None), hash)),
        Entry::PromptLogits { id, position, hash } => Some(((id, Some(position)), hash)),
        _ => None,
    }
}

fn check_bits(
    line: usize,
    rows: Rows,
    hash: &str,
    computed: &mut HashMap<Rows, String>,
) -> Result<()> {
    let (id, found) = (rows.0, computed.remove(&rows));
    ensure!(
        found.as_deref() == Some(hash),
        "line {line}: other bits: the logits of sequence {id} had the hash {hash}, and have {}",
        found.as_deref().unwrap_or("none")
    );
    Ok(())
}

fn check_count(line: usize, recorded: usize) -> Result<()> {
    let found = line - 1;
    ensure!(
        recorded == found,
        "line {line}: {found} entries came before, but the record had {recorded}: lines are missing"
    );
    Ok(())
}

fn check_decisions(line: usize, recorded: &[Decision], found: Option<Entry>) -> Result<()> {
    let Some(Entry::Step { decisions }) = found else {
        bail!("line {line}: the engine recorded no step");
    };
    let show = |decisions: &[Decision]| {
        decisions.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    };
    ensure!(
        decisions == recorded,
        "line {line}: another plan.\nRecorded: {}\nNow: {}",
        show(recorded),
        show(&decisions)
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::sync::{Arc, Mutex};

    use slowburn::device::{self, DeviceChoice, Precision};
    use slowburn::engine::{Event, write_end, write_record};
    use slowburn::generate::{Batch, Options};
    use slowburn::inference::{GenerateRequest, InferenceBuilder, streaming_handler};
    use slowburn::kernels::{KvFormat, Quantized};
    use slowburn::pretrained::Pretrained;
    use slowburn::storage::Storage;

    use super::*;

    fn model() -> Model {
        let device = device::open(DeviceChoice::Cpu).unwrap();
        Pretrained::bundled(&device, Precision::F32).unwrap().model
    }

    /// The record of a batch with so little memory that sequences are preempted.
    fn record() -> Vec<Entry> {
        let model = model();
        let bytes = 4 * model.kv_pool().block_bytes();
        let model = model.with_kv_cache_bytes(bytes);
        let mut batch = Batch::new(&model);
        batch.keep_record();
        let prompts: Vec<Vec<u32>> = (0..4).map(|i| vec![5 + i; 40]).collect();
        let options = Options { max_tokens: 30, ignore_eos: true, ..Options::default() };
        let mut options = vec![options; prompts.len()];
        options[3].prompt_logprobs = Some(0);
        let found = batch.run(&prompts, &options, &mut |_, _| std::ops::ControlFlow::Continue(()));
        assert!(found.unwrap().iter().any(|found| found.preemptions > 0));
        let entries = batch.take_record();
        let mut lines = Vec::new();
        write_record(&entries, &mut lines).unwrap();
        write_end(entries.len(), &mut lines).unwrap();
        parse(&String::from_utf8(lines).unwrap()).unwrap()
    }

    /// A writer that many can share.
    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_an_inference_has_recorded_is_repeated() {
        let record = Shared::default();
        let device = device::open(DeviceChoice::Cpu).unwrap();
        let inference = InferenceBuilder::new()
            .with_model(Pretrained::bundled(&device, Precision::F32).unwrap())
            .with_stream_capacity(2)
            .with_max_running(2)
            .with_record(record.clone())
            .build(streaming_handler)
            .unwrap();
        let request = GenerateRequest::new("Once upon a time").with_ignore_eos(true);
        let request = |seed, tokens| request.clone().with_max_tokens(tokens).with_seed(seed);
        let jobs = [(0, 20), (1, 30), (2, 40)]
            .map(|(seed, tokens)| inference.infer(request(seed, tokens)).spawn());
        // The first pauses while the others are read, and one is cancelled.
        let [first, second, third] = jobs;
        assert_eq!(second.stream.iter().count(), 30);
        assert_eq!(third.stream.iter().take(5).count(), 5);
        third.cancel();
        assert_eq!(first.stream.iter().count(), 20);
        third.join().unwrap();
        drop(inference);

        let lines = String::from_utf8(record.0.lock().unwrap().clone()).unwrap();
        assert!(lines.contains("\"pause\"") && lines.contains("\"resume\""));
        let said = replay(model(), &parse(&lines).unwrap()).unwrap();
        assert!(said.contains("the same plans") && said.ends_with("the same bits"), "{said}");
    }

    #[test]
    fn a_record_that_was_cut_or_is_of_another_model_says_so() {
        let record = record();
        // At the end of any line.
        for end in [record.len() - 1, record.len() / 2, 2] {
            let error = replay(model(), &record[..end]).unwrap_err().to_string();
            assert!(error.contains("has no last line"), "{error}");
        }
        let mut without_one = record.clone();
        without_one.remove(record.len() - 2);
        let error = replay(model(), &without_one).unwrap_err().to_string();
        assert!(error.contains("lines are missing"), "{error}");

        let device = device::open(DeviceChoice::Cpu).unwrap();
        let int8 = Storage { layers: Some(Quantized::Int8), ..Precision::F32.into() };
        let int8 = Pretrained::bundled(&device, int8).unwrap().model;
        let error = replay(int8, &record).unwrap_err().to_string();
        assert!(error.contains("weights: f32, now int8"), "{error}");
        assert!(error.contains("the embedding: f32, now int8"), "{error}");
        let keys = model().with_kv_format(KvFormat::Int8).unwrap();
        let error = replay(keys, &record).unwrap_err().to_string();
        assert!(error.contains("keys and values: f32, now int8"), "{error}");
        // Of the same sizes and formats, with other weights.
        let mut other = record.clone();
        if let Entry::Start { model: Some(model), .. } = &mut other[0] {
            model.logits = Some("0123456789abcdef".to_owned());
        }
        let error = replay(model(), &other).unwrap_err().to_string();
        assert!(
            error.contains("the hash of logits after the token 0: 0123456789abcdef"),
            "{error}"
        );
    }

    /// As earlier versions wrote them.
    #[test]
    fn a_record_without_its_model_and_its_end_is_repeated_and_that_is_said() {
        let entries = record();
        let mut lines = Vec::new();
        write_record(&entries[..entries.len() - 1], &mut lines).unwrap();
        let lines = String::from_utf8(lines).unwrap();
        let (start, rest) = lines.split_once('\n').unwrap();
        let mut start: serde_json::Value = serde_json::from_str(start).unwrap();
        assert!(start.as_object_mut().unwrap().remove("model").is_some());
        let said = replay(model(), &parse(&format!("{start}\n{rest}")).unwrap()).unwrap();
        assert!(said.contains("the same bits. An earlier version made this record"), "{said}");
    }

    #[test]
    fn a_recorded_run_is_repeated_and_a_changed_record_is_found_out() {
        let record = record();
        let said = replay(model(), &record).unwrap();
        assert!(said.ends_with("120 rows of logits: the same bits"), "{said}");

        let mut other_token = record.clone();
        let token = other_token.iter_mut().find_map(|entry| match entry {
            Entry::Event { event: Event::Token { token, .. } } => Some(token),
            _ => None,
        });
        *token.unwrap() ^= 1;
        let error = replay(model(), &other_token).unwrap_err().to_string();
        assert!(error.contains("other bits"), "{error}");

        let mut other_config = record.clone();
        if let Entry::Start { config, .. } = &mut other_config[0] {
            config.token_budget = 7;
        }
        let error = replay(model(), &other_config).unwrap_err().to_string();
        assert!(error.contains("another plan"), "{error}");

        let error = replay(model(), &record[1..]).unwrap_err().to_string();
        assert!(error.contains("its start"), "{error}");
        assert!(parse("{\"entry\":\"strange\"}").unwrap_err().to_string().contains("line 1"));
    }
}
