//! CSV with a header into slices of accepted and rejected rows. RFC 4180: fields in quotes may hold commas, line
//! feeds and doubled quotes. A field that is empty and not in quotes is null.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::RecordBatch;
use serde_json::{Value, json};

use crate::columns::{Column, StructColumns, Values};
use crate::error::{KernelError, Result};
use crate::json::exact;
use crate::json::frame::Position;
use crate::json::infer::{NEW_COLUMNS_MAX, check_name};
use crate::number::{is_integer_literal, is_json_number};
use crate::rejection::Rejection;
use crate::schema::Schema;
use crate::slice::{Limits, RejectedRow, Slice, cut_raw};

/// A slice also ends after so many rows.
const SLICE_ROWS_MAX: usize = 8192;

pub struct CsvDecoder {
    limits: Limits,
    buffer: Vec<u8>,
    /// Where `buffer` begins.
    position: Position,
    header: Option<Vec<String>>,
    /// Ends of complete records in `buffer`, each behind its line feed.
    ends: Vec<usize>,
    scanned: usize,
    in_quotes: bool,
    finished: bool,
    rows_before: u64,
    /// Records and rows of the last decoded slice.
    decoded: Option<(usize, u64)>,
}

/// What the values of a column that the schema lacks have in common.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Boolean,
    Long,
    Double,
    String,
}

type Field<'a> = Option<Cow<'a, str>>;

impl CsvDecoder {
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            buffer: Vec::new(),
            position: Position::default(),
            header: None,
            ends: Vec::new(),
            scanned: 0,
            in_quotes: false,
            finished: false,
            rows_before: 0,
            decoded: None,
        }
    }

    pub fn push(&mut self, chunk: &[u8]) -> Result<()> {
        self.buffer.extend_from_slice(chunk);
        self.scan()
    }

    pub fn finish(&mut self) -> Result<()> {
        self.finished = true;
        if self.in_quotes {
            let start = self.ends.last().copied().unwrap_or(0);
            let fault = KernelError::invalid("csv.truncated", "the body ends inside quotes");
            return Err(self.position.locate(&self.buffer[..start], fault));
        }
        // The last line needs no line feed.
        if self.ends.last().copied().unwrap_or(0) < self.buffer.len() {
            self.ends.push(self.buffer.len());
        }
        self.take_header()
    }

    fn scan(&mut self) -> Result<()> {
        for at in self.scanned..self.buffer.len() {
            match self.buffer[at] {
                b'"' => self.in_quotes = !self.in_quotes,
                b'\n' if !self.in_quotes => self.ends.push(at + 1),
                _ => {}
            }
        }
        self.scanned = self.buffer.len();
        let open = self.ends.last().copied().unwrap_or(0);
        if self.buffer.len() - open > self.limits.row_bytes_max {
            let message = format!("a row is larger than {} bytes", self.limits.row_bytes_max);
            let error = KernelError::new("too-large", "row.too-large", message).with("limit", self.limits.row_bytes_max);
            return Err(self.position.locate(&self.buffer[..open], error));
        }
        self.take_header()
    }

    /// The first record that is not blank.
    fn take_header(&mut self) -> Result<()> {
        while self.header.is_none() && !self.ends.is_empty() {
            let record = text_of(&self.buffer[..self.ends[0]], self.position)?;
            let record = record.strip_prefix('\u{feff}').unwrap_or(record);
            if !record.trim_ascii().is_empty() {
                let names = fields(record).map_err(|fault| self.position.locate(&[], malformed(fault)))?;
                let names = names.into_iter().map(|name| name.unwrap_or_default().into_owned()).collect::<Vec<_>>();
                check_header(&names).map_err(|error| self.position.locate(&[], error))?;
                self.header = Some(names);
            }
            self.drop_records(1);
        }
        Ok(())
    }

    fn drop_records(&mut self, count: usize) {
        let Some(end) = count.checked_sub(1).map(|last| self.ends[last]) else { return };
        self.position.advance_over(&self.buffer[..end]);
        self.buffer.drain(..end);
        self.ends.drain(..count);
        self.ends.iter_mut().for_each(|other| *other -= end);
        self.scanned = self.buffer.len();
    }

    pub fn ready(&self) -> bool {
        let complete = self.ends.last().copied().unwrap_or(0);
        complete >= self.limits.slice_bytes || self.finished && complete > 0
    }

    pub fn decode(&mut self, schema_json: &str) -> Result<Slice> {
        let schema = Schema::parse(schema_json)?;
        let mut columns = StructColumns::new(&schema.fields);
        let header = self.header.as_deref().unwrap_or_default();
        let places = header.iter().map(|name| columns.keys.lookup(name)).collect::<Vec<_>>();
        let mut kinds: Vec<Option<Kind>> = vec![None; header.len()];
        let mut slice = Slice::default();
        let (mut start, mut records) = (0, 0);
        let mut next = self.position;
        for end in &self.ends {
            if start >= self.limits.slice_bytes || records == SLICE_ROWS_MAX {
                break;
            }
            let bytes = &self.buffer[start..*end];
            let place = next;
            next.advance_over(bytes);
            start = *end;
            records += 1;
            let record = text_of(bytes, place)?;
            if record.trim_ascii().is_empty() {
                continue;
            }
            let fields = fields(record).map_err(|fault| place.locate(&[], malformed(fault)))?;
            let rows = columns.len;
            match append_record(&mut columns, &places, header, &fields, place) {
                Ok(()) => kinds.iter_mut().zip(&fields).for_each(|(kind, field)| *kind = widen(*kind, field)),
                Err(rejection) => {
                    columns.truncate(rows);
                    let raw = cut_raw(record.trim_ascii(), self.limits.raw_bytes_max);
                    slice.rejected.push(RejectedRow { row: self.rows_before + slice.received, rejection, raw });
                }
            }
            slice.received += 1;
        }
        slice.accepted = columns.len as u64;
        slice.unknown = unknown(header, &places, &kinds);
        if !schema.fields.is_empty() && slice.accepted > 0 {
            slice.batches.push(RecordBatch::try_new(Arc::new(schema.to_arrow()), columns.finish()?)?);
        }
        self.decoded = Some((records, slice.received));
        Ok(slice)
    }

    pub fn advance(&mut self) {
        let Some((records, rows)) = self.decoded.take() else { return };
        self.rows_before += rows;
        self.drop_records(records);
    }
}

