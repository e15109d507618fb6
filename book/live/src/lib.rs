//! The crate in the pages of its book.
//!
//! A page asks, in JSON, and an [`Engine`] answers: the model, the sampler and the loops of
//! `slowburn`, compiled to WebAssembly. What a widget needs is a file here, with its own requests
//! and answers; what is left in JavaScript draws. All of it is plain Rust that runs on any machine,
//! and `wasm` is the thin layer that a Web Worker calls.
//!
//! A widget is added with a file here and a line in [`Engine::open`], a file in `book/widgets`, and a
//! check in `.ci/xtask/src/live/browser`.

mod allowed;
mod anatomy;
mod candidates;
mod formats;
mod guess;
mod layout;
mod loops;
mod scheduler;
mod story;
mod tokens;
#[cfg(target_arch = "wasm32")]
mod wasm;
mod way;
mod widget;

use std::collections::BTreeMap;

use slowburn::device::{self, DeviceChoice, Precision};
use slowburn::pretrained::Pretrained;
pub use widget::{Result, Widget};

/// A model, and the widgets that use it.
pub struct Engine {
    /// The file, from which some widgets load the model in another way.
    gguf: &'static [u8],
    /// A page keeps it until it is closed, and what a widget holds refers to it.
    pretrained: &'static Pretrained,
    widgets: BTreeMap<u32, Box<dyn Widget>>,
}

impl Engine {
    /// An engine with the model in a GGUF file.
    ///
    /// # Errors
    /// A file that is damaged, or holds a model that the library does not implement.
    pub fn new(gguf: Vec<u8>) -> Result<Self> {
        let device = device::open(DeviceChoice::Cpu)?;
        let pretrained = Pretrained::from_gguf(&gguf, "the weights", &device, Precision::F32)?;
        Ok(Self {
            gguf: gguf.leak(),
            pretrained: Box::leak(Box::new(pretrained)),
            widgets: BTreeMap::new(),
        })
    }

    /// Opens a widget of this kind, and returns the number by which it is asked.
    ///
    /// # Errors
    /// A kind that there is not.
    pub fn open(&mut self, kind: &str) -> Result<u32> {
        let model = self.pretrained;
        let widget: Box<dyn Widget> = match kind {
            "allowed" => Box::new(allowed::Allowed::new(model)),
            "anatomy" => Box::new(anatomy::Anatomy::new(self.gguf, model)),
            "candidates" => Box::new(candidates::Candidates::new(model)),
            "formats" => Box::new(formats::Formats::new(self.gguf)),
            "guess" => Box::new(guess::Guess::new(model)),
            "layout" => Box::new(layout::Layout::new(model)),
            "loops" => Box::new(loops::Loops::new(model)),
            "scheduler" => Box::new(scheduler::Scheduler::new(self.gguf)),
            "story" => Box::new(story::Story::new(model)),
            "tokens" => Box::new(tokens::Tokens::new(model)),
            "way" => Box::new(way::Way::new(model)),
            other => return Err(format!("there is no widget {other:?}").into()),
        };
        let number = self.widgets.len() as u32;
        self.widgets.insert(number, widget);
        Ok(number)
    }

    /// Asks a widget. Request and answer are JSON.
    ///
    /// # Errors
    /// A number that no widget has, and what the widget refuses.
    pub fn ask(&mut self, number: u32, request: &str) -> Result<String> {
        let widget = self.widgets.get_mut(&number).ok_or("there is no such widget")?;
        widget.answer(request)
    }
}
