//! The names of the files that a model was split into: `stem-00001-of-00003.gguf`.

/// The most files of a model. Each is kept open while the model is loaded, and systems commonly
/// allow a process 1024 of them.
pub(crate) const MOST_PARTS: usize = 512;

/// The name of one of the files that a model was split into: `stem-00001-of-00003.gguf`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PartName {
    /// What all parts begin with. May have slashes.
    stem: String,
    /// From 1 on.
    pub(super) number: usize,
    pub(super) count: usize,
    /// `.gguf`, in whatever case.
    extension: String,
}

impl PartName {
    /// Takes a name apart, or returns none where it is not that of a part.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        let (name, extension) = name.split_at_checked(name.len().checked_sub(".gguf".len())?)?;
        if !extension.eq_ignore_ascii_case(".gguf") {
            return None;
        }
        let (name, count) = split_number(name, "-of-")?;
        let (stem, number) = split_number(name, "-")?;
        let fits = (1..=MOST_PARTS).contains(&count) && (1..=count).contains(&number);
        fits.then(|| Self {
            stem: stem.to_owned(),
            number,
            count,
            extension: extension.to_owned(),
        })
    }

    /// The name of part `number` of the same model.
    pub(super) fn of(&self, number: usize) -> String {
        format!("{}{}{}", self.stem, ending(number, self.count), self.extension)
    }

    /// The names of all parts, in their order.
    #[cfg(any(feature = "hub", test))]
    pub(crate) fn all(&self) -> impl Iterator<Item = String> {
        (1..=self.count).map(|number| self.of(number))
    }

    /// Whether both are names of parts of one model.
    pub(super) fn is_beside(&self, other: &Self) -> bool {
        self.of(1) == other.of(1)
    }
}

/// What the name of a part ends in, before `.gguf`.
pub(super) fn ending(number: usize, count: usize) -> String {
    format!("-{number:05}-of-{count:05}")
}

/// Splits off a number of five digits, and what stands before it.
fn split_number<'a>(name: &'a str, before: &str) -> Option<(&'a str, usize)> {
    let (name, digits) = name.split_at_checked(name.len().checked_sub(5)?)?;
    let is_number = digits.bytes().all(|digit| digit.is_ascii_digit());
    let number = digits.parse().ok().filter(|_| is_number)?;
    Some((name.strip_suffix(before)?, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_to_those_of_the_other_parts() {
        let name = PartName::parse("folder/a-b-00002-of-00003.GGUF").unwrap();
        assert_eq!((name.number, name.count), (2, 3));
        let all = [
            "folder/a-b-00001-of-00003.GGUF",
            "folder/a-b-00002-of-00003.GGUF",
            "folder/a-b-00003-of-00003.GGUF",
        ];
        assert!(name.all().eq(all));
    }

    #[test]
    fn other_names_are_none_of_a_part() {
        for name in [
            "",
            "gguf",
            "é.gguf",
            "model.gguf",
            "-00001-of-00002.safetensors",
            "a-00000-of-00002.gguf",
            "a-00003-of-00002.gguf",
            "a-00001-of-00000.gguf",
            "a-00001-of-65535.gguf",
            "a-0001-of-0002.gguf",
            "a-+0001-of-00002.gguf",
            "a_00001-of-00002.gguf",
            "a-é0001-of-00002.gguf",
        ] {
            assert_eq!(PartName::parse(name), None, "{name}");
        }
    }
}
