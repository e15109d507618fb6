use your_engine::Parts;
use your_engine::parts::UnitPlace;

use super::launch_grid::{Place, cubes, launch, scale};

pub fn take_over(parts: &mut Parts) {
    parts.cubes = cubes;
    parts.launch = |cubes, units, kernel| {
        launch(cubes, units, &mut |Place { cube, unit, cubes, units }| {
            kernel(UnitPlace { cube, unit, cubes, units });
        });
    };
    parts.scale = |UnitPlace { cube, unit, cubes, units }, x, weight, out| {
        scale(Place { cube, unit, cubes, units }, x, weight, out);
    };
}
