//! A call alone, as the models of Meta write it: from Llama 3.1 on, `<|python_tag|>` may come before it.

use crate::tools::style::{Known, PLAIN, Style};

const LLAMA: Style = Style {
    prelude: Some("<|python_tag|>"),
    name: [r#"{"name": ""#, r#"", "parameters": "#],
    ..PLAIN
};

pub(super) fn style(known: &Known<'_>) -> Option<Style> {
    known.says(r#""parameters": dictionary"#).then_some(LLAMA)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::split::tests::{assert_calls, assert_text};

    #[test]
    fn a_call_is_an_object_with_parameters() {
        let call = r#"{"name": "feed", "parameters": {"animal": "fox", "spoons": "2"}}"#;
        assert_calls(LLAMA, call, "", &[("feed", r#"{"animal": "fox", "spoons": "2"}"#)]);
        assert_text(LLAMA, r#"{"name": "feed", "arguments": {}}"#);
        assert_text(LLAMA, &format!("So {call}"));
    }
}
