//! Encodes frames as a GIF animation. A chart has few colours, so all frames share one palette, and
//! unchanged pixels are transparent, which keeps the file small.

use std::borrow::Cow;
use std::collections::BTreeMap;

use gif::{Encoder, Frame, Repeat};
use resvg::tiny_skia::Pixmap;

use super::error::Result;
use super::figure::failed;

type Rgb = [u8; 3];

/// The palette index of transparency. The other 255 are colours.
const TRANSPARENT: u8 = 255;

/// Encodes an animation that loops forever. Each frame has its delay in hundredths of a second; all
/// frames have the same size.
pub(super) fn encode(frames: &[(Pixmap, u16)]) -> Result<Vec<u8>> {
    let Some((first, _)) = frames.first() else {
        return Err(failed("an animation needs a frame"));
    };
    let too_large = |_| failed("the figure is too large for a GIF");
    let width = u16::try_from(first.width()).map_err(too_large)?;
    let height = u16::try_from(first.height()).map_err(too_large)?;

    let palette = Palette::of(frames.iter().flat_map(|(pixels, _)| colors(pixels)).flatten());
    let mut file = Vec::new();
    let mut encoder =
        Encoder::new(&mut file, width, height, palette.colors.as_flattened()).map_err(failed)?;
    encoder.set_repeat(Repeat::Infinite).map_err(failed)?;
    let mut below: Vec<Option<Rgb>> = vec![None; usize::from(width) * usize::from(height)];
    for (pixels, delay) in frames {
        let shown: Vec<_> = colors(pixels).collect();
        let changed = shown.iter().zip(&below).map(|(now, before)| match now {
            Some(color) if now != before => palette.indices[color],
            _ => TRANSPARENT,
        });
        let frame = Frame {
            width,
            height,
            delay: *delay,
            transparent: Some(TRANSPARENT),
            buffer: Cow::Owned(changed.collect()),
            ..Frame::default()
        };
        encoder.write_frame(&frame).map_err(failed)?;
        below = shown;
    }
    drop(encoder);
    Ok(file)
}

/// The colour of each pixel; `None` outside the rounded corners.
fn colors(pixels: &Pixmap) -> impl Iterator<Item = Option<Rgb>> + '_ {
    pixels.pixels().iter().map(|pixel| {
        let color = pixel.demultiply();
        (color.alpha() >= 128).then(|| [color.red(), color.green(), color.blue()])
    })
}

struct Palette {
    colors: Vec<Rgb>,
    /// The palette index of every colour in the frames.
    indices: BTreeMap<Rgb, u8>,
}

impl Palette {
    /// The 255 most frequent colours of `pixels`; the others, which are antialiased edges, map to
    /// the nearest of these.
    fn of(pixels: impl Iterator<Item = Rgb>) -> Self {
        let mut counts = BTreeMap::<Rgb, usize>::new();
        for color in pixels {
            *counts.entry(color).or_default() += 1;
        }
        let mut by_count: Vec<(Rgb, usize)> = counts.into_iter().collect();
        by_count.sort_by_key(|&(color, count)| (std::cmp::Reverse(count), color));

        let all: Vec<Rgb> = by_count.into_iter().map(|(color, _)| color).collect();
        let kept = &all[..all.len().min(usize::from(TRANSPARENT))];
        let nearest = |color: Rgb| (0..).zip(kept).min_by_key(|&(_, &kept)| distance(color, kept));
        let indices = all.iter().filter_map(|&color| Some((color, nearest(color)?.0))).collect();
        let mut colors = kept.to_vec();
        colors.resize(256, [0; 3]);
        Self { colors, indices }
    }
}

fn distance(a: Rgb, b: Rgb) -> u32 {
    a.iter().zip(b).map(|(&a, b)| u32::from(a.abs_diff(b)).pow(2)).sum()
}
