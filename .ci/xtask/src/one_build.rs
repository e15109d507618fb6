//! How `.ci/run` compiles: with the features of all examples, so that the crate is built once, and benches with
//! the profile `dev`.

use std::env;

/// The variable that asks for it.
const VARIABLE: &str = "ONE_BUILD";

/// The features of all examples that `.ci/run` runs.
const FEATURES: &str = "plot,hub,serve,schema";

fn is_asked_for() -> bool {
    env::var_os(VARIABLE).is_some()
}

/// The arguments of a `cargo run` or `cargo bench` of the book as they are, or for one build.
pub fn arguments(of_the_book: &[String]) -> Vec<String> {
    if is_asked_for() {
        for_one_build(of_the_book)
    } else {
        of_the_book.to_vec()
    }
}

/// The features, and the profile of benches, are replaced. What comes behind `--` is for the program.
fn for_one_build(arguments: &[String]) -> Vec<String> {
    let end = arguments.iter().position(|word| word == "--").unwrap_or(arguments.len());
    let (of_cargo, of_program) = arguments.split_at(end);
    let mut built = Vec::new();
    let mut words = of_cargo.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--features" => {
                words.next();
            }
            "--example" => built.extend(["--features", FEATURES, "--example"].map(String::from)),
            "--bench" => built.extend(["--profile", "dev", "--bench"].map(String::from)),
            _ => built.push(word.clone()),
        }
    }
    built.extend_from_slice(of_program);
    built
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(command: &str) -> String {
        let words: Vec<String> = command.split(' ').map(String::from).collect();
        for_one_build(&words).join(" ")
    }

    #[test]
    fn profile_and_features_are_those_of_all_and_the_program_is_asked_the_same() {
        assert_eq!(
            built("--features plot --example 06 -- --features x"),
            "--features plot,hub,serve,schema --example 06 -- --features x"
        );
        assert_eq!(built("--example 05"), "--features plot,hub,serve,schema --example 05");
        assert_eq!(built("--bench tried -- --quick"), "--profile dev --bench tried -- --quick");
        assert_eq!(built("-p exercises -- engine"), "-p exercises -- engine");
    }
}
