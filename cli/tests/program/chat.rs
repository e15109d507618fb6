//! Conversations through a pipe: one turn a line.

use serde_json::Value;
use slowburn::kernels::BLOCK;

use super::*;

/// How many prompt tokens were cached, and how many there were, in each turn.
fn cached(stderr: &str) -> Vec<(usize, usize)> {
    let numbers = |line: &str| {
        let (counts, _) = line.split_once(" prompt tokens from the cache")?;
        let (cached, all) = counts.split_once(" of ")?;
        Some((cached.parse().unwrap(), all.parse().unwrap()))
    };
    stderr.lines().filter_map(numbers).collect()
}

/// With the model that continues a text, as a conversation of one without a template.
const GREEDY: [&str; 5] = ["chat", "--model", "ember", "--temperature", "0"];

#[test]
fn a_turn_reads_only_what_is_new() {
    let two = succeed(&GREEDY, "Once upon a time\n\nSo the\n");
    assert!(two.stderr.contains("no chat template"), "{}", two.stderr);
    let counts = cached(&two.stderr);
    assert_eq!((counts.len(), counts[0].0), (2, 0), "{}", two.stderr);
    // All full blocks of what the first turn has read and written.
    let (found, all) = counts[1];
    assert!(found > 0 && found.is_multiple_of(BLOCK) && found < all, "{}", two.stderr);
    assert!(all - found < BLOCK + 16, "{}", two.stderr);
    // Only answers are on standard output, each the rest of its paragraph.
    assert_eq!(two.stdout.lines().count(), 2, "{}", two.stdout);
    let story = succeed(&["run", "Once upon a time", "--temperature", "0"], "").stdout;
    let paragraph = story.split("\n\n").next().unwrap().trim_end();
    let first = two.stdout.lines().next().unwrap();
    assert_eq!(format!("Once upon a time{first}"), paragraph);
    // What is cached changes nothing.
    let second = two.stdout.lines().nth(1).unwrap();
    let whole = format!("{paragraph}\n\nSo the");
    let alone = succeed(&["run", "-", "--temperature", "0"], &whole).stdout;
    let alone = alone.strip_prefix(&whole).unwrap();
    assert_eq!(alone.split("\n\n").next().unwrap().trim_end(), second);
}

/// Without a model that is named, the one that talks.
#[test]
fn the_bundled_model_talks() {
    let input = "hello, my name is Konrad\nwhere do you live?\nwhat is my name?\n";
    let talk = succeed(&["chat", "--temperature", "0"], input);
    assert!(!talk.stderr.contains("no chat template"), "{}", talk.stderr);
    let answers: Vec<&str> = talk.stdout.lines().collect();
    assert_eq!(answers.len(), 3, "{}", talk.stdout);
    assert!(answers[1].contains("under the old oak"), "{}", talk.stdout);
    assert!(answers[2].contains("Konrad"), "{}", talk.stdout);
    // A system line says who answers, and by its name the other bundled model can be asked for.
    let line = ["--system", "You are Bella, a grumpy cat."];
    let named = succeed(&[&["chat", "--temperature", "0"][..], &line].concat(), "who are you?\n");
    assert!(
        named.stdout.contains("Bella") && named.stdout.contains("cat"),
        "{}",
        named.stdout
    );
    let by_name = succeed(&["chat", "--model", "spark", "--temperature", "0"], input);
    assert_eq!(by_name.stdout, talk.stdout);
}

#[test]
fn messages_are_written_by_the_template() {
    let template = "{% for m in messages %}[{{ m.role }}] {{ m.content }}\n{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}";
    let folder = ember(template);
    let model = text(folder.path());
    let system = "Once upon a time, there was a little brown frog called Finn, and a sly fox.";
    let args = [
        "chat",
        "--model",
        model,
        "--system",
        system,
        "--max-tokens",
        "5",
    ];
    let two = succeed(&args, "Hello\n/tokens\nAnd you?\n");
    assert!(!two.stderr.contains("no chat template"), "{}", two.stderr);
    assert_eq!(two.stderr.matches("as long as max_tokens allows").count(), 2, "{}", two.stderr);
    let counts = cached(&two.stderr);
    assert!(counts[1].0 > 0 && counts[1].0.is_multiple_of(BLOCK), "{}", two.stderr);
    assert!(two.stderr.contains("tokens in 1 turn; "), "{}", two.stderr);
}

#[test]
fn a_budget_for_thoughts_is_for_models_that_think() {
    let args = ["chat", "--max-reasoning-tokens", "1", "--max-tokens", "5"];
    let told = pipe(&args, "Once upon a time\n/set max_reasoning_tokens off\n/retry\n");
    assert!(
        told.stderr.contains("max_reasoning_tokens is for a model that thinks"),
        "{}",
        told.stderr
    );
    assert_eq!(told.code, Some(1));
    assert!(!told.stdout.is_empty());
}

