//! One walk over the characters.

pub fn event(name: Option<&str>, data: &str) -> Option<String> {
    let name_line = match name {
        Some(name) if name.contains(['\r', '\n']) => return None,
        Some(name) => format!("event: {name}\n"),
        None => String::new(),
    };
    let mut data_lines = vec![String::from("data: ")];
    let mut characters = data.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\r' => {
                characters.next_if_eq(&'\n');
                data_lines.push("\ndata: ".into());
            }
            '\n' => data_lines.push("\ndata: ".into()),
            other => data_lines.push(other.to_string()),
        }
    }
    data_lines.push("\n".into());
    let data_lines = data_lines.into_iter();
    Some(name_line + &data_lines.collect::<String>() + "\n")
}

pub fn stream(chunks: &[&str]) -> String {
    let data = chunks.iter().copied().chain(["[DONE]"]);
    data.filter_map(|data| event(None, data)).collect()
}
