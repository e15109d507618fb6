//! The table of `05_kv_cache --compare`.

use std::fmt::Write;

use serde_json::json;

use slowburn_examples::cli::{GenerateArgs, Result, print};

/// Prints rows of the number of new tokens, and the tokens per second of the naive and of the
/// cached loop.
///
/// # Errors
/// A closed standard output.
pub fn comparison(args: &GenerateArgs, rows: &[(usize, f64, f64)]) -> Result<()> {
    let mut objects = Vec::new();
    let mut out = "new tokens   naive tok/s   cached tok/s   cached / naive\n".to_owned();
    for &(tokens, naive, cached) in rows {
        let ratio = cached / naive;
        let _ = writeln!(out, "{tokens:>10}{naive:>14.1}{cached:>15.1}{ratio:>16.1}x");
        objects.push(
            json!({ "new_tokens": tokens, "naive": naive, "cached": cached, "ratio": ratio }),
        );
    }
    print(args.json, &json!({ "tokens_per_second": objects }), &out)
}
