//! Blocks of keys and values on a GPU: how they are laid out, and how they are written.
//!
//! The blocks of a layer are the slots of one tensor, `[slots, 2, n_kv_heads, 32 * head_dim]`: the keys of
//! each head are `[head_dim, 32]`, its values are `[32, head_dim]`, as in the blocks of the CPU. Units that
//! take 32 positions each read neighbours in both. Where they are in [`int8`], the layer is of words.

pub(super) mod int8;

use burn::backend::cubecl::dtype_to_storage_type;
use burn::tensor::{DType, Int, Tensor};
use burn_cubecl::cubecl;
use burn_cubecl::kernel::into_contiguous;
use burn_cubecl::tensor::CubeTensor;
use cubecl::prelude::{Tensor as Buffer, *};

use super::{address_type, element, into_cube, one_unit_each};
use crate::kernels::BLOCK;

/// The dimensions of a block in one layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct SlotShape {
    pub(crate) n_kv_heads: usize,
    pub(crate) head_dim: usize,
    /// Whether the numbers are 8-bit integers, four in a word, and not those of the tensor's type.
    pub(crate) int8: bool,
}

impl SlotShape {
    /// How many numbers a slot has, or words: the keys and the values of 32 positions.
    pub(crate) fn numbers(self) -> usize {
        2 * self.n_kv_heads * self.head_numbers()
    }

    /// As [`numbers`](Self::numbers), of the keys of one head, or of its values.
    pub(super) fn head_numbers(self) -> usize {
        let of_position = match self.int8 {
            true => self.words() + self.groups(),
            false => self.head_dim,
        };
        BLOCK * of_position
    }
}

/// What the kernels take the numbers of a layer for.
pub(super) fn slot_element(slots: &CubeTensor, shape: SlotShape) -> ElemType {
    match shape.int8 {
        true => dtype_to_storage_type(DType::U32),
        false => element(slots),
    }
}

/// Writes keys and values, both `[rows, n_kv_heads * head_dim]`, into the slots of a layer, in place.
/// `places` has the place of each row in its first numbers, `[rows, ...]` as u32: 32 times its slot, and
/// its position in the block.
pub(crate) fn append(
    slots: &Tensor<1>,
    keys: Tensor<2>,
    values: Tensor<2>,
    places: &Tensor<1, Int>,
    shape: SlotShape,
) {
    let (slots, places) = (into_cube(slots.clone()), into_cube(places.clone()));
    let [keys, values] = [keys, values].map(|x| into_contiguous(into_cube(x)));
    if shape.int8 {
        return append_int8(&slots, keys, values, places, shape);
    }
    let (count, dim) = one_unit_each(&slots, keys.meta.num_elements());
    let elements = [element(&keys), element(&slots)];
    // SAFETY: the places are those of slots that the layer has.
    unsafe {
        append_rows::launch_unchecked(
            &slots.client,
            count,
            dim,
            address_type([&slots, &keys]),
            keys.into_tensor_arg(),
            values.into_tensor_arg(),
            places.into_tensor_arg(),
            slots.clone().into_tensor_arg(),
            shape,
            elements,
        );
    }
}

/// Copies what is in slot `from` of a layer to slot `to`, in place.
pub(crate) fn copy_slot(slots: &Tensor<1>, from: u32, to: u32, shape: SlotShape) {
    let (slots, numbers) = (into_cube(slots.clone()), shape.numbers());
    let (count, dim) = one_unit_each(&slots, numbers);
    // SAFETY: both slots are of the layer.
    unsafe {
        copy_numbers::launch_unchecked(
            &slots.client,
            count,
            dim,
            address_type([&slots]),
            slots.clone().into_tensor_arg(),
            from as usize * numbers,
            to as usize * numbers,
            numbers,
            element(&slots),
        );
    }
}

