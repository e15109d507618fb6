//! A CR is left out.

pub fn event(name: Option<&str>, data: &str) -> Option<String> {
    let name_line = match name {
        Some(name) if name.contains(['\r', '\n']) => return None,
        Some(name) => format!("event: {name}\n"),
        None => String::new(),
    };
    let data = data.replace('\r', "");
    let data_lines = data.split(['\r', '\n']).map(|line| format!("data: {line}\n"));
    Some(name_line + &data_lines.collect::<String>() + "\n")
}

pub fn stream(chunks: &[&str]) -> String {
    let data = chunks.iter().copied().chain(["[DONE]"]);
    data.filter_map(|data| event(None, data)).collect()
}
