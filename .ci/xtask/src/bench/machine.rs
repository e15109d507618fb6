//! The machine of the measurement.

use std::fs;
use std::thread;

use anyhow::Result;
use slowburn::kernels::Simd;

/// The processor's name, if the system provides it, and the number of available cores.
pub fn describe() -> Result<String> {
    let cores = thread::available_parallelism()?;
    let name = fs::read_to_string("/proc/cpuinfo").ok();
    let name = name.as_deref().and_then(model_name).unwrap_or(std::env::consts::ARCH);
    Ok(format!("{name}, {cores} cores"))
}

/// The vector instructions that Slow Burn's kernels use on this machine.
pub fn simd() -> &'static str {
    Simd::detect().name()
}

fn model_name(cpuinfo: &str) -> Option<&str> {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"))?;
    let (_, name) = line.split_once(':')?;
    Some(name.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_name_of_the_processor() {
        let cpuinfo = "processor\t: 0\nmodel\t\t: 17\nmodel name\t: AMD EPYC 9\n\nprocessor\t: 1\n";
        assert_eq!(model_name(cpuinfo), Some("AMD EPYC 9"));
        assert_eq!(model_name("processor\t: 0\n"), None);
    }
}
