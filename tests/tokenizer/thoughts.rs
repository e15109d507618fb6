//! What a model thinks, divided from what it answers.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use slowburn::tokenizer::{AnswerPiece, Thoughts, Tokenizer};

/// The thoughts and the text of an answer that comes in these pieces.
fn divide(mut thoughts: Thoughts, pieces: &[&str]) -> (String, String) {
    let mut found: Vec<AnswerPiece> =
        pieces.iter().flat_map(|piece| thoughts.push(piece)).collect();
    found.extend(thoughts.finish());
    let (mut thought, mut text) = (String::new(), String::new());
    for piece in found {
        match piece {
            AnswerPiece::Thought(piece) => thought.push_str(&piece),
            AnswerPiece::Text(piece) | AnswerPiece::Arguments(piece) => text.push_str(&piece),
            AnswerPiece::Call(name) => text.push_str(&format!("[{name}]")),
        }
    }
    (thought, text)
}

/// The same, and that it is the same for each cut in two, and for one character at a time.
fn divide_anyhow(thoughts: &Thoughts, whole: &str) -> (String, String) {
    let expected = divide(thoughts.clone(), &[whole]);
    let characters: Vec<String> = whole.chars().map(String::from).collect();
    let one_by_one: Vec<&str> = characters.iter().map(String::as_str).collect();
    assert_eq!(divide(thoughts.clone(), &one_by_one), expected, "{whole:?}");
    for cut in (0..=whole.len()).filter(|&cut| whole.is_char_boundary(cut)) {
        let (first, second) = whole.split_at(cut);
        assert_eq!(divide(thoughts.clone(), &[first, second]), expected, "{first:?} {second:?}");
    }
    expected
}

#[test]
fn thoughts_in_tags_are_found_however_they_are_cut() {
    for (prompt, whole, thought, text) in [
        ("", "<think>\nA < b?\n</think>\n\nYes.", "A < b?", "Yes."),
        ("", " \n<think>a</think>b", "a", "b"),
        // A template that opens the thought.
        ("assistant\n<think>\n", "\na</thin k></think>b", "a</thin k>", "b"),
        ("", "<think>never ends </thi", "never ends </thi", ""),
        ("", "<think>never ends \n", "never ends", ""),
        ("", "<think></think>\n\nb", "", "b"),
        ("", "<think>a\n\nb </think> c </think>", "a\n\nb", "c </think>"),
        // What only speaks of the tag.
        ("", " The tag <think> opens.", "", " The tag <think> opens."),
        ("", "<thin ice>", "", "<thin ice>"),
        ("", "  ", "", "  "),
        ("<think> is a tag", "a</think>", "", "a</think>"),
        // A template that says that nothing is thought.
        ("<think>\n\n</think>\n\n", "Yes.", "", "Yes."),
    ] {
        let expected = (thought.to_owned(), text.to_owned());
        assert_eq!(divide_anyhow(&Thoughts::in_tags(prompt), whole), expected, "{whole:?}");
    }
}

#[test]
fn thoughts_in_channels_are_found_however_they_are_cut() {
    let endless = format!("<|channel|>analysis {}", "fox ".repeat(100));
    for (whole, thought, text) in [
        (
            "<|channel|>analysis<|message|>A fox?<|end|><|start|>assistant<|channel|>final<|message|>Yes.",
            "A fox?",
            "Yes.",
        ),
        ("<|channel|>final<|message|>Yes. <|return|>", "", "Yes. "),
        (
            "<|channel|>analysis<|message|>a\n<|end|><|start|>assistant<|channel|>commentary<|message|>b\
             <|end|><|start|>assistant<|channel|>analysis<|message|>c<|end|><|start|>assistant<|channel|>\
             final <|constrain|>json<|message|>{}",
            "a\n\nc",
            "b\n\n{}",
        ),
        ("<|channel|>analysis<|message|>never ends <|en", "never ends <|en", ""),
        ("<|channel|>analy", "", ""),
        ("<|start|>assistant<|end|>a", "", "a"),
        (
            "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>commentary to=functions.feed \
             <|constrain|>json<|message|>{\"a\": 1}<|call|>",
            "a",
            "[feed]{\"a\": 1}",
        ),
        (
            "<|start|>assistant to=functions.feed<|channel|>commentary json<|message|>{}",
            "",
            "[feed]{}",
        ),
        (
            "<|channel|>commentary to=functions.feed<|constrain|>json<|message|>",
            "",
            "[feed]",
        ),
        // A model that uses no channel, as under a grammar.
        ("a <| b", "", "a <| b"),
        (&endless, "", endless.strip_prefix("<|channel|>").unwrap()),
    ] {
        let expected = (thought.to_owned(), text.to_owned());
        assert_eq!(divide_anyhow(&Thoughts::in_channels(), whole), expected, "{whole:?}");
    }
}

