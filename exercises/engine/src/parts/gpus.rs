//! What the parts for GPUs take and return. The types have the same fields as in the exercises.

/// Where a unit is in a launch.
#[derive(Debug, Clone, Copy)]
pub struct UnitPlace {
    pub cube: usize,
    pub unit: usize,
    pub cubes: usize,
    pub units: usize,
}

/// What runs once for each unit.
pub type UnitKernel<'a> = dyn FnMut(UnitPlace) + 'a;

/// The sizes of the keys and values of a layer.
#[derive(Debug, Clone, Copy)]
pub struct SlabShape {
    pub n_kv_heads: usize,
    pub head_dim: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlabHalf {
    Keys,
    Values,
}

/// The slots of a text, from its first block on.
#[derive(Debug, Clone)]
pub struct SlabTable {
    pub slots: Vec<u32>,
}
