//! Calls in the XML of GLM: from 4.7 on without line breaks.

use crate::tools::style::{Arguments, Known, PLAIN, Style, Tags};

const GLM: Style = Style {
    open: "<tool_call>",
    name: ["", "\n"],
    arguments: Arguments::Tags(Tags {
        open: "<arg_key>",
        value: "</arg_key>\n<arg_value>",
        close: "</arg_value>",
        after: "\n",
    }),
    close: "</tool_call>",
    between: "\n",
    has_room: true,
    marks: &[
        "<tool_call>",
        "</tool_call>",
        "<arg_key>",
        "</arg_key>",
        "<arg_value>",
        "</arg_value>",
    ],
    ..PLAIN
};

const DENSE: Style = Style {
    name: ["", ""],
    arguments: Arguments::Tags(Tags {
        open: "<arg_key>",
        value: "</arg_key><arg_value>",
        close: "</arg_value>",
        after: "",
    }),
    between: "",
    ..GLM
};

pub(super) fn style(known: &Known<'_>) -> Option<Style> {
    let style = if known.says("</arg_key><arg_value>") {
        DENSE
    } else {
        GLM
    };
    (known.says("<tool_call>") && known.says("<arg_key>")).then_some(style)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::split::tests::{assert_calls, assert_text};

    #[test]
    fn arguments_are_keys_and_values() {
        let call = "<tool_call>feed\n<arg_key>animal</arg_key>\n<arg_value>a \"fox\" </arg_value>\n<arg_key>spoons</arg_key>\n\
            <arg_value>[2, {\"a\": null}]</arg_value>\n</tool_call>";
        let arguments = r#"{"animal": "a \"fox\" ", "spoons": [2, {"a": null}]}"#;
        let none = "<tool_call>feed_all\n</tool_call>";
        let both = [("feed", arguments), ("feed_all", "{}")];
        assert_calls(GLM, &format!("\nI feed.\n{call}\n{none}"), "\nI feed.\n", &both);
        let dense = |text: &str| text.replace('\n', "");
        assert_calls(DENSE, &dense(&format!("{call}{none}")), "", &both);
        assert_calls(DENSE, &dense(&format!("I feed.{none}")), "I feed.", &both[1..]);
        let cut = "<tool_call>feed\n<arg_key>animal</arg_key>\n<arg_value>a fo";
        assert_calls(GLM, cut, "", &[("feed", "{\"animal\": \"a fo")]);
        assert_text(GLM, "<tool_call>feeding");
    }
}
