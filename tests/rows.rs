//! What one more row costs a linear layer: at most the instructions that a row takes alone. So a batch never
//! becomes slower than its parts when a row joins.
//!
//! The instructions are counted by stepping through them one by one, so the counts repeat exactly, whatever else
//! the machine does. That needs `ptrace`, and a process with one thread: there is no test harness here.

#[cfg(all(target_os = "linux", target_arch = "x86_64", feature = "flex"))]
mod counted {
    use slowburn::kernels::{
        self, Activations, Arena, Cpu, Layer, Panels, Precision, Quantized, Rounding, Simd,
    };

    /// Two panels, and one group of inputs: few enough that all instructions are counted in minutes.
    const SHAPE: [usize; 2] = [64, 32];
    const MOST_ROWS: usize = 32;

    /// A layer in each format, with its name.
    fn layers() -> Vec<(String, Panels)> {
        let numbers = (0..SHAPE[0] * SHAPE[1]).map(|i| (i as f32 * 0.618).fract());
        let stored = &&numbers.collect::<Vec<f32>>()[..];
        let mut arena = Arena::new(0);
        let mut layers = Vec::new();
        for format in [Precision::F32, Precision::F16, Precision::Bf16] {
            let panels = Panels::pack(stored, SHAPE, format, &mut arena).unwrap();
            layers.push((format.name().to_owned(), panels.clone()));
            if Activations::Bf16.fit(panels.format()) {
                let rounded = panels.with_activations(Activations::Bf16);
                layers.push((format.name().to_owned() + "-bf16", rounded));
            }
        }
        for format in [Quantized::Int8, Quantized::Int4] {
            for (activations, name) in [(Activations::F32, ""), (Activations::Int8, "-int8")] {
                let rounding = Rounding::Nearest;
                let panels = Panels::quantize(stored, SHAPE, format, rounding, &mut arena);
                let panels = panels.unwrap().with_activations(activations);
                layers.push((format.name().to_owned() + name, panels));
            }
        }
        layers
    }

    /// Runs `work` in a copy of this process, and counts its instructions. One that repeats itself, as those
    /// that fill memory do, counts once, however many steps it takes. None where the system does not allow that.
    fn instructions(work: impl Fn()) -> Option<u64> {
        // SAFETY: this process has one thread, so the copy may do all that it may. It ends by `_exit`, and
        // never returns from here.
        let child = unsafe { libc::fork() };
        assert!(child >= 0, "{}", std::io::Error::last_os_error());
        let null = std::ptr::null_mut::<libc::c_void>();
        if child == 0 {
            work(); // what is done once only
            // SAFETY: these affect this process alone.
            unsafe {
                if libc::ptrace(libc::PTRACE_TRACEME, 0, null, null) != 0 {
                    libc::_exit(1);
                }
                libc::raise(libc::SIGSTOP);
                work();
                libc::raise(libc::SIGSTOP);
                libc::_exit(0);
            }
        }
        // The number of the signal that it stopped with, or none where it ended.
        let stopped = || {
            let mut status = 0;
            // SAFETY: `child` is a child of this process, and `status` is a number of this function.
            let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
            assert_eq!(waited, child);
            libc::WIFSTOPPED(status).then(|| libc::WSTOPSIG(status))
        };
        // The address of the instruction that comes next.
        let next = || {
            let address = std::mem::offset_of!(libc::user_regs_struct, rip);
            // SAFETY: `child` has asked to be traced, and is stopped.
            unsafe { libc::ptrace(libc::PTRACE_PEEKUSER, child, address, null) }
        };
        let (mut count, mut last) = (0, 0);
        stopped()?;
        loop {
            // SAFETY: `child` has asked to be traced, and is stopped.
            let stepped = unsafe { libc::ptrace(libc::PTRACE_SINGLESTEP, child, null, null) };
            assert_eq!(stepped, 0, "{}", std::io::Error::last_os_error());
            match stopped() {
                Some(libc::SIGTRAP) => {
                    let address = next();
                    count += u64::from(address != last);
                    last = address;
                }
                Some(libc::SIGSTOP) => break,
                other => panic!("the work ended by itself: {other:?}"),
            }
        }
        // SAFETY: as above.
        unsafe { libc::kill(child, libc::SIGKILL) };
        assert_eq!(stopped(), None);
        Some(count)
    }

    pub fn run() {
        let layers = layers();
        for simd in Simd::available().into_iter().filter(|simd| *simd != Simd::Scalar) {
            let cpu = Cpu::new(simd, 1).unwrap();
            for (name, weights) in &layers {
                let mut counts = vec![0];
                for rows in 1..=MOST_ROWS {
                    let x = vec![0.5; rows * SHAPE[1]];
                    let layer = Layer { weights, bias: None };
                    let work = || cpu.enter(|| drop(kernels::linear([layer], &x, rows)));
                    let Some(count) = instructions(work) else {
                        println!("this system allows no ptrace: nothing is counted");
                        return;
                    };
                    assert!(
                        rows == 1 || count <= counts[rows - 1] + counts[1],
                        "{simd}, {name}: {rows} rows take {count} instructions, one less {}, one alone {}",
                        counts[rows - 1],
                        counts[1]
                    );
                    counts.push(count);
                }
                println!("{simd:8} {name:10} {:?}", &counts[1..]);
            }
        }
    }
}

#[cfg(all(target_os = "linux", target_arch = "x86_64", feature = "flex"))]
fn main() {
    counted::run();
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64", feature = "flex")))]
fn main() {}