proptest! {
    #[test]
    fn cuts_change_nothing(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "<think>", "</think>", "<|start|>", "<|channel|>", "<|message|>", "<|end|>", "analysis",
                "final", " ", "\n", "<", "<|", "</", "é", "fox",
            ]),
            0..12,
        ),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let whole = parts.concat();
        let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(whole.len() + 1)).collect();
        places.retain(|&place| whole.is_char_boundary(place));
        places.extend([0, whole.len()]);
        places.sort_unstable();
        let pieces: Vec<&str> = places.windows(2).map(|ends| &whole[ends[0]..ends[1]]).collect();
        for thoughts in [Thoughts::none(), Thoughts::in_tags(""), Thoughts::in_tags("<think>"), Thoughts::in_channels()] {
            prop_assert_eq!(divide(thoughts.clone(), &pieces), divide(thoughts, &[&whole]));
        }
    }
}

/// A tokenizer whose marks are special tokens or others.
fn tokenizer(marks: &[&str], is_special: bool) -> Tokenizer {
    let words = ["analysis", "final", "hm", "yes", "assistant"];
    let vocabulary: Map<String, Value> =
        words.iter().enumerate().map(|(id, word)| ((*word).to_owned(), id.into())).collect();
    let added: Vec<Value> = marks
        .iter()
        .enumerate()
        .map(|(index, mark)| {
            json!({
                "id": words.len() + index, "content": mark, "special": is_special, "single_word": false,
                "lstrip": false, "rstrip": false, "normalized": false,
            })
        })
        .collect();
    let json = json!({
        "added_tokens": added,
        "pre_tokenizer": { "type": "Whitespace" },
        "decoder": { "type": "Fuse" },
        "model": { "type": "WordLevel", "vocab": vocabulary, "unk_token": "hm" },
    });
    Tokenizer::from_json(json.to_string().as_bytes(), "tokenizer.json").unwrap()
}

/// The thought and the text of the tokens of `answer`, and how many were thoughts.
fn of_tokens(tokenizer: &Tokenizer, prompt: &str, answer: &str) -> (String, String, usize) {
    let mut thoughts = tokenizer.thoughts_after(&tokenizer.encode(prompt).unwrap());
    let (mut thought, mut text) = (String::new(), String::new());
    for id in tokenizer.encode(answer).unwrap() {
        for piece in thoughts.push_token(id, &tokenizer.decode(&[id]).unwrap()) {
            match piece {
                AnswerPiece::Thought(piece) => thought.push_str(&piece),
                AnswerPiece::Text(piece) => text.push_str(&piece),
                piece => panic!("{piece:?}"),
            }
        }
    }
    (thought, text, thoughts.tokens())
}

#[test]
fn marks_are_found_whether_they_have_a_text_or_not() {
    for is_special in [true, false] {
        let tags = tokenizer(&["<think>", "</think>"], is_special);
        let found = |prompt, answer| of_tokens(&tags, prompt, answer);
        let expected = |tokens| ("hm".to_owned(), "yes".to_owned(), tokens);
        assert_eq!(found("assistant", "<think>hm</think>yes"), expected(3), "{is_special}");
        assert_eq!(found("assistant<think>", "hm</think>yes"), expected(2), "{is_special}");
        let none = found("assistant<think></think>", "yes");
        assert_eq!(none, (String::new(), "yes".to_owned(), 0), "{is_special}");
        let harmony = tokenizer(
            &[
                "<|start|>",
                "<|channel|>",
                "<|message|>",
                "<|end|>",
                "<|return|>",
            ],
            is_special,
        );
        let answer = "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>yes";
        let found = of_tokens(&harmony, "<|start|>assistant", answer);
        assert_eq!(found, expected(3), "{is_special}");
    }
    let plain = of_tokens(&tokenizer(&[], true), "assistant", "yes");
    assert_eq!(plain, (String::new(), "yes".to_owned(), 0));
}
