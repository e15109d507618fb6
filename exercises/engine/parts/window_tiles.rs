use your_engine::Parts;
use your_engine::parts::TileKind;

use super::window_tiles::{Tile, window_tiles};

pub fn take_over(parts: &mut Parts) {
    parts.window_tiles = |queries, window, size| {
        let kind = |kind| match kind {
            Tile::Whole => TileKind::Whole,
            Tile::Edge => TileKind::Edge,
        };
        let tiles = window_tiles(queries, window, size).into_iter();
        tiles.map(|(number, tile)| (number, kind(tile))).collect()
    };
}
