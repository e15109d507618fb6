//! Checks the form of external links, without following them.

use pulldown_cmark::{Event, Tag, TagEnd};

use super::markdown;
use super::problem::Problem;

pub fn check(file: &str, text: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    // The open link: its address and its text.
    let mut open: Option<(String, String)> = None;
    for (event, range) in markdown::events(text) {
        let problem = |message: String| Problem::at(file, text, range.start, message);
        match event {
            Event::Start(Tag::Link { dest_url, .. }) => {
                problems.extend(fault(&dest_url).map(problem));
                open = Some((dest_url.into_string(), String::new()));
            }
            Event::End(TagEnd::Link) => {
                let Some((url, said)) = open.take() else {
                    continue;
                };
                let number = arxiv_number(&url);
                let other =
                    numbers(&said).find(|said| number.is_some_and(|number| number != *said));
                problems
                    .extend(other.map(|said| problem(format!("says {said} and leads to {url}"))));
            }
            Event::Text(part) => {
                if let Some((_, said)) = &mut open {
                    *said += &part;
                }
            }
            _ => {}
        }
    }
    problems
}

/// The problem with an external address, if any.
fn fault(url: &str) -> Option<String> {
    let is_inside = !url.contains("://") && !url.starts_with("//") && !url.starts_with("mailto:");
    if is_inside {
        return None;
    }
    let Some(rest) = url.strip_prefix("https://") else {
        return Some(format!("{url} is not an https address"));
    };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let is_part = |part: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    };
    if !host.contains('.') || !host.split('.').all(is_part) {
        return Some(format!("{url} names no host"));
    }
    let is_arxiv = host == "arxiv.org" || host.ends_with(".arxiv.org");
    if is_arxiv && !arxiv_number(url).is_some_and(is_arxiv_number) {
        return Some(format!("{url} is not https://arxiv.org/abs/ and the number of a paper"));
    }
    None
}

/// The arXiv number in an address.
fn arxiv_number(url: &str) -> Option<&str> {
    url.strip_prefix("https://arxiv.org/abs/")
}

/// Two digits each for year and month, then four digits; five from 2015 on. A version may follow.
fn is_arxiv_number(number: &str) -> bool {
    let (number, version) = number.split_once('v').unwrap_or((number, "1"));
    let Some((date, count)) = number.split_once('.') else {
        return false;
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    if date.len() != 4 || ![date, count, version].iter().all(|text| digits(text)) {
        return false;
    }
    let month = &date[2..];
    let expected = if date >= "1501" { 5 } else { 4 };
    date >= "0704" && ("01"..="12").contains(&month) && count.len() == expected
}

/// The words of a text that look like arXiv numbers.
fn numbers(text: &str) -> impl Iterator<Item = &str> {
    let is_number = |word: &&str| {
        let parts = word.split_once('.');
        parts.is_some_and(|(date, count)| {
            date.len() == 4
                && count.len() >= 4
                && word.bytes().all(|c| c.is_ascii_digit() || c == b'.')
        })
    };
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '.').filter(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(text: &str) -> Vec<String> {
        check("a.md", text).iter().map(Problem::to_string).collect()
    }

    #[test]
    fn good_links_are_right() {
        let text = "[arXiv\n1706.04599](https://arxiv.org/abs/1706.04599), [b](b.md#c), \
                    [old](https://arxiv.org/abs/1412.6980v9), [Burn](https://burn.dev)";
        assert!(messages(text).is_empty());
    }

    #[test]
    fn a_link_without_https_is_found() {
        assert!(
            messages("\n[a](http://burn.dev)")[0].starts_with("a.md:2: http://burn.dev is not")
        );
        assert!(messages("[a](//burn.dev)")[0].contains("is not an https address"));
    }

    #[test]
    fn a_link_without_a_host_is_found() {
        assert!(messages("[a](https://burn)")[0].contains("names no host"));
        assert!(messages("[a](https:///burn.dev)")[0].contains("names no host"));
    }

    #[test]
    fn a_paper_that_cannot_be_is_found() {
        for bad in [
            "1706.4599",
            "1713.04599",
            "1412.06980",
            "0612.0001",
            "x",
            "1706.04599v",
        ] {
            let text = format!("[a](https://arxiv.org/abs/{bad})");
            assert!(messages(&text)[0].contains("number of a paper"), "{bad}");
        }
        assert!(messages("[a](https://arxiv.org/pdf/1706.04599)")[0].contains("number of a paper"));
    }

    #[test]
    fn another_number_than_the_link_has_is_found() {
        let found = messages("[arXiv 1706.04598](https://arxiv.org/abs/1706.04599)");
        let expected = "a.md:1: says 1706.04598 and leads to https://arxiv.org/abs/1706.04599";
        assert_eq!(found, [expected]);
    }
}
