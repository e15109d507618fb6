//! Launches that are recorded once, and then replayed by one call (CUDA says graph).

use burn::tensor::{Device, Int, Tensor, TensorData};
use burn_cubecl::cubecl::client::Graph;
use burn_cubecl::tensor::CubeTensor;

use super::{client, from_cube, into_cube, launches};

/// A list of numbers that the host gives to launches, `[length]`. Its place in memory stays the same.
#[derive(Debug)]
pub(crate) struct List(CubeTensor);

impl List {
    /// Memory on a device, with these numbers.
    pub(crate) fn new(numbers: TensorData, device: &Device) -> Self {
        let dtype = numbers.dtype();
        Self(if dtype.is_float() {
            into_cube(Tensor::<1>::from_data(numbers, (device, dtype)))
        } else {
            into_cube(Tensor::<1, Int>::from_data(numbers, (device, dtype)))
        })
    }

    /// Writes as many numbers of the same type in place of the old ones.
    pub(crate) fn write(&self, numbers: TensorData) {
        self.0.client.write(&self.0.handle, numbers.into_bytes());
    }

    pub(crate) fn ints(&self) -> Tensor<1, Int> {
        from_cube(self.0.clone())
    }

    pub(crate) fn floats(&self) -> Tensor<1> {
        from_cube(self.0.clone())
    }
}

/// Launches that were recorded. They read and write the memory that they did then.
#[derive(Debug)]
pub(crate) struct Recording {
    graph: Graph,
    launches: u64,
}

impl Recording {
    /// Records what `work` launches, and returns what it did, which is computed with the first replay. `work` runs
    /// twice: what is launched the first time is computed, and leaves the memory that the second time takes. It
    /// reads nothing from the device. None where the device or its driver refuses.
    pub(crate) fn of<T>(device: &Device, mut work: impl FnMut() -> T) -> Option<(T, Self)> {
        let client = client(device)?;
        client.graph_prepare().ok()?;
        let before = launches::count();
        drop(work());
        let launches = launches::count() - before;
        client.start_capture().ok()?;
        let result = work();
        launches::recorded(launches);
        let graph = client.stop_capture().ok()?;
        Some((result, Self { graph, launches }))
    }

    /// Launches all of it again.
    ///
    /// # Errors
    /// What the driver says.
    pub(crate) fn replay(&self) -> Result<(), String> {
        // SAFETY: who records keeps the tensors that are read and written as long as the recording, and launches
        // from one queue.
        unsafe { self.graph.replay() }.map_err(|error| error.to_string())?;
        launches::replayed(self.launches);
        Ok(())
    }
}
