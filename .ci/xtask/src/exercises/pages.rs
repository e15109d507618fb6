//! The exercise lists of the book: one file per chapter, included at its end.

use std::fs;

use anyhow::{Context, Result, ensure};
use clap::Args;
use exercises_runner::engine_parts::PARTS;
use exercises_runner::manifest::{Chapter, Exercise, Kind, Manifest, project_root};

#[derive(Args)]
pub struct PagesArgs {
    /// Compare with what is there, and write nothing
    #[arg(long)]
    check: bool,
}

pub fn run(args: &PagesArgs) -> Result<()> {
    let root = project_root()?;
    let manifest = Manifest::read(&root)?;
    let mut differ = Vec::new();
    for chapter in Chapter::ALL {
        let path = format!("book/src/exercises/{}.md", chapter.page());
        let text = page(&manifest, chapter);
        if !args.check {
            fs::write(root.join(&path), text).with_context(|| format!("cannot write {path}"))?;
        } else if fs::read_to_string(root.join(&path)).unwrap_or_default() != text {
            differ.push(path);
        }
    }
    ensure!(
        differ.is_empty(),
        "not what exercises/info.toml says: {}; run `cargo xtask exercises pages`",
        differ.join(", ")
    );
    Ok(())
}

fn page(manifest: &Manifest, chapter: Chapter) -> String {
    let exercises: Vec<String> = manifest.of_chapter(chapter).map(entry).collect();
    if exercises.is_empty() {
        "*This chapter has no exercises.*\n".into()
    } else {
        exercises.join("\n")
    }
}

fn entry(exercise: &Exercise) -> String {
    let Exercise { name, title, kind, minutes, short_path, hints, .. } = exercise;
    let mut page =
        format!("<section class=\"card\">\n\n### {title}\n\n{}", exercise.level_in_words());
    if *kind == Kind::BugHunt {
        page += " bug hunt";
    }
    page += &format!(", about {minutes} minutes");
    if *short_path {
        page += ", on the short path";
    }
    if PARTS.iter().any(|part| part.exercise == name) {
        page += ", a part of [your engine](your-engine.md)";
    }
    page += &format!(
        "; `{}`\n\n```console\ncargo run -p exercises -- check {name}\n```\n",
        exercise.file().display()
    );
    let summaries = ["A nudge", "An approach", "Nearly the code"];
    for (summary, hint) in summaries.iter().zip(hints) {
        page += &format!(
            "\n<details>\n<summary>{summary}</summary>\n\n{}\n\n</details>\n",
            hint.trim()
        );
    }
    page + "\n</section>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_holds_the_exercises_of_its_chapter_in_order() {
        let entry = |name: &str, chapter: &str| {
            format!(
                "[[exercise]]\nname = {name:?}\nchapter = {chapter:?}\ntitle = \"About {name}\"\nlevel = 2\nminutes = 10\nshort_path = true\nhints = [\"one\", \"two\", \"three\"]\n"
            )
        };
        let text =
            entry("ties", "top_k") + &entry("masks", "top_k") + &entry("heat", "temperature");
        let manifest = Manifest::parse(&text).unwrap();
        let page = page(&manifest, Chapter::TopK);
        let parts = [
            "### About ties\n\nmedium, about 10 minutes, on the short path; `exercises/src/top_k/ties.rs`",
            "cargo run -p exercises -- check ties",
            "<summary>A nudge</summary>\n\none\n",
            "three\n\n</details>\n\n</section>\n\n<section class=\"card\">\n\n### About masks",
        ];
        let mut rest = page.as_str();
        for part in parts {
            let at = rest.find(part).unwrap_or_else(|| panic!("{part:?} is missing in {rest}"));
            rest = &rest[at + part.len()..];
        }
        assert!(!page.contains("heat"));
    }
}
