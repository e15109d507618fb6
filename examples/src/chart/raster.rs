//! Rasterizes the SVG, so that every format shows the same drawing.

use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use super::error::Result;
use super::figure::failed;

static FONTS: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(notosans::REGULAR_TTF.to_vec());
    fonts.load_font_data(notosans::BOLD_TTF.to_vec());
    Arc::new(fonts)
});

/// `svg` rasterized at `scale` pixels per CSS pixel.
pub(super) fn pixels(svg: &str, scale: f32) -> Result<Pixmap> {
    let options = Options { fontdb: FONTS.clone(), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(failed)?;
    let size = tree.size().to_int_size().scale_by(scale);
    let empty = size.and_then(|size| Pixmap::new(size.width(), size.height()));
    let mut pixels = empty.ok_or_else(|| failed("the figure has no size"))?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    Ok(pixels)
}
