//! Conversations without a chat template.

use super::{Message, Role};

/// Where an answer ends that a model without a chat template writes: what follows would be the next
/// message.
pub const END_OF_PARAGRAPH: &str = "\n\n";

/// A conversation as a model without a chat template reads it: one text. Each message begins a
/// paragraph, and an answer goes on in the paragraph of the message that it answers, as the model wrote
/// it there.
pub fn paragraphs(messages: &[Message]) -> String {
    let mut text = String::new();
    let mut is_answered = true;
    for message in messages {
        let is_answer = message.role == Role::Assistant;
        if !text.is_empty() && (is_answered || !is_answer) {
            text.push_str(END_OF_PARAGRAPH);
        }
        text.push_str(message.content.as_deref().unwrap_or_default());
        is_answered = is_answer;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_goes_on_in_the_paragraph_of_its_question() {
        use Role::{Assistant, System, Tool, User};
        let text = |messages: &[(Role, &str)]| {
            let message = |&(role, text): &(Role, &str)| Message::new(role, text);
            paragraphs(&messages.iter().map(message).collect::<Vec<_>>())
        };
        assert_eq!(text(&[]), "");
        assert_eq!(text(&[(User, "Once upon")]), "Once upon");
        // What a model has read and written is the beginning of what it reads next.
        let turn = [
            (System, "Tales."),
            (User, "Once upon"),
            (Assistant, " a time."),
            (User, "So"),
        ];
        assert_eq!(text(&turn), "Tales.\n\nOnce upon a time.\n\nSo");
        assert!(text(&turn).starts_with(&format!("{} a time.", text(&turn[..2]))));
        let tools = [
            (User, "How many?"),
            (Assistant, "{}"),
            (Tool, "3"),
            (Assistant, " of them"),
        ];
        assert_eq!(text(&tools), "How many?{}\n\n3 of them");
        assert_eq!(text(&[(Assistant, "One."), (Assistant, "Two.")]), "One.\n\nTwo.");
        let silent = Message { content: None, ..Message::new(Assistant, "") };
        assert_eq!(paragraphs(&[silent, Message::new(User, "Once")]), "Once");
    }
}
