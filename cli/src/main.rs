//! The program `slowburn`.

use std::process::ExitCode;

fn main() -> ExitCode {
    slowburn_cli::main()
}
