//! Figures: plain numbers in, a file out. The name of the file chooses the format.
//!
//! | function | shows | formats |
//! |---|---|---|
//! | [`distributions`] | the next-token distribution at several temperatures | `.svg`, `.png`, `.gif` (one frame a temperature) |
//! | [`entropy`] | entropy and effective number of tokens against temperature | `.svg`, `.png` |
//! | [`survivors`] | which tokens a filter keeps, at several settings | `.svg`, `.png` |
//! | [`nucleus`] | how many tokens top-p keeps at each step, beside top-k | `.svg`, `.png` |
//! | [`batch_sizes`] | throughput and time per token against the size of the batch | `.svg`, `.png` |
//! | [`loss`] | a training run | `.svg`, `.png` |
//! | [`lines`] | any numbers against any others | `.svg`, `.png` |
//!
//! The same input gives the same bytes. Nothing is read from the system, fonts included: the
//! letters of a PNG or a GIF come from Noto Sans, which is compiled in. An SVG holds its text as
//! text, in Noto Sans where the reader has it and else in another sans-serif font. That font has the
//! Latin, Greek and Cyrillic alphabets: a PNG or a GIF shows other letters as boxes, an SVG whatever
//! the reader's fonts have.
//!
//! A figure has an opaque, nearly white panel of its own. An SVG in an `<img>` sees neither the
//! page's style sheet nor which theme the reader has chosen in mdBook; `prefers-color-scheme`
//! would follow the operating system instead, and give light text on a light page.
//!
//! Colours are those of Okabe and Ito, which stay apart in the common kinds of colour blindness.

mod axis;
mod batch_sizes;
mod distributions;
mod entropy;
mod error;
mod figure;
mod format;
mod gif;
mod lines;
mod loss;
mod nucleus;
mod plane;
mod probability;
mod raster;
mod survivors;
mod theme;
mod token;

pub use axis::{Axis, Scale};
pub use batch_sizes::{BatchSizePoint, batch_sizes};
pub use distributions::{Distribution, distributions};
pub use entropy::entropy;
pub use error::{Error, Result};
pub use format::Format;
pub use lines::{LineChart, Series, lines};
pub use loss::{LossPoint, loss};
pub use nucleus::{NucleusStep, nucleus};
pub use survivors::{Survivors, survivors};