fn text_of(bytes: &[u8], place: Position) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|error| {
        let fault = KernelError::invalid("csv.invalid-utf8", "the body is not valid UTF-8");
        place.locate(&bytes[..error.valid_up_to()], fault)
    })
}

fn malformed(fault: &'static str) -> KernelError {
    KernelError::invalid("csv.malformed", fault)
}

fn check_header(names: &[String]) -> Result<()> {
    let mut seen = std::collections::HashSet::new();
    if names.len() > NEW_COLUMNS_MAX {
        let message = format!("the header has more than {NEW_COLUMNS_MAX} columns");
        return Err(KernelError::invalid("schema.too-many-columns", message).with("limit", NEW_COLUMNS_MAX));
    }
    for name in names {
        check_name(name, true).map_err(|rejection| KernelError::invalid(rejection.code, rejection.message))?;
        if !seen.insert(name.to_lowercase()) {
            let message = format!("two columns are named {name}, or differ only in case");
            return Err(KernelError::invalid("csv.duplicate-column", message));
        }
    }
    Ok(())
}

/// The fields of a record; `None` for one that is empty and not in quotes.
fn fields(record: &str) -> std::result::Result<Vec<Field<'_>>, &'static str> {
    let record = record.strip_suffix('\n').unwrap_or(record);
    let mut rest = record.strip_suffix('\r').unwrap_or(record);
    let mut fields = Vec::new();
    loop {
        let tail = match rest.strip_prefix('"') {
            Some(quoted) => {
                let (field, tail) = quoted_field(quoted)?;
                fields.push(Some(field));
                tail
            }
            None => {
                let end = rest.find(',').unwrap_or(rest.len());
                let (field, tail) = rest.split_at(end);
                if field.contains('"') {
                    return Err("a quote in a field that does not begin with one");
                }
                fields.push((!field.is_empty()).then_some(Cow::Borrowed(field)));
                tail
            }
        };
        match tail.strip_prefix(',') {
            Some(next) => rest = next,
            None if tail.is_empty() => return Ok(fields),
            None => return Err("characters after the closing quote of a field"),
        }
    }
}

