//! Which of a repository's files a name means.

use super::HubModel;
use crate::checkpoint::gguf::PartName;
use crate::checkpoint::shards::{INDEX, WHOLE};

/// The formats that are taken from a repository of GGUF files where none is named, best first: a little
/// over four bits, which most texts don't show, then those that nearly all repositories have.
const PREFERRED: [&str; 4] = ["Q4_K_M", "Q4_0", "Q8_0", "F16"];

/// `model` with the GGUF file that it means among `files`, or unchanged where it means the folder; none
/// if no file has its format.
pub(super) fn choose<'a>(
    model: &HubModel,
    files: impl Iterator<Item = &'a str> + Clone,
) -> Option<HubModel> {
    let has = |name: &str| files.clone().any(|file| file == name);
    let is_folder = has("config.json") && (has(WHOLE) || has(INDEX));
    let with = |file: &str| HubModel { file: Some(file.to_owned()), format: None, ..model.clone() };
    match &model.format {
        _ if model.file.is_some() => Some(model.clone()),
        None if is_folder => Some(model.clone()),
        Some(format) => in_format(files, format).map(with),
        None => {
            let preferred = PREFERRED.iter().find_map(|format| in_format(files.clone(), format));
            let first = || ggufs(files.clone()).min();
            Some(preferred.or_else(first).map_or_else(|| model.clone(), with))
        }
    }
}

/// The formats of the GGUF files, as their names end, in order.
pub(super) fn formats<'a>(files: impl Iterator<Item = &'a str>) -> Vec<String> {
    let format = |file: &str| stem(file).rsplit(['-', '.', '/']).next().map(str::to_owned);
    let mut formats: Vec<String> = ggufs(files).filter_map(format).collect();
    formats.sort();
    formats.dedup();
    formats
}

/// The file whose name ends in `format`, in either case: the first of a model's files if it was split.
/// Of two, the one with the shorter name: `Q4_K_M` is not `UD-Q4_K_M`.
fn in_format<'a>(files: impl Iterator<Item = &'a str>, format: &str) -> Option<&'a str> {
    let is_in = |file: &&str| {
        let stem = stem(file);
        let split = stem.len().checked_sub(format.len()).and_then(|at| stem.split_at_checked(at));
        split.is_some_and(|(before, end)| {
            end.eq_ignore_ascii_case(format)
                && (before.is_empty() || before.ends_with(['-', '.', '_', '/']))
        })
    };
    // `0` is no format, although names end in `Q8_0`.
    if !format.starts_with(|c: char| c.is_ascii_alphabetic()) || !format.contains(char::is_numeric)
    {
        return None;
    }
    ggufs(files).filter(is_in).min_by_key(|file| (stem(file).len(), *file))
}

/// The GGUF files with a model, of each split one the first part. A file called `mmproj` turns pictures
/// into vectors, for a model in another file.
fn ggufs<'a>(files: impl Iterator<Item = &'a str>) -> impl Iterator<Item = &'a str> {
    files.filter(|file| {
        let name = file.rsplit('/').next().unwrap_or(file).to_ascii_lowercase();
        let is_first =
            PartName::parse(file).is_none_or(|part| part.all().next().as_deref() == Some(file));
        name.ends_with(".gguf") && !name.starts_with("mmproj") && is_first
    })
}

/// A name without what all names end in, `.gguf`, and without the number of a part.
fn stem(file: &str) -> &str {
    let stem = &file[..file.len() - ".gguf".len()];
    match PartName::parse(file) {
        Some(_) => &stem[..stem.len() - "-00001-of-00001".len()],
        None => stem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [&str; 8] = [
        "README.md",
        "mmproj-BF16.gguf",
        "Qwen3-0.6B-BF16.gguf",
        "Qwen3-0.6B-Q4_K_M.gguf",
        "Qwen3-0.6B-UD-Q4_K_M.gguf",
        "Qwen3-0.6B.q8_0.gguf",
        "Q6_K/Qwen3-0.6B-Q6_K-00001-of-00002.gguf",
        "Q6_K/Qwen3-0.6B-Q6_K-00002-of-00002.gguf",
    ];

    fn chosen(name: &str, files: &[&str]) -> Option<String> {
        choose(&name.parse().unwrap(), files.iter().copied())?.file
    }

    #[test]
    fn a_format_names_one_file() {
        for (name, file) in [
            ("a/b", FILES[3]),
            ("a/b:Q4_K_M", FILES[3]),
            ("a/b:q4_k_m", FILES[3]),
            ("a/b:UD-Q4_K_M", FILES[4]),
            ("a/b:Q8_0", FILES[5]),
            ("a/b:Q6_K", FILES[6]),
            ("a/b:BF16", FILES[2]),
            ("a/b/any.gguf", "any.gguf"),
        ] {
            assert_eq!(chosen(name, &FILES).as_deref(), Some(file), "{name}");
        }
        for name in ["a/b:Q5_K_M", "a/b:K_M", "a/b:4_K_M"] {
            assert!(choose(&name.parse().unwrap(), FILES.into_iter()).is_none(), "{name}");
        }
        assert_eq!(formats(FILES.into_iter()), ["BF16", "Q4_K_M", "Q6_K", "q8_0"]);
    }

    #[test]
    fn a_folder_with_weights_comes_before_its_gguf_files() {
        let folder = ["config.json", "model.safetensors", "x-Q4_K_M.gguf"];
        assert_eq!(chosen("a/b", &folder), None);
        assert_eq!(chosen("a/b:Q4_K_M", &folder).as_deref(), Some("x-Q4_K_M.gguf"));
        // A repository of GGUF files often has the configuration of what they were made of.
        assert_eq!(chosen("a/b", &["config.json", "x-IQ2.gguf"]).as_deref(), Some("x-IQ2.gguf"));
        assert_eq!(chosen("a/b", &["config.json", "pytorch_model.bin"]), None);
    }
}
