//! A field is what the line begins with.

use std::mem;

#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    pub name: String,
    pub data: String,
    pub id: String,
}

#[derive(Debug, Default)]
pub struct Parser {
    line: Vec<u8>,
    after_cr: bool,
    begun: bool,
    name: String,
    data: String,
    id: String,
    retry: Option<u64>,
}

impl Parser {
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        for &byte in bytes {
            let after_cr = mem::replace(&mut self.after_cr, byte == b'\r');
            match byte {
                b'\n' if after_cr => {}
                b'\r' | b'\n' => events.extend(self.end_line()),
                _ => self.line.push(byte),
            }
        }
        events
    }

    pub fn retry(&self) -> Option<u64> {
        self.retry
    }

    fn end_line(&mut self) -> Option<Event> {
        let mut line = mem::take(&mut self.line);
        if !mem::replace(&mut self.begun, true) && line.starts_with(b"\xEF\xBB\xBF") {
            line.drain(..3);
        }
        if line.is_empty() {
            return self.end_event();
        }
        let line = String::from_utf8_lossy(&line);
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        let field = if field.starts_with("data") {
            "data"
        } else {
            field
        };
        match field {
            "data" => self.data = mem::take(&mut self.data) + value + "\n",
            "event" => value.clone_into(&mut self.name),
            "id" if !value.contains('\0') => value.clone_into(&mut self.id),
            "retry" if value.bytes().all(|byte| byte.is_ascii_digit()) => {
                self.retry = value.parse().ok().or(self.retry);
            }
            _ => {}
        }
        None
    }

    fn end_event(&mut self) -> Option<Event> {
        let name = mem::take(&mut self.name);
        let mut data = mem::take(&mut self.data);
        data.pop()?;
        let name = if name.is_empty() {
            "message".to_owned()
        } else {
            name
        };
        Some(Event { name, data, id: self.id.clone() })
    }
}