/// What lies behind the opening quote up to the closing one, and what follows that.
fn quoted_field(text: &str) -> std::result::Result<(Cow<'_, str>, &str), &'static str> {
    let mut from = 0;
    loop {
        let quote = from + text[from..].find('"').ok_or("a field without its closing quote")?;
        if !text[quote + 1..].starts_with('"') {
            let field = &text[..quote];
            let field = if field.contains('"') { Cow::Owned(field.replace("\"\"", "\"")) } else { Cow::Borrowed(field) };
            return Ok((field, &text[quote + 1..]));
        }
        from = quote + 2;
    }
}

fn append_record(
    columns: &mut StructColumns,
    places: &[Option<usize>],
    header: &[String],
    fields: &[Field],
    place: Position,
) -> std::result::Result<(), Rejection> {
    if fields.len() != header.len() {
        let message = format!("line {}: {} fields, the header has {}", place.line(), fields.len(), header.len());
        return Err(Rejection::new("csv.field-count", message));
    }
    for (field, index) in fields.iter().zip(places) {
        if let Some(index) = index {
            let column = &mut columns.columns[*index];
            append(column, field.as_deref()).map_err(|mut rejection| {
                rejection.message = format!("line {}: {}", place.line(), rejection.message);
                rejection.within(&column.name)
            })?;
        }
    }
    columns.close_row().map_err(|index| Rejection::required().within(&columns.columns[index].name))
}

fn append(column: &mut Column, field: Option<&str>) -> std::result::Result<(), Rejection> {
    let Some(text) = field else {
        return if column.append_null() { Ok(()) } else { Err(Rejection::required()) };
    };
    match &mut column.values {
        Values::Boolean(values) => match text.to_ascii_lowercase().as_str() {
            "true" => values.append(true),
            "false" => values.append(false),
            _ => return Err(Rejection::mismatch("boolean", text)),
        },
        _ if column.ty.is_number() => {
            let mut ignored = false;
            if !is_json_number(text) {
                return Err(Rejection::mismatch(&column.ty.name(), text));
            }
            return exact::append(text, column, &mut ignored);
        }
        _ => return exact::append_text(text, text, column),
    }
    column.commit_value();
    Ok(())
}

/// Longs among doubles are doubles; anything else together is text.
fn widen(kind: Option<Kind>, field: &Field) -> Option<Kind> {
    let Some(text) = field else { return kind };
    let found = match text.as_ref() {
        "true" | "false" => Kind::Boolean,
        text if is_json_number(text) && is_integer_literal(text) && text.parse::<i64>().is_ok() => Kind::Long,
        text if is_json_number(text) => Kind::Double,
        _ => Kind::String,
    };
    Some(match kind {
        None => found,
        Some(kind) if kind == found => kind,
        Some(Kind::Long | Kind::Double) if matches!(found, Kind::Long | Kind::Double) => Kind::Double,
        Some(_) => Kind::String,
    })
}

fn unknown(header: &[String], places: &[Option<usize>], kinds: &[Option<Kind>]) -> Value {
    let mut fields = Vec::new();
    for ((name, place), kind) in header.iter().zip(places).zip(kinds) {
        if let (None, Some(kind)) = (place, kind) {
            let ty = match kind {
                Kind::Boolean => "boolean",
                Kind::Long => "long",
                Kind::Double => "double",
                Kind::String => "string",
            };
            fields.push(json!({ "name": name, "type": ty }));
        }
    }
    if fields.is_empty() { Value::Null } else { json!({ "type": "struct", "fields": fields }) }
}
