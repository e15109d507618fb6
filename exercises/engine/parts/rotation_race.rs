use your_engine::Parts;
use your_engine::parts::UnitPlace;

use super::rotation_race::{Place, cubes, rotate};

pub fn take_over(parts: &mut Parts) {
    parts.rotation_cubes = cubes;
    parts.rotate = |UnitPlace { cube, unit, units, .. }, x, cos, sin| {
        rotate(Place { cube, unit, units }, x, cos, sin);
    };
}
