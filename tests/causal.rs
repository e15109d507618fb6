//! No row of logits depends on a later token, whatever the layers are made of.

mod common;

use slowburn::model::{Input, Logits};

#[test]
fn a_later_token_does_not_change_what_comes_before_it() {
    let families = [
        "llama-gqa",
        "gpt2",
        "mistral-window",
        "gpt-oss",
        "deepseek-v2",
        "lfm2",
        "qwen35",
    ];
    let device = common::device();
    for family in families {
        let model = common::load(family, &device).model;
        let rows =
            |ids: &[u32]| model.forward(&mut [Input::whole(ids).with_logits(Logits::All)]).unwrap();
        let ids = [3, 14, 15, 9, 26, 5];
        let reference = rows(&ids);
        for changed in 0..ids.len() {
            let mut other = ids;
            other[changed] = 49;
            let rows = rows(&other);
            assert_eq!(rows[..changed], reference[..changed], "{family}: a change at {changed}");
            // Without this the test could not fail: a model that reads nothing is causal too.
            for later in changed..ids.len() {
                assert_ne!(rows[later], reference[later], "{family}: {later} after {changed}");
            }
        }
    }
}
