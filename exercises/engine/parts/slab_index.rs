use your_engine::Parts;
use your_engine::parts::{SlabHalf, SlabShape, SlabTable};

use super::slab_index::{Part, Rows, Shape, Table, append, index, places};

pub fn take_over(parts: &mut Parts) {
    parts.slab_places = |slots, start, count| {
        places(&[Rows { table: table(slots), start, count }])
    };
    parts.slab_indices = |of_layer, slots, half, head, positions| {
        let (shape, table) = (shape(of_layer), table(slots));
        let part = match half {
            SlabHalf::Keys => Part::Keys,
            SlabHalf::Values => Part::Values,
        };
        let of_position = |position| {
            let (shape, table) = (shape, &table);
            (0..shape.head_dim).map(move |i| index(shape, table, part, head, position, i))
        };
        (0..positions).flat_map(of_position).collect()
    };
    parts.slab_append = |unit, of_layer, [keys, values], places, slab| {
        append(unit, shape(of_layer), keys, values, places, slab);
    };
}

fn shape(SlabShape { n_kv_heads, head_dim }: SlabShape) -> Shape {
    Shape { n_kv_heads, head_dim }
}

fn table(table: &SlabTable) -> Table {
    Table { slots: table.slots.clone(), first_block: 0 }
}
