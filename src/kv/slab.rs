//! The memory of blocks on a GPU: one tensor for each layer, with a slot for each block.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use burn::tensor::{DType, Device, Tensor, s};

use crate::cube::blocks::{SlotShape, copy_slot};
use crate::cube::{attention, memory_of};
use crate::device::{has_cubes, in_one_queue};
use crate::error::{RequestError, Result};
use crate::kernels::{BLOCK, KvFormat};
use crate::model::config::KvHeads;

/// How many slots a slab has at least.
const FEWEST: usize = 16;

/// The most slots of a slab: the place of each position is a u32.
const MOST: usize = u32::MAX as usize / BLOCK;

/// The slots of all blocks of a pool. A slab grows as they are needed: the device copies what is in them. It keeps
/// its memory: to grow again, the device would have to allocate and check every layer before the next prompt.
#[derive(Debug)]
pub(crate) struct Slab {
    /// Of each layer.
    shapes: Vec<SlotShape>,
    device: Device,
    dtype: DType,
    /// How many slots the budget has.
    most: usize,
    usage: Mutex<Usage>,
    /// For each layer `[slots, 2, n_kv_heads, 32 * head_dim]`, in one dimension. Empty without slots.
    layers: Mutex<Vec<Tensor<1>>>,
    /// Held during a pass, whose slots must stay where they are.
    pass: Mutex<()>,
}

/// Which slots there are, and which of them are free.
#[derive(Debug, Default)]
struct Usage {
    slots: usize,
    free: Vec<u32>,
}

/// The place of a block in a slab, which gets it back on drop.
#[derive(Debug)]
pub struct Slot {
    index: u32,
    slab: Arc<Slab>,
}

impl Slab {
    /// An empty slab of up to `budget` bytes, for blocks whose numbers are stored as `format`. None where no
    /// kernel computes with such blocks on the device.
    pub(super) fn of(
        layers: &[KvHeads],
        device: &Device,
        format: KvFormat,
        budget: usize,
    ) -> Option<Arc<Self>> {
        let (dtype, int8) = (format.dtype(), format == KvFormat::Int8);
        let shape =
            |&KvHeads { n_kv_heads, head_dim, .. }| SlotShape { n_kv_heads, head_dim, int8 };
        let shapes: Vec<SlotShape> = layers.iter().map(shape).collect();
        let fits = || shapes.iter().all(|shape| attention::fits(shape.head_dim));
        let has_kernels = has_cubes(device) && fits();
        (has_kernels && device.supports_dtype(dtype)).then(|| {
            Arc::new(Self {
                most: budget / slot_bytes(&shapes, dtype).max(1),
                shapes,
                device: device.clone(),
                dtype,
                usage: Mutex::default(),
                layers: Mutex::default(),
                pass: Mutex::default(),
            })
        })
    }

    /// The memory of a slot in all layers, in bytes.
    pub(super) fn slot_bytes(&self) -> usize {
        slot_bytes(&self.shapes, self.dtype)
    }

    /// The dimensions of a slot in a layer.
    pub(crate) fn shape(&self, layer: usize) -> SlotShape {
        self.shapes[layer]
    }

    /// Where the slots are, and the type of their tensors.
    pub(crate) fn stored(&self) -> (&Device, DType) {
        (&self.device, self.dtype)
    }

    /// The dimensions that slots have, each of them once.
    pub(crate) fn kinds(&self) -> Vec<SlotShape> {
        let mut kinds = Vec::new();
        for shape in &self.shapes {
            if !kinds.contains(shape) {
                kinds.push(*shape);
            }
        }
        kinds
    }

