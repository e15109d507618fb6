//! Parses Markdown as mdBook does.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser};

/// The events of a page with their byte ranges.
pub fn events(text: &str) -> impl Iterator<Item = (Event<'_>, Range<usize>)> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_HEADING_ATTRIBUTES;
    Parser::new_ext(text, options).into_offset_iter()
}
