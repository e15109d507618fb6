//! The flags of constrained output.

use clap::Args;
use slowburn::constrained::Constraint;
use slowburn::grammar::Grammar;
use slowburn::pretrained::Pretrained;

use crate::Result;

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
}

impl ConstraintArgs {
    /// What the flags allow; None where they allow everything.
    pub fn grammar(&self) -> Option<Grammar> {
        let choices = || (!self.choice.is_empty()).then(|| Grammar::Choice(self.choice.clone()));
        self.regex.clone().map(Grammar::Regex).or_else(choices)
    }

    /// What the flags allow, compiled for a model.
    ///
    /// # Errors
    /// A grammar that is wrong or too large, or allows no text that the model can write.
    pub fn constraint(&self, pretrained: &Pretrained) -> Result<Option<Constraint>> {
        Ok(self.grammar().map(|grammar| pretrained.constraint(&grammar)).transpose()?)
    }
}
