//! The flags of constrained output.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use slowburn::LoadError;
use slowburn::constrained::Constraint;
use slowburn::grammar::{Grammar, Schema};
use slowburn::pretrained::Pretrained;

use crate::Result;

/// The most bytes that are read of a file.
const MOST_READ: u64 = 1 << 20;

/// The flags of constrained output: which texts are allowed.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Constraint")]
pub struct ConstraintArgs {
    /// Allow only texts that this regular expression matches as a whole, the prompt not included
    #[arg(long, value_name = "REGEX", conflicts_with = "choice")]
    pub regex: Option<String>,

    /// Allow only this text. May be given several times: any of these
    #[arg(long, value_name = "TEXT")]
    pub choice: Vec<String>,

    /// Allow only JSON that is valid under the schema in this file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["regex", "choice"])]
    pub json_schema: Option<PathBuf>,

    /// Allow only texts of the grammar in this file, in the syntax of Lark
    #[arg(long, value_name = "FILE", conflicts_with_all = ["regex", "choice", "json_schema"])]
    pub lark: Option<PathBuf>,
}

impl ConstraintArgs {
    /// What the flags allow; None where they allow everything.
    ///
    /// # Errors
    /// A file that cannot be read; a schema that is no JSON.
    pub fn grammar(&self) -> Result<Option<Grammar>> {
        if let Some(path) = &self.json_schema {
            let origin = format!("{path:?}");
            let wrong = |source| slowburn::Error::Load(LoadError::Json { origin, source });
            let schema: Schema = serde_json::from_str(&read(path)?).map_err(wrong)?;
            return Ok(Some(Grammar::JsonSchema(schema)));
        }
        if let Some(path) = &self.lark {
            return Ok(Some(Grammar::Lark(read(path)?)));
        }
        let choices = || (!self.choice.is_empty()).then(|| Grammar::Choice(self.choice.clone()));
        Ok(self.regex.clone().map(Grammar::Regex).or_else(choices))
    }

    /// What the flags allow, compiled for a model.
    ///
    /// # Errors
    /// Those of [`grammar`](Self::grammar); a grammar that is wrong or too large, or allows no text that
    /// the model can write.
    pub fn constraint(&self, pretrained: &Pretrained) -> Result<Option<Constraint>> {
        let compile = |grammar: Grammar| pretrained.constraint(&grammar);
        Ok(self.grammar()?.map(compile).transpose()?)
    }
}

/// The text of a file.
fn read(path: &Path) -> Result<String> {
    let read = || {
        let mut bytes = Vec::new();
        File::open(path)?.take(MOST_READ + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MOST_READ {
            return Err(io::Error::other(format!("it has more than {MOST_READ} bytes")));
        }
        String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    };
    let wrong = |source| slowburn::Error::Load(LoadError::Io { path: path.to_owned(), source });
    Ok(read().map_err(wrong)?)
}
