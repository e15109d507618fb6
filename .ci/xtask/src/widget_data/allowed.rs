//! The figure in the place of the widget that shows which tokens may come next.

use anyhow::Result;

use super::OpenDistribution;
use super::pictures::{Picture, boxes};

/// As in `book/src/widgets/allowed.html`.
const REGEX: &str = r", there was a (cat|dog|fox) called [A-Z][a-z]+\.";
const TEXT: &str = ", there was a";

/// The tokens that may come next, with their probability among them, a box for each.
pub fn picture(distribution: &OpenDistribution) -> Result<String> {
    let mut picture = Picture::new();
    let allowed = distribution.allowed(REGEX, TEXT)?;
    picture.text(0, 14, "small", "text so far");
    picture.text(88, 14, "mono", &format!("{TEXT:?}"));
    let said = format!("{} of {} tokens may come next:", allowed.len(), distribution.logits.len());
    picture.text(0, 38, "small", &said);
    // As the widget writes it.
    let percent = |share: f32| match share {
        0.0005.. => format!("{:.1}%", 100.0 * share),
        _ => "<0.1%".to_owned(),
    };
    let tokens = allowed.into_iter().map(|(text, share)| (text, percent(share), "fill"));
    boxes(&mut picture, tokens, 48);
    Ok(picture.finish("The tokens that may come next, each with its probability among them"))
}
