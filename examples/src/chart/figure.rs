//! A drawing area in CSS pixels that is rendered to SVG.

use std::sync::OnceLock;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::register_font;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::error::{Error, Result};
use super::theme::{INK, MARGIN, PANEL, TITLE, WIDTH};

/// Noto Sans first: text is measured in it, and PNGs use it.
const FAMILY: &str = "Noto Sans, Helvetica, Arial, sans-serif";

/// The plotters backend has integer coordinates, too coarse for a smooth curve, so it gets this
/// many units per CSS pixel.
const UNITS: f64 = 10.0;

/// plotters divides the font size by this number when it writes SVG.
const SIZE_OF_EM: f64 = 1.24;

pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Converts CSS pixels to plotters units.
pub(super) fn units(pixels: f64) -> i32 {
    (pixels * UNITS).round() as i32
}

/// Converts an error of plotters to this crate's.
pub(super) fn failed(error: impl std::fmt::Display) -> Error {
    Error::Drawing(error.to_string())
}

/// The SVG of a figure of [`WIDTH`] by `height`. `title` is its heading and its accessible name.
pub(super) fn svg(
    height: f64,
    title: &str,
    draw: impl FnOnce(&Area<'_>) -> Result<()>,
) -> Result<String> {
    let size = (units(WIDTH) as u32, units(height) as u32);
    let mut drawn = String::new();
    {
        let area = SVGBackend::with_string(&mut drawn, size).into_drawing_area();
        if !title.is_empty() {
            let text = Text::new(TITLE).bold();
            text.draw(&area, (MARGIN, MARGIN), &text.fit(title, WIDTH - 2.0 * MARGIN)?)?;
        }
        draw(&area)?;
        area.present().map_err(failed)?;
    }

    // The root element is replaced, because plotters makes one unit one pixel.
    let (_, content) = drawn.split_once('\n').unwrap_or_default();
    let (width, height) = size;
    let (css_width, css_height) = (f64::from(width) / UNITS, f64::from(height) / UNITS);
    let corner = units(8.0);
    let title = escape(title);
    Ok(format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{css_width}" height="{css_height}" viewBox="0 0 {width} {height}" role="img">
<title>{title}</title>
<rect width="{width}" height="{height}" rx="{corner}" fill="{PANEL}"/>
{content}"#
    ))
}

/// Fills the rectangle between two corners, in CSS pixels.
pub(super) fn fill(area: &Area<'_>, corners: [(f64, f64); 2], color: RGBColor) -> Result<()> {
    let corners = corners.map(|(x, y)| (units(x), units(y)));
    area.draw(&Rectangle::new(corners, color.filled())).map_err(failed)
}

/// The style and the anchor of a piece of text.
#[derive(Clone, Copy)]
pub(super) struct Text {
    size: f64,
    color: RGBColor,
    bold: bool,
    upwards: bool,
    anchor: Pos,
}

impl Text {
    /// Anchored at the top left.
    pub fn new(size: f64) -> Self {
        let anchor = Pos::new(HPos::Left, VPos::Top);
        Self { size, color: INK, bold: false, upwards: false, anchor }
    }

    pub fn color(self, color: RGBColor) -> Self {
        Self { color, ..self }
    }

    pub fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    /// Reads from bottom to top.
    pub fn upwards(self) -> Self {
        Self { upwards: true, ..self }
    }

    pub fn anchor(self, h_pos: HPos, v_pos: VPos) -> Self {
        let anchor = Pos::new(h_pos, v_pos);
        Self { anchor, ..self }
    }

    /// The style in plotters' type.
    pub fn style(self) -> TextStyle<'static> {
        let weight = if self.bold {
            FontStyle::Bold
        } else {
            FontStyle::Normal
        };
        let turn = if self.upwards {
            FontTransform::Rotate270
        } else {
            FontTransform::None
        };
        let size = self.size * UNITS * SIZE_OF_EM;
        (FAMILY, size, weight).into_font().transform(turn).color(&self.color).pos(self.anchor)
    }

    pub fn draw(self, area: &Area<'_>, (x, y): (f64, f64), text: &str) -> Result<()> {
        let at = (units(x), units(y));
        area.draw_text(&printable(text), &self.style(), at).map_err(failed)
    }

    /// `text`, truncated to `width` CSS pixels.
    fn fit(self, text: &str, width: f64) -> Result<String> {
        // No figure has room for more characters.
        let mut kept: String = text.chars().take(200).collect();
        let mut cut = if kept.len() < text.len() { "…" } else { "" };
        // Widths are measured in regular weight; bold is wider.
        while 1.08 * self.width(&kept)? > width && kept.pop().is_some() {
            cut = "…";
        }
        Ok(kept + cut)
    }

    /// The width of `text` in CSS pixels, in Noto Sans; other fonts are a little wider or narrower.
    pub fn width(self, text: &str) -> Result<f64> {
        register_fonts()?;
        // plotters takes the size as the line height, which is 1.362 em in Noto Sans.
        let units_per_em = 1.362 * self.size * UNITS;
        let (width, _) = (FAMILY, units_per_em).into_font().box_size(text).map_err(failed)?;
        Ok(f64::from(width) / UNITS)
    }
}

/// The greatest width of `texts` in CSS pixels.
pub(super) fn widest(style: Text, texts: &[String]) -> Result<f64> {
    texts.iter().try_fold(0.0, |widest: f64, text| Ok(widest.max(style.width(text)?)))
}

fn register_fonts() -> Result<()> {
    static REGISTERED: OnceLock<bool> = OnceLock::new();
    let register = || register_font(FAMILY, FontStyle::Normal, notosans::REGULAR_TTF).is_ok();
    if *REGISTERED.get_or_init(register) {
        return Ok(());
    }
    Err(failed("the font that is compiled in cannot be read"))
}

/// `text` without the characters that XML forbids.
fn printable(text: &str) -> String {
    let allowed = |c: char| !c.is_control() && !matches!(c, '\u{fffe}' | '\u{ffff}');
    text.chars()
        .map(|c| {
            if allowed(c) {
                c
            } else {
                char::REPLACEMENT_CHARACTER
            }
        })
        .collect()
}

fn escape(text: &str) -> String {
    printable(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