    /// Takes so many slots. What they hold is undefined.
    ///
    /// # Errors
    /// The device has too little memory. Nothing has changed then.
    pub(super) fn take(self: &Arc<Self>, count: usize) -> Result<Vec<Slot>> {
        let mut usage = lock(&self.usage);
        let needed = usage.slots.saturating_add(count).saturating_sub(usage.free.len());
        if needed > usage.slots {
            let doubled = (2 * usage.slots).max(FEWEST).min(self.most).max(needed);
            let old = usage.slots;
            let grow = |new| in_one_queue(&self.device, || self.grow(old, new)).map(|()| new);
            let slots = grow(doubled).or_else(|_| grow(needed))?;
            let new = usage.slots as u32..slots as u32;
            usage.free.splice(0..0, new.rev());
            usage.slots = slots;
        }
        let kept = usage.free.len() - count;
        let taken = usage.free.split_off(kept).into_iter().rev();
        Ok(taken.map(|index| Slot { index, slab: Arc::clone(self) }).collect())
    }

    /// Moves what is in the first `old` slots to a memory of `new` slots, one layer after the other.
    fn grow(&self, old: usize, new: usize) -> Result<()> {
        let too_large = || RequestError::CacheTooLarge {
            tokens: new.saturating_mul(BLOCK),
            bytes: new as u128 * self.slot_bytes() as u128,
        };
        let numbers = self.shapes.iter().map(|shape| shape.numbers());
        let largest = new as u128 * (numbers.max().unwrap_or(0) * self.dtype.size()) as u128;
        let all = new as u128 * self.slot_bytes() as u128;
        if new > MOST || !memory_of(&self.device).holds(largest, all) {
            return Err(too_large().into());
        }
        let _pass = self.hold();
        let mut layers = lock(&self.layers);
        for (layer, shape) in self.shapes.iter().enumerate() {
            let numbers = shape.numbers();
            let all = Tensor::<1>::empty([new * numbers], (&self.device, self.dtype));
            let all = match layers.get(layer) {
                Some(slots) if old > 0 => {
                    all.slice_assign(s![..old * numbers], slots.clone().slice(s![..old * numbers]))
                }
                _ => all,
            };
            // An allocation that has failed is an error of what reads it.
            let read = all.clone().slice(s![..1]).cast(DType::F32).try_into_vec_as::<f32>();
            read.map_err(|_| too_large())?;
            // A layer with more slots than the others does no harm, so the old one can go now.
            match layers.get_mut(layer) {
                Some(slots) => *slots = all,
                None => layers.push(all),
            }
        }
        self.device.memory_cleanup();
        Ok(())
    }

    /// Waits until no pass computes, and lets none begin as long as the result lives.
    pub(crate) fn hold(&self) -> MutexGuard<'_, ()> {
        lock(&self.pass)
    }

    /// The slots of a layer, `[slots, 2, n_kv_heads, 32 * head_dim]` in one dimension. The kernels write to
    /// them in place.
    pub(crate) fn layer(&self, layer: usize) -> Tensor<1> {
        lock(&self.layers)[layer].clone()
    }

    /// How many slots there are: with more, the layers are elsewhere.
    pub(crate) fn slots(&self) -> usize {
        let layers = lock(&self.layers);
        layers.first().map_or(0, |layer| layer.dims()[0] / self.shapes[0].numbers())
    }

    /// Copies the keys and values of all layers.
    fn copy(&self, from: u32, to: u32) {
        in_one_queue(&self.device, || {
            for (slots, shape) in lock(&self.layers).iter().zip(&self.shapes) {
                copy_slot(slots, from, to, *shape);
            }
        });
    }
}

impl Slot {
    /// Its number in the slab.
    pub(crate) fn index(&self) -> u32 {
        self.index
    }

    /// Copies the keys and values of another slot of the slab.
    pub(super) fn copy_from(&mut self, other: &Self) {
        self.slab.copy(other.index, self.index);
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        lock(&self.slab.usage).free.push(self.index);
    }
}

fn slot_bytes(shapes: &[SlotShape], dtype: DType) -> usize {
    shapes.iter().map(|shape| shape.numbers() * dtype.size()).sum()
}

