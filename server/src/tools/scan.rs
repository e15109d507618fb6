//! Where a JSON object ends.

/// Reads a JSON object character by character, to find its end.
#[derive(Debug, Clone, Default)]
pub(super) struct ObjectScan {
    /// The brackets that are open.
    depth: usize,
    in_string: bool,
    /// The character before was a backslash in a string.
    is_escaped: bool,
}

impl ObjectScan {
    /// Reads one more character. Whether the object ends with it.
    pub(super) fn ends_with(&mut self, c: char) -> bool {
        if self.in_string {
            self.in_string = c != '"' || self.is_escaped;
            self.is_escaped = c == '\\' && !self.is_escaped;
            return false;
        }
        match c {
            '"' => self.in_string = true,
            '{' | '[' => self.depth += 1,
            '}' | ']' => {
                self.depth = self.depth.saturating_sub(1);
                return self.depth == 0;
            }
            _ => {}
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_in_strings_end_nothing() {
        for object in [
            "{}",
            r#"{"a": {"b": [{}]}}"#,
            r#"{"}": "]}\"}", "\\": "\\"}"#,
            r#"{"a": "\\\"}"}"#,
        ] {
            let mut scan = ObjectScan::default();
            let ends: Vec<bool> = object.chars().map(|c| scan.ends_with(c)).collect();
            let expected: Vec<bool> =
                (1..=object.chars().count()).map(|at| at == object.chars().count()).collect();
            assert_eq!(ends, expected, "{object}");
        }
    }
}
