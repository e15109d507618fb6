//! `cargo xtask corpus`: writes the training stories to a file.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use slowburn_flags::{WIDTH, wrap};

use crate::corpus;

#[derive(Args)]
pub struct CorpusArgs {
    /// How many distinct stories to write
    #[arg(long, default_value_t = 100_000)]
    count: usize,
    /// Which stories: the same seed tells the same ones
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print the first N of them too
    #[arg(long, default_value_t = 0, value_name = "N")]
    show: usize,
    /// Write conversations instead: `messages` as models are asked
    #[arg(long)]
    talk: bool,
    /// Where to write them, one JSON object a line: `text`, and `bits`, the information in the
    /// choices that made it
    #[arg(long, default_value = "data/corpus.jsonl")]
    out: PathBuf,
}

pub fn run(args: &CorpusArgs) -> Result<()> {
    if args.talk {
        return write_talks(args);
    }
    let mut file = create(&args.out)?;
    let mut words = HashSet::new();
    let mut lengths = Vec::with_capacity(args.count);
    let mut bits = 0.0;
    for (i, story) in corpus::stories(args.seed).take(args.count).enumerate() {
        if i < args.show {
            println!("{}\n\n", wrap(&story.text, WIDTH));
        }
        serde_json::to_writer(
            &mut file,
            &serde_json::json!({ "text": story.text, "bits": story.bits }),
        )?;
        writeln!(file)?;
        lengths.push(story.text.split_whitespace().count());
        bits += story.bits;
        for word in story.text.split(|c: char| !c.is_ascii_alphabetic()) {
            if !words.contains(word) {
                words.insert(word.to_owned());
            }
        }
    }
    file.flush()?;
    lengths.sort_unstable();
    let total: usize = lengths.iter().sum();
    println!("{} distinct stories in {}", lengths.len(), args.out.display());
    if let (Some(shortest), Some(longest)) = (lengths.first(), lengths.last()) {
        println!(
            "{shortest} to {longest} words each, {:.0} on average; {} different words",
            total as f64 / lengths.len() as f64,
            words.len()
        );
        println!(
            "{:.0} bits of choice a story, {:.2} a word",
            bits / lengths.len() as f64,
            bits / total as f64
        );
    }
    Ok(())
}

/// Writes conversations.
fn write_talks(args: &CorpusArgs) -> Result<()> {
    let mut file = create(&args.out)?;
    for (i, dialogue) in corpus::talk::dialogues(args.seed).take(args.count).enumerate() {
        let messages = dialogue.messages();
        if i < args.show {
            for (role, text) in &messages {
                println!("{}", wrap(&format!("{role}: {text}"), WIDTH));
            }
            println!();
        }
        let messages: Vec<_> = messages
            .iter()
            .map(|(role, text)| serde_json::json!({ "role": role, "content": text }))
            .collect();
        serde_json::to_writer(&mut file, &serde_json::json!({ "messages": messages }))?;
        writeln!(file)?;
    }
    file.flush()?;
    println!("{} distinct conversations in {}", args.count, args.out.display());
    Ok(())
}

fn create(path: &Path) -> Result<BufWriter<File>> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(BufWriter::new(file))
}
