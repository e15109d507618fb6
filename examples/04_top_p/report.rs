//! The output of `04_top_p`: the size of the nucleus at each step, compared with top-k.

use std::fmt::Write;
use std::path::Path;

use serde_json::json;
use slowburn::generate::Generation;
use slowburn::pretrained::Pretrained;

#[cfg(feature = "plot")]
use slowburn_examples::chart;
use slowburn_examples::cli::{BOLD, DIM, GenerateArgs, Result, bar, print, quoted};

/// One step of a generation with top-p.
pub struct NucleusStep {
    /// The sampled token.
    pub id: u32,
    /// The number of tokens in the nucleus.
    pub nucleus: usize,
    /// The probability of the sampled token.
    pub probability: f32,
}

/// A generation, and the nucleus at each step.
pub struct NucleusReport<'a> {
    pub args: &'a GenerateArgs,
    pub pretrained: &'a Pretrained,
    pub prompt: &'a [u32],
    pub p: f32,
    /// The k of top-k to compare with.
    pub k: usize,
    pub generation: Generation,
    pub steps: Vec<NucleusStep>,
}

impl NucleusReport<'_> {
    /// Prints the report as text or JSON.
    ///
    /// # Errors
    /// Ids that cannot be decoded; a closed standard output.
    pub fn print(&self) -> Result<()> {
        let step = |step: &NucleusStep| json!({ "id": step.id, "nucleus": step.nucleus, "probability": step.probability });
        let json = json!({
            "prompt_ids": self.prompt,
            "ids": self.generation.ids,
            "text": self.pretrained.tokenizer.decode(&self.generation.ids)?,
            "finish_reason": self.generation.finish_reason,
            "top_p": self.p,
            "top_k": self.k,
            "steps": self.steps.iter().map(step).collect::<Vec<_>>(),
        });
        print(self.args.json, &json, &self.text()?)
    }

    /// Draws the size of the nucleus at each step to `path`, whose extension selects the format.
    ///
    /// # Errors
    /// Always, without the feature `plot`.
    #[cfg(not(feature = "plot"))]
    pub fn draw(&self, _: &Path) -> Result<()> {
        Err(slowburn_examples::cli::Error::ChartsNotCompiled)
    }

    /// Draws the size of the nucleus at each step to `path`, whose extension selects the format.
    ///
    /// # Errors
    /// An extension other than `.svg` and `.png`; a path that cannot be written; ids that cannot be
    /// decoded.
    #[cfg(feature = "plot")]
    pub fn draw(&self, path: &Path) -> Result<()> {
        let step = |step: &NucleusStep| {
            let token = self.pretrained.tokenizer.decode(&[step.id])?;
            Ok(chart::NucleusStep { token, survivors: step.nucleus })
        };
        let steps = self.steps.iter().map(step).collect::<Result<Vec<_>>>()?;
        let title = "Tokens that could be drawn at each step";
        Ok(chart::nucleus(path, title, &steps, self.p, self.k)?)
    }

    fn text(&self) -> Result<String> {
        let Self { p, k, steps, .. } = self;
        let tokenizer = &self.pretrained.tokenizer;
        let mut out = String::new();
        let ids = [self.prompt, &self.generation.ids].concat();
        let _ = writeln!(out, "{}\n", tokenizer.decode(&ids)?);
        let _ = writeln!(
            out,
            "drawn           from p = {p}   from k = {k}   (bars double: 1, 2, 4, ...)"
        );
        // A logarithmic bar: sizes from 1 to the whole vocabulary must fit on a line.
        let doublings = (self.pretrained.model.config().vocab_size as f64).log2();
        for step in steps {
            let size = (2.0 * step.nucleus as f64).log2() / (doublings + 1.0);
            let _ = writeln!(
                out,
                "{:<16}{BOLD}{:>10}{BOLD:#}{DIM}{k:>14}{DIM:#}   {}",
                quoted(tokenizer, step.id),
                step.nucleus,
                bar(size, 24)
            );
        }
        let mut sizes: Vec<usize> = steps.iter().map(|step| step.nucleus).collect();
        sizes.sort_unstable();
        if let [smallest, .., largest] = sizes[..] {
            let median = sizes[sizes.len() / 2];
            let larger = sizes.iter().filter(|size| *size > k).count();
            let _ = writeln!(
                out,
                "\nThe nucleus had {smallest} to {largest} tokens, {median} in the median. Of {} steps, \
                 top-k with k = {k} would have kept fewer at {larger} and more at {}.",
                sizes.len(),
                sizes.iter().filter(|size| *size < k).count()
            );
        }
        Ok(out)
    }
}
