//! Cargo, called by a program that cargo runs.

use std::env;
use std::process::Command;

/// The variables that `cargo run` sets for the package whose program it runs.
const OF_THE_PACKAGE: [&str; 2] = ["CARGO_MANIFEST_", "CARGO_PKG_"];

/// The cargo that runs this, or the one in the path, in the environment of a shell. Build scripts read
/// the variables that `cargo run` adds: `ring`'s does, so everything that depends on it would be
/// compiled anew, here and at the next command of the shell.
pub fn cargo() -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if OF_THE_PACKAGE.iter().any(|begin| text.starts_with(begin)) {
            cargo.env_remove(&name);
        }
    }
    cargo
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_said_of_the_package_of_this_program() {
        // Cargo has set it for this test.
        assert!(env::var_os("CARGO_MANIFEST_DIR").is_some());
        let cargo = cargo();
        let removed: Vec<_> = cargo.get_envs().filter(|(_, value)| value.is_none()).collect();
        for name in ["CARGO_MANIFEST_DIR", "CARGO_PKG_NAME"] {
            assert!(removed.iter().any(|(removed, _)| *removed == name), "{name}");
        }
        assert!(removed.iter().all(|(name, _)| *name != "CARGO_HOME"));
    }
}
