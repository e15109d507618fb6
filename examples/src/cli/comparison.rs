//! The table of `05_kv_cache --compare`.

use std::io::{self, Write};

use serde_json::json;

use super::GenerateArgs;

/// Prints rows of the number of new tokens, and the tokens per second of the naive and of the
/// cached loop.
///
/// # Errors
/// A closed standard output.
pub fn comparison(args: &GenerateArgs, rows: &[(usize, f64, f64)]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if args.json {
        let object = |&(tokens, naive, cached): &(usize, f64, f64)| json!({ "new_tokens": tokens, "naive": naive, "cached": cached, "ratio": cached / naive });
        let rows: Vec<_> = rows.iter().map(object).collect();
        return writeln!(out, "{}", json!({ "tokens_per_second": rows }));
    }
    writeln!(out, "new tokens   naive tok/s   cached tok/s   cached / naive")?;
    for &(tokens, naive, cached) in rows {
        writeln!(out, "{tokens:>10}{naive:>14.1}{cached:>15.1}{:>16.1}x", cached / naive)?;
    }
    Ok(())
}