/// A thread that panicked has left nothing half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use burn::tensor::{Int, TensorData};

    use super::*;
    use crate::cube::blocks::append;
    use crate::cube::devices;
    use crate::error::Error;

    const LAYERS: [KvHeads; 2] = [KvHeads::new(1, 4); 2];

    /// Writes a key and a value to the first position of a slot, in the second layer.
    fn write(slab: &Slab, slot: &Slot, number: f32) {
        let row = |number| Tensor::<2>::full([1, 4], number, &slab.device);
        let place = TensorData::new(vec![slot.index() * BLOCK as u32], [1]);
        let place = Tensor::<1, Int>::from_data(place, (&slab.device, DType::U32));
        in_one_queue(&slab.device, || {
            append(&slab.layer(1), row(number), row(-number), &place, slab.shape(1));
        });
    }

    /// The first number of the first key of a slot, in the second layer.
    fn read(slab: &Slab, slot: &Slot) -> f32 {
        let first = slot.index() as usize * slab.shape(1).numbers();
        in_one_queue(&slab.device, || {
            let number = slab.layer(1).slice(s![first..first + 1]);
            number.try_into_vec_as::<f32>().unwrap()[0]
        })
    }

    #[test]
    fn a_slab_keeps_what_it_holds_as_it_grows() {
        for device in devices() {
            let slab = Slab::of(&LAYERS, &device, KvFormat::F32, usize::MAX).unwrap();
            assert_eq!(slab.slot_bytes(), 2 * 2 * 4 * 32 * 4);
            let mut few = slab.take(2).unwrap();
            write(&slab, &few[0], 7.0);
            let many = slab.take(40).unwrap();
            assert_eq!(slab.layer(0).dims(), [42 * slab.shape(1).numbers()], "{device:?}");
            write(&slab, &many[39], 9.0);
            let [first, second] = &mut few[..] else {
                panic!("{few:?}");
            };
            second.copy_from(first);
            let found = [&few[0], &few[1], &many[39]].map(|slot| read(&slab, slot));
            assert_eq!(found, [7.0, 7.0, 9.0], "{device:?}");
            let mut indices: Vec<u32> = few.iter().chain(&many).map(Slot::index).collect();
            indices.sort_unstable();
            assert_eq!(indices, (0..42).collect::<Vec<_>>());
            drop(many);
            assert_eq!(read(&slab, &few[0]), 7.0);
            drop(few);
            assert_eq!(slab.take(42).unwrap().len(), 42);
            assert_eq!(slab.layer(0).dims(), [42 * slab.shape(1).numbers()], "it grows no further");
        }
    }

    #[test]
    fn a_slab_grows_no_further_than_its_budget() {
        for device in devices() {
            let slots = |slots: usize| slots * 2 * 2 * 4 * 32 * 4;
            let slab = Slab::of(&LAYERS, &device, KvFormat::F32, slots(20) + 1).unwrap();
            let mut taken = slab.take(17).unwrap();
            taken.extend(slab.take(1).unwrap());
            assert_eq!(slab.layer(0).dims(), [20 * slab.shape(1).numbers()], "{device:?}");
        }
    }

    #[test]
    fn more_than_the_device_holds_is_an_error_and_nothing_is_taken() {
        for device in devices() {
            let slab = Slab::of(&LAYERS, &device, KvFormat::F32, usize::MAX).unwrap();
            let few = slab.take(1).unwrap();
            for count in [1 << 30, 1 << 40, usize::MAX] {
                let error = slab.take(count).unwrap_err();
                let is_too_large =
                    matches!(error, Error::Request(RequestError::CacheTooLarge { .. }));
                assert!(is_too_large, "{device:?}: {error}");
            }
            assert_eq!(slab.take(15).unwrap().len(), 15);
            assert_eq!(slab.layer(0).dims(), [16 * slab.shape(1).numbers()]);
            drop(few);
        }
    }
}
