//! Sizes and colours. Lengths are in CSS pixels, for a figure of [`WIDTH`].

use plotters::style::RGBColor;

/// Narrower than mdBook's column of 750, so that text is legible on a phone, where a figure is
/// about 350 wide: a tick label of 14 becomes 10.
pub const WIDTH: f64 = 480.0;
pub const MARGIN: f64 = 20.0;

pub const TITLE: f64 = 18.0;
pub const LABEL: f64 = 15.0;
pub const TICK: f64 = 14.0;

pub const PANEL: &str = "#FCFBF8";
pub const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
pub const MUTED: RGBColor = RGBColor(0x55, 0x55, 0x55);
pub const AXIS: RGBColor = RGBColor(0x77, 0x77, 0x77);
pub const GRID: RGBColor = RGBColor(0xE2, 0xE0, 0xDA);
pub const REMOVED: RGBColor = RGBColor(0xC4, 0xC2, 0xBB);

pub const BLUE: RGBColor = RGBColor(0x00, 0x72, 0xB2);
pub const VERMILLION: RGBColor = RGBColor(0xD5, 0x5E, 0x00);

/// The colours of Okabe and Ito, ordered for contrast with the background; yellow has too little.
pub const SERIES: [RGBColor; 7] = [
    BLUE,
    VERMILLION,
    RGBColor(0x00, 0x9E, 0x73),
    RGBColor(0xCC, 0x79, 0xA7),
    RGBColor(0xE6, 0x9F, 0x00),
    RGBColor(0x56, 0xB4, 0xE9),
    RGBColor(0x00, 0x00, 0x00),
];
