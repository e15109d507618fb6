use super::*;

#[test]
fn a_seed_always_has_the_same_conversations() {
    let all = || dialogues(3).take(50).collect::<Vec<_>>();
    assert_eq!(all(), all());
    assert!(dialogues(4).take(50).ne(all()));
}

/// No mark of a template is left, and only what people type is without capitals.
#[test]
fn all_is_told() {
    for dialogue in dialogues(7).take(5_000) {
        for (role, text) in dialogue.messages() {
            assert!(
                text.is_ascii() && !text.contains(['{', '}', '[', ']', '^', '~', '|']),
                "{text:?}"
            );
            assert_eq!(text, text.trim(), "{text:?}");
            assert!(!text.is_empty() && !text.contains("  "), "{dialogue:?}");
            if role == "assistant" {
                assert!(text.ends_with(['.', '!', '?']), "{text:?}");
            }
        }
    }
}

/// What a system line says is what an answer says.
#[test]
fn answers_keep_to_the_system_line() {
    let mut seen = 0;
    for dialogue in dialogues(8).take(5_000) {
        let Some((_, rest)) =
            dialogue.system.as_deref().and_then(|line| line.split_once("You live "))
        else {
            continue;
        };
        let place = rest.split('.').next().unwrap();
        for turn in &dialogue.turns {
            if let Some((_, answer)) = turn.answer.split_once("My den is ") {
                assert!(answer.starts_with(place), "{dialogue:?}");
                seen += 1;
            }
        }
    }
    assert!(seen > 10);
}

/// What a person has told is what a later answer says.
#[test]
fn answers_keep_to_what_was_told() {
    let mut seen = 0;
    for dialogue in dialogues(9).take(5_000) {
        for (at, turn) in dialogue.turns.iter().enumerate() {
            let Some((_, name)) = turn.answer.split_once("Your name is ") else {
                continue;
            };
            let name = name.split('.').next().unwrap();
            let told = dialogue.turns[..at].iter().any(|turn| turn.user.contains(name));
            assert!(told, "{dialogue:?}");
            seen += 1;
        }
    }
    assert!(seen > 200);
}
