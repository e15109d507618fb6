//! A line end at the end of the data ends its last line.

pub fn event(name: Option<&str>, data: &str) -> Option<String> {
    let name_line = match name {
        Some(name) if name.contains(['\r', '\n']) => return None,
        Some(name) => format!("event: {name}\n"),
        None => String::new(),
    };
    let data = data.replace("\r\n", "\n");
    let data_lines = data
        .split_inclusive(['\r', '\n'])
        .map(|line| line.trim_end_matches(['\r', '\n']))
        .map(|line| format!("data: {line}\n"));
    Some(name_line + &data_lines.collect::<String>() + "\n")
}

pub fn stream(chunks: &[&str]) -> String {
    let data = chunks.iter().copied().chain(["[DONE]"]);
    data.filter_map(|data| event(None, data)).collect()
}
