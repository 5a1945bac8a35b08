//! Why one row is not accepted: the reason, and the path of the column it lies in.

use std::fmt::Write;

/// Characters of a value that a message may quote.
const EXCERPT_CHARS_MAX: usize = 40;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    pub code: &'static str,
    pub message: String,
    /// From the innermost name to the outermost; [`Rejection::within`] adds one on the way out.
    path: Vec<String>,
}

impl Rejection {
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), path: Vec::new() }
    }

    /// `found` is the value as it stands in the input.
    pub fn mismatch(expected: &str, found: &str) -> Self {
        Self::new("value.type-mismatch", format!("expected {expected}, found {}", excerpt(found)))
    }

    pub fn out_of_range(expected: &str, found: &str) -> Self {
        Self::new("value.out-of-range", format!("{} is out of the range of {expected}", excerpt(found)))
    }

    pub fn inexact(expected: &str, found: &str) -> Self {
        Self::new("value.inexact", format!("{} cannot be held exactly by {expected}", excerpt(found)))
    }

    pub fn required() -> Self {
        Self::new("value.required", "a required column is missing or null")
    }

    pub fn within(mut self, name: &str) -> Self {
        self.path.push(name.to_owned());
        self
    }

    /// Dotted, a part that holds a dot in quotes: `a."b.c"`, `tags.element`.
    pub fn column(&self) -> String {
        let mut column = String::new();
        for part in self.path.iter().rev() {
            if !column.is_empty() {
                column.push('.');
            }
            if part.contains('.') {
                let _ = write!(column, "\"{part}\"");
            } else {
                column.push_str(part);
            }
        }
        column
    }
}

/// The start of a value, for a message.
pub fn excerpt(text: &str) -> String {
    match text.char_indices().nth(EXCERPT_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// At most `bytes_max` bytes of `text`, cut between characters.
pub fn cut(text: &str, bytes_max: usize) -> &str {
    if text.len() <= bytes_max {
        return text;
    }
    let mut end = bytes_max;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
