//! Cuts a body into rows as it arrives: lines of NDJSON, or the elements of one JSON array. Looks only at
//! what is needed to find the ends; whether a row is valid is found when it is parsed.

use std::ops::Range;

use memchr::{memchr, memchr2, memrchr};
use serde::de::IgnoredAny;

use crate::error::{KernelError, Result};
use crate::json::decoder::error_offset;

/// Where the bytes of a buffer begin in the body; lines from 0, columns in characters from 0.
#[derive(Default, Clone, Copy)]
pub struct Position {
    line: u64,
    column: u64,
}

impl Position {
    pub fn advance_over(&mut self, bytes: &[u8]) {
        let tail = match memrchr(b'\n', bytes) {
            Some(last) => {
                self.line += count_line_feeds(bytes);
                self.column = 0;
                &bytes[last + 1..]
            }
            None => bytes,
        };
        // Bytes that do not continue a character.
        self.column += tail.iter().filter(|byte| **byte & 0xc0 != 0x80).count() as u64;
    }

    /// From 1.
    pub fn line(&self) -> u64 {
        self.line + 1
    }

    /// Adds `line` and `column`, from 1, of the byte after `before`.
    pub fn locate(mut self, before: &[u8], error: KernelError) -> KernelError {
        self.advance_over(before);
        error.with("line", self.line + 1).with("column", self.column + 1)
    }
}

/// In runs whose count fits a byte, which lets the compiler count sixteen bytes at once.
fn count_line_feeds(bytes: &[u8]) -> u64 {
    let run_count = |run: &[u8]| u64::from(run.iter().map(|byte| u8::from(*byte == b'\n')).sum::<u8>());
    bytes.chunks(usize::from(u8::MAX)).map(run_count).sum()
}

/// Rows as ranges of the buffer.
pub enum Framer {
    Lines { scanned: usize, end: usize },
    Document(Document),
}

impl Framer {
    pub fn lines() -> Self {
        Self::Lines { scanned: 0, end: 0 }
    }

    pub fn document() -> Self {
        Self::Document(Document::default())
    }

    /// Looks at what was added to `buffer` since the last call. `Err`: the fault and its place.
    pub fn scan(&mut self, buffer: &[u8]) -> std::result::Result<(), (KernelError, usize)> {
        match self {
            Self::Lines { scanned, end } => {
                if let Some(last) = memrchr(b'\n', &buffer[*scanned..]) {
                    *end = *scanned + last + 1;
                }
                *scanned = buffer.len();
                Ok(())
            }
            Self::Document(document) => document.scan(buffer),
        }
    }

    /// The body has ended with `buffer`.
    pub fn finish(&mut self, buffer: &[u8]) -> Result<()> {
        match self {
            // The last line needs no line feed.
            Self::Lines { end, .. } => {
                *end = buffer.len();
                Ok(())
            }
            Self::Document(document) => document.finish(),
        }
    }

    /// Bytes up to the end of the last complete row.
    pub fn complete_bytes(&self) -> usize {
        match self {
            Self::Lines { end, .. } => *end,
            Self::Document(document) => document.rows.last().map_or(0, |row| row.end),
        }
    }

    /// Bytes after it, which belong to a row still open.
    pub fn open_bytes(&self, buffer: &[u8]) -> usize {
        match self {
            Self::Lines { end, .. } => buffer.len() - *end,
            Self::Document(document) if document.in_row() => buffer.len() - document.row_start,
            Self::Document(_) => 0,
        }
    }

    /// The bytes of a slice: whole rows, as few as reach `slice_bytes`.
    pub fn slice_end(&self, buffer: &[u8], slice_bytes: usize) -> usize {
        let complete = self.complete_bytes();
        if complete <= slice_bytes {
            return complete;
        }
        match self {
            Self::Lines { .. } => {
                let from = slice_bytes.saturating_sub(1);
                memchr(b'\n', &buffer[from..complete]).map_or(complete, |at| from + at + 1)
            }
            Self::Document(document) => {
                let first = document.rows.partition_point(|row| row.end < slice_bytes);
                document.rows.get(first).map_or(complete, |row| row.end)
            }
        }
    }

    /// The rows within the first `end` bytes.
    pub fn rows<'a>(&'a self, buffer: &'a [u8], end: usize) -> Box<dyn Iterator<Item = Range<usize>> + 'a> {
        match self {
            Self::Lines { .. } => {
                let mut at = 0;
                Box::new(std::iter::from_fn(move || {
                    while at < end {
                        let start = at;
                        let stop = memchr(b'\n', &buffer[start..end]).map_or(end, |length| start + length);
                        at = stop + 1;
                        if buffer[start..stop].iter().any(|byte| !matches!(byte, b' ' | b'\t' | b'\r')) {
                            return Some(start..stop);
                        }
                    }
                    None
                }))
            }
            Self::Document(document) => {
                Box::new(document.rows.iter().take_while(move |row| row.end <= end).cloned())
            }
        }
    }

