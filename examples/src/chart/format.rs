use std::fs;
use std::path::Path;

use super::error::{Error, Result};
use super::figure::failed;
use super::{gif, raster};

/// The file format of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Svg,
    Png,
    /// An animation.
    Gif,
}

impl Format {
    /// The format of a file by its extension, in any case.
    ///
    /// # Errors
    /// An extension other than `.svg`, `.png` and `.gif`, or none.
    pub fn of(path: &Path) -> Result<Self> {
        let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
        match extension.to_str() {
            Some("svg") => Ok(Format::Svg),
            Some("png") => Ok(Format::Png),
            Some("gif") => Ok(Format::Gif),
            _ => Err(Error::Format {
                path: path.to_path_buf(),
                allowed: "`.svg`, `.png`, or `.gif` where the chart moves",
            }),
        }
    }
}

/// Rejects a file for a chart without animation.
///
/// # Errors
/// An extension other than `.svg` and `.png`, or none.
pub fn check_still(path: &Path) -> Result<()> {
    Still::of(path).map(drop)
}

/// The file format of a chart without animation.
#[derive(Debug, Clone, Copy)]
pub(super) enum Still {
    Svg,
    Png,
}

impl Still {
    /// As [`Format::of`]; a `.gif` is refused too.
    pub fn of(path: &Path) -> Result<Self> {
        match Format::of(path)? {
            Format::Svg => Ok(Still::Svg),
            Format::Png => Ok(Still::Png),
            Format::Gif => Err(Error::Format {
                path: path.to_path_buf(),
                allowed: "`.svg` or `.png`, as this chart does not move",
            }),
        }
    }

    pub fn write(self, path: &Path, svg: &str) -> Result<()> {
        match self {
            Still::Svg => write_bytes(path, svg.as_bytes()),
            Still::Png => {
                let pixels = raster::pixels(svg, PNG_SCALE)?;
                write_bytes(path, &pixels.encode_png().map_err(failed)?)
            }
        }
    }
}

/// Pixels of a PNG per CSS pixel, for high-resolution screens.
const PNG_SCALE: f32 = 2.0;

/// Writes an animation of drawings, each with its delay in hundredths of a second.
pub(super) fn write_animation(path: &Path, drawings: &[(String, u16)]) -> Result<()> {
    let frame = |(svg, delay): &(String, u16)| Ok((raster::pixels(svg, 1.0)?, *delay));
    let frames = drawings.iter().map(frame).collect::<Result<Vec<_>>>()?;
    write_bytes(path, &gif::encode(&frames)?)
}

fn write_bytes(path: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(path, bytes).map_err(|source| Error::Write { path: path.to_path_buf(), source })
}