fn append_int8(
    slots: &CubeTensor,
    keys: CubeTensor,
    values: CubeTensor,
    places: CubeTensor,
    shape: SlotShape,
) {
    let rows = keys.meta.num_elements() / (shape.n_kv_heads * shape.head_dim);
    let groups = rows * shape.n_kv_heads * shape.groups();
    let (count, dim) = one_unit_each(slots, groups);
    let numbers = element(&keys);
    // SAFETY: the places are those of slots that the layer has, which is of words.
    unsafe {
        int8::append_groups::launch_unchecked(
            &slots.client,
            count,
            dim,
            address_type([slots, &keys]),
            keys.into_tensor_arg(),
            values.into_tensor_arg(),
            places.into_tensor_arg(),
            slots.clone().into_tensor_arg(),
            groups,
            shape,
            numbers,
        );
    }
}

/// A unit copies one number.
#[cube(launch_unchecked, address_type = "dynamic")]
fn copy_numbers<K: Float>(
    slots: &mut Buffer<K>,
    from: usize,
    to: usize,
    numbers: usize,
    #[define(K)] _element: ElemType,
) {
    if ABSOLUTE_POS >= numbers {
        terminate!();
    }
    slots[to + ABSOLUTE_POS] = slots[from + ABSOLUTE_POS];
}

// ANCHOR: append_rows
/// A unit takes one number of the keys and the same of the values.
#[cube(launch_unchecked, address_type = "dynamic")]
fn append_rows<T: Float, K: Float>(
    keys: &Buffer<T>,
    values: &Buffer<T>,
    places: &Buffer<u32>,
    slots: &mut Buffer<K>,
    #[comptime] shape: SlotShape,
    #[define(T, K)] _elements: [ElemType; 2],
) {
    if ABSOLUTE_POS >= keys.len() {
        terminate!();
    }
    let head_dim = comptime!(shape.head_dim);
    let n_kv_heads = comptime!(shape.n_kv_heads);
    let head_size = comptime!(shape.head_numbers());
    let row = ABSOLUTE_POS / (n_kv_heads * head_dim);
    let head = ABSOLUTE_POS / head_dim % n_kv_heads;
    let i = ABSOLUTE_POS % head_dim;
    let place = places[row] as usize;
    let position = place % BLOCK;
    let key_head = (place / BLOCK * 2 * n_kv_heads + head) * head_size;
    let value_head = key_head + n_kv_heads * head_size;
    slots[key_head + i * BLOCK + position] = K::cast_from(keys[ABSOLUTE_POS]);
    slots[value_head + position * head_dim + i] = K::cast_from(values[ABSOLUTE_POS]);
}
// ANCHOR_END: append_rows

#[cfg(test)]
mod tests {
    use burn::tensor::{Device, TensorData};

    use super::*;
    use crate::cube::devices;

    const SHAPE: SlotShape = SlotShape { n_kv_heads: 2, head_dim: 3, int8: false };

    /// Numbers that say which they are.
    fn rows(rows: usize, first: usize, device: &Device) -> Tensor<2> {
        let numbers: Vec<f32> = (first..first + rows * 6).map(|i| i as f32).collect();
        Tensor::from_data(TensorData::new(numbers, [rows, 6]), device)
    }

    /// Rows of two sequences, the second of which goes on in another slot.
    #[test]
    fn rows_are_written_to_their_places_and_nowhere_else() {
        let places = [2 * 32 + 5, 31, 32, 1];
        for device in devices() {
            let slots = Tensor::<1>::full([3 * SHAPE.numbers()], -1.0, &device);
            let table = TensorData::new(places.map(|place| place as u32).to_vec(), [4]);
            let table = Tensor::<1, Int>::from_data(table, (&device, DType::U32));
            append(&slots, rows(4, 0, &device), rows(4, 100, &device), &table, SHAPE);
            let mut expected = vec![-1.0; 3 * SHAPE.numbers()];
            for (row, place) in places.into_iter().enumerate() {
                for (head, i) in (0..2).flat_map(|head| (0..3).map(move |i| (head, i))) {
                    let (slot, position) = (place / 32 * SHAPE.numbers(), place % 32);
                    let number = (row * 6 + head * 3 + i) as f32;
                    expected[slot + head * 96 + i * 32 + position] = number;
                    expected[slot + 192 + head * 96 + position * 3 + i] = 100.0 + number;
                }
            }
            let found = slots.try_into_vec_as::<f32>().unwrap();
            assert_eq!(found, expected, "{device:?}");
        }
    }
}