    /// The first `end` bytes were taken out of the buffer.
    pub fn drop_front(&mut self, end: usize) {
        match self {
            Self::Lines { scanned, end: complete } => {
                *scanned = scanned.saturating_sub(end);
                *complete = complete.saturating_sub(end);
            }
            Self::Document(document) => document.drop_front(end),
        }
    }
}

/// Finds the elements of a top-level array, or the one top-level object.
#[derive(Default)]
pub struct Document {
    state: State,
    rows: Vec<Range<usize>>,
    scanned: usize,
    row_start: usize,
    depth: usize,
    in_string: bool,
    is_array: bool,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Start,
    /// After `[`.
    FirstElement,
    /// After a comma.
    NextElement,
    InElement,
    /// After the last bracket.
    End,
}

impl Document {
    fn in_row(&self) -> bool {
        self.state == State::InElement
    }

    fn scan(&mut self, buffer: &[u8]) -> std::result::Result<(), (KernelError, usize)> {
        let mut at = self.scanned;
        while at < buffer.len() {
            let byte = buffer[at];
            if self.in_string {
                at = match memchr2(b'"', b'\\', &buffer[at..]) {
                    None => buffer.len(),
                    Some(found) if buffer[at + found] == b'"' => {
                        self.in_string = false;
                        at + found + 1
                    }
                    // The escaped byte must be seen together with its backslash.
                    Some(found) if at + found + 1 == buffer.len() => {
                        self.scanned = at + found;
                        return Ok(());
                    }
                    Some(found) => at + found + 2,
                };
                continue;
            }
            self.step(byte, at).map_err(|error| self.first_fault(&buffer[..=at]).unwrap_or((error, at)))?;
            at += 1;
        }
        self.scanned = at;
        Ok(())
    }

    /// A bracket too many at the end of `buffer` may be the consequence of a wrong one before it.
    fn first_fault(&self, buffer: &[u8]) -> Option<(KernelError, usize)> {
        let row = std::str::from_utf8(buffer.get(self.row_start..)?).ok()?;
        let error = serde_json::from_str::<IgnoredAny>(row).err().filter(|_| self.in_row())?;
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or(&message);
        Some((malformed(message), self.row_start + error_offset(row, &error)))
    }

    fn step(&mut self, byte: u8, at: usize) -> Result<()> {
        let is_blank = matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        match self.state {
            _ if is_blank && self.state != State::InElement => {}
            State::Start => match byte {
                b'[' => {
                    self.is_array = true;
                    self.state = State::FirstElement;
                }
                b'{' => self.open(byte, at),
                b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => {
                    let message = "the body must be an object or an array of objects";
                    return Err(KernelError::invalid("json.not-an-object", message));
                }
                _ => return Err(malformed("expected an object or an array of objects")),
            },
            State::FirstElement if byte == b']' => self.state = State::End,
            State::FirstElement | State::NextElement => match byte {
                b',' | b']' | b'}' | b':' => return Err(malformed("expected a value")),
                _ => self.open(byte, at),
            },
            State::InElement => return self.step_inside(byte, at),
            State::End => return Err(malformed("trailing characters after the end of the document")),
        }
        Ok(())
    }

    fn open(&mut self, byte: u8, at: usize) {
        self.state = State::InElement;
        self.row_start = at;
        self.depth = usize::from(matches!(byte, b'{' | b'['));
        self.in_string = byte == b'"';
    }

    fn step_inside(&mut self, byte: u8, at: usize) -> Result<()> {
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' if self.depth > 0 => {
                self.depth -= 1;
                if self.depth == 0 && !self.is_array {
                    self.close(at + 1);
                    self.state = State::End;
                }
            }
            b',' if self.depth == 0 => {
                self.close(at);
                self.state = State::NextElement;
            }
            b']' => {
                self.close(at);
                self.state = State::End;
            }
            b'}' => return Err(malformed("unexpected }")),
            _ => {}
        }
        Ok(())
    }

    fn close(&mut self, end: usize) {
        self.rows.push(self.row_start..end);
    }

    fn finish(&self) -> Result<()> {
        match self.state {
            State::Start | State::End => Ok(()),
            _ => Err(KernelError::invalid("json.truncated", "the body ends before its JSON does")),
        }
    }

    fn drop_front(&mut self, end: usize) {
        let kept = self.rows.partition_point(|row| row.end <= end);
        self.rows.drain(..kept);
        for row in &mut self.rows {
            *row = row.start - end..row.end - end;
        }
        self.scanned -= end;
        self.row_start = self.row_start.saturating_sub(end);
    }
}

fn malformed(message: &str) -> KernelError {
    KernelError::invalid("json.malformed", message)
}
