//! Figures: plain numbers in, a file out. The file's extension selects the format.
//!
//! | function | shows | formats |
//! |---|---|---|
//! | [`distributions`] | the next-token distribution at several temperatures | `.svg`, `.png`, `.gif` (one frame a temperature) |
//! | [`entropy`] | entropy and effective number of tokens against temperature | `.svg`, `.png` |
//! | [`survivors`] | which tokens a filter keeps, at several settings | `.svg`, `.png` |
//! | [`nucleus`] | how many tokens top-p keeps at each step, beside top-k | `.svg`, `.png` |
//! | [`batch_sizes`] | throughput and time per token against batch size | `.svg`, `.png` |
//! | [`timeline`] | what each step of a scheduler did for each sequence | `.svg`, `.png` |
//! | [`loss`] | a training run | `.svg`, `.png` |
//! | [`lines`] | line charts of any data | `.svg`, `.png` |
//!
//! The same input gives the same bytes. Nothing depends on the system, fonts included: a PNG or a
//! GIF uses Noto Sans, which is compiled in. An SVG contains text, shown in Noto Sans if the reader
//! has it, or else in another sans-serif font. Noto Sans covers the Latin, Greek and Cyrillic
//! alphabets: a PNG or a GIF shows other characters as boxes, an SVG uses the reader's fonts.
//!
//! A figure has its own opaque, nearly white background. An SVG in an `<img>` sees neither the
//! page's style sheet nor the theme that the reader has chosen in mdBook; `prefers-color-scheme`
//! follows the operating system, and would give light text on a light page.
//!
//! The colours are those of Okabe and Ito, which remain distinct in the common kinds of colour
//! blindness.

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
mod timeline;
mod token;

pub use axis::{Axis, Scale};
pub use batch_sizes::{BatchSizePoint, batch_sizes};
pub use distributions::{Distribution, distributions};
pub use entropy::entropy;
pub use error::{Error, Result};
pub use format::{Format, check_still};
pub use lines::{LineChart, Series, lines};
pub use loss::{LossPoint, loss};
pub use nucleus::{NucleusStep, nucleus};
pub use survivors::{Survivors, survivors};
pub use timeline::{TimelineMark, TimelineStep, timeline};