#[test]
fn thoughts_are_not_the_answer() {
    let folder = ember("{% for m in messages %}{{ m.content }}{% endfor %}<think>\n");
    let args = ["chat", "--model", text(folder.path()), "--max-tokens", "10"];
    // It never ends thinking, so that there is no answer; but the question stays.
    let shown = succeed(&args, "Once upon a time\n/retry\n/undo\n");
    assert_eq!(shown.stdout, "");
    assert_eq!(shown.stderr.matches("no answer: /retry asks again").count(), 2);
    assert!(shown.stderr.contains("taken back: Once upon a time"), "{}", shown.stderr);
    let folded = succeed(&[&args[..], &["--fold-thoughts"]].concat(), "Once upon a time\n");
    assert!(folded.stderr.contains("thought for 10 tokens"), "{}", folded.stderr);
    assert!(folded.stderr.len() < shown.stderr.len());
}

#[test]
fn a_conversation_is_saved_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = in_folder(&folder, "chat.json");
    let save = format!("/save {}\n", path.display());
    let first = succeed(&GREEDY, &format!("Once upon a time\n{save}"));
    let messages: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert_eq!(messages[0]["content"], "Once upon a time");
    assert_eq!(messages[1]["content"], first.stdout.trim_end_matches('\n'));
    // The same question at the same place has the same answer.
    let load = ["--load", text(&path)];
    let loaded = succeed(&[&GREEDY[..], &load].concat(), "So the\n");
    let in_one = succeed(&GREEDY, "Once upon a time\nSo the\n");
    assert_eq!(format!("{}{}", first.stdout, loaded.stdout), in_one.stdout);
    // A second file of the name is refused, and the conversation goes on.
    let before = fs::read(&path).unwrap();
    let refused = pipe(&GREEDY, &format!("It was late\n{save}So the\n"));
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("error: ") && refused.stderr.contains("/save!"));
    assert_eq!(refused.stdout.lines().count(), 2);
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn an_answer_is_taken_back_or_asked_for_again() {
    let args = ["chat", "--model", "ember", "--temperature", "1"];
    let both = succeed(&args, "Once upon a time\n/retry\n/tokens\n/undo\n/tokens\n");
    let answers: Vec<&str> = both.stdout.lines().collect();
    assert_eq!(answers.len(), 2);
    assert_ne!(answers[0], answers[1]);
    assert!(both.stderr.contains("tokens in 1 turn"), "{}", both.stderr);
    assert!(both.stderr.contains("\n0 tokens in 0 turns; 512 of"), "{}", both.stderr);
    let set = succeed(&args, "/set temperature 0\n/set\nOnce upon a time\n/retry\n");
    let answers: Vec<&str> = set.stdout.lines().collect();
    assert_eq!(answers[0], answers[1]);
    let is_set = |line: &str| line.split_whitespace().eq(["temperature", "0"]);
    assert!(set.stderr.lines().any(is_set), "{}", set.stderr);
}

#[test]
fn an_error_leaves_the_conversation_whole() {
    let long = "word ".repeat(600);
    let input =
        format!("Once upon a time\n{long}\n/retry\n/undo\n/nonsense\n/set top_p 7\nSo the\n");
    let found = pipe(&GREEDY, &input);
    assert_eq!(found.code, Some(1));
    assert_eq!(found.stderr.matches("the context of this model ends at 512: /undo").count(), 2);
    for message in ["there is no command /nonsense", "top_p is 7"] {
        assert!(found.stderr.contains(message), "{}", found.stderr);
    }
    assert_eq!(found.stdout, succeed(&GREEDY, "Once upon a time\nSo the\n").stdout);
    // At its end the context says what to do.
    let full = format!("{}\n", "word ".repeat(500));
    let folder = ember("{% for m in messages %}{{ m.content }}{% endfor %}");
    let model = [
        "chat",
        "--temperature",
        "0",
        "--model",
        text(folder.path()),
        "--logit-bias",
        "1=-100",
    ];
    let found = pipe(&model, &full);
    assert!(found.stderr.contains("is full: /undo takes"), "{}", found.stderr);
}

#[test]
fn a_conversation_that_cannot_begin_says_why() {
    let wrong = pipe(&["chat", "--top-p", "7"], "");
    assert_eq!((wrong.code, wrong.stdout.as_str()), (Some(2), ""));
    assert!(wrong.stderr.starts_with("error: top_p is 7"), "{}", wrong.stderr);
    let missing = pipe(&["chat", "--load", "/none/chat.json"], "");
    assert_eq!(missing.code, Some(1));
    assert!(missing.stderr.starts_with("error: cannot read"), "{}", missing.stderr);
}
