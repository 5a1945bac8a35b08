//! How files are written: the host's `ParquetOptions`.

use std::collections::HashMap;

use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use serde_json::Value;

use crate::error::{KernelError, Result};

const ZSTD_LEVEL_DEFAULT: i32 = 1;
const GZIP_LEVEL_DEFAULT: u32 = 6;
/// As parquet-java's.
const PAGE_ROWS_MAX_DEFAULT: usize = 20_000;
/// Code points or bytes of a bound, unless the table says otherwise.
const BOUND_UNITS_DEFAULT: usize = 16;

#[derive(Debug, Clone)]
pub struct EncodeOptions {
    pub compression: Compression,
    pub row_group_bytes: usize,
    pub page_bytes: usize,
    pub dictionary_bytes: usize,
    pub page_rows_max: usize,
    pub sort: Option<SortOptions>,
    columns: HashMap<i32, ColumnOptions>,
}

#[derive(Debug, Clone)]
pub struct SortOptions {
    /// The JSON of a sort order.
    pub order: Value,
    /// Of rows that are sorted at once, as Arrow.
    pub buffer_bytes_max: usize,
}

#[derive(Debug, Clone, Copy)]
pub struct ColumnOptions {
    /// False where a dictionary is forbidden; elsewhere the values decide.
    pub may_have_dictionary: bool,
    /// In the file's footer and page index.
    pub has_statistics: bool,
    pub bloom_filter: Option<BloomFilter>,
    pub metrics: MetricsMode,
}

#[derive(Debug, Clone, Copy)]
pub struct BloomFilter {
    pub false_positives: f64,
    pub bytes_max: usize,
}

/// What the manifest is told of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricsMode {
    None,
    /// No bounds.
    Counts,
    /// Bounds of text and bytes have so many code points or bytes.
    Bounds(usize),
}

impl Default for ColumnOptions {
    fn default() -> Self {
        let metrics = MetricsMode::Bounds(BOUND_UNITS_DEFAULT);
        Self { may_have_dictionary: true, has_statistics: true, bloom_filter: None, metrics }
    }
}

impl EncodeOptions {
    /// `ParquetOptions` of the host.
    pub fn parse(options: &Value) -> Result<Self> {
        let bytes = |name: &str| {
            let value = options.get(name).and_then(Value::as_u64).and_then(|value| usize::try_from(value).ok());
            value.filter(|value| *value > 0).ok_or_else(|| invalid(format!("{name} must be a positive number")))
        };
        let level = options.get("compressionLevel").and_then(Value::as_i64);
        Ok(Self {
            compression: compression(options.get("codec").and_then(Value::as_str), level)?,
            row_group_bytes: bytes("rowGroupBytes")?,
            page_bytes: bytes("pageBytes")?,
            dictionary_bytes: bytes("dictionaryBytes")?,
            page_rows_max: match options.get("pageRowsMax") {
                Some(_) => bytes("pageRowsMax")?,
                None => PAGE_ROWS_MAX_DEFAULT,
            },
            sort: options.get("sort").map(SortOptions::parse).transpose()?,
            columns: column_options(options.get("columns"))?,
        })
    }

    pub fn column(&self, field_id: i32) -> ColumnOptions {
        self.columns.get(&field_id).copied().unwrap_or_default()
    }
}

impl SortOptions {
    fn parse(json: &Value) -> Result<Self> {
        let bytes = json.get("bufferBytesMax").and_then(Value::as_u64).and_then(|value| usize::try_from(value).ok());
        Ok(Self {
            order: json.get("order").cloned().unwrap_or_default(),
            buffer_bytes_max: bytes.ok_or_else(|| invalid("bufferBytesMax must be a positive number".to_owned()))?,
        })
    }
}

/// `[[field id, { dictionary, statistics, bloomFilter, metrics }], …]`, everything but the id optional.
fn column_options(json: Option<&Value>) -> Result<HashMap<i32, ColumnOptions>> {
    let entries = json.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let parse = |entry: &Value| {
        let id = entry.get(0).and_then(Value::as_i64).and_then(|id| i32::try_from(id).ok());
        let id = id.ok_or_else(|| invalid("a column's options need its field id".to_owned()))?;
        let options = entry.get(1).unwrap_or(&Value::Null);
        let is_on = |name: &str| options.get(name).and_then(Value::as_bool).unwrap_or(true);
        Ok((id, ColumnOptions {
            may_have_dictionary: is_on("dictionary"),
            has_statistics: is_on("statistics"),
            bloom_filter: options.get("bloomFilter").map(bloom_filter).transpose()?,
            metrics: match options.get("metrics") {
                Some(mode) => metrics_mode(mode)?,
                None => ColumnOptions::default().metrics,
            },
        }))
    };
    entries.iter().map(parse).collect()
}

fn bloom_filter(json: &Value) -> Result<BloomFilter> {
    let false_positives = json.get("fpp").and_then(Value::as_f64).filter(|value| *value > 0.0 && *value < 1.0);
    let bytes_max = json.get("bytesMax").and_then(Value::as_u64).and_then(|value| usize::try_from(value).ok());
    match (false_positives, bytes_max) {
        (Some(false_positives), Some(bytes_max)) => Ok(BloomFilter { false_positives, bytes_max }),
        _ => Err(invalid("a bloom filter needs fpp between 0 and 1, and bytesMax".to_owned())),
    }
}

fn metrics_mode(json: &Value) -> Result<MetricsMode> {
    let length = || json.get("length").and_then(Value::as_u64).and_then(|value| usize::try_from(value).ok());
    Ok(match json.get("kind").and_then(Value::as_str) {
        Some("none") => MetricsMode::None,
        Some("counts") => MetricsMode::Counts,
        Some("full") => MetricsMode::Bounds(usize::MAX),
        Some("truncate") => MetricsMode::Bounds(length().unwrap_or(BOUND_UNITS_DEFAULT)),
        _ => return Err(invalid("metrics must be none, counts, truncate or full".to_owned())),
    })
}

fn compression(codec: Option<&str>, level: Option<i64>) -> Result<Compression> {
    let out_of_range = |_| invalid(format!("compressionLevel {} is out of range", level.unwrap_or_default()));
    Ok(match codec {
        Some("zstd") => {
            let level = level.map_or(ZSTD_LEVEL_DEFAULT, |level| i32::try_from(level).unwrap_or(i32::MAX));
            Compression::ZSTD(ZstdLevel::try_new(level).map_err(out_of_range)?)
        }
        Some("gzip") => {
            let level = level.map_or(GZIP_LEVEL_DEFAULT, |level| u32::try_from(level).unwrap_or(u32::MAX));
            Compression::GZIP(GzipLevel::try_new(level).map_err(out_of_range)?)
        }
        Some("snappy") => Compression::SNAPPY,
        Some("uncompressed") => Compression::UNCOMPRESSED,
        _ => return Err(invalid("codec must be zstd, snappy, gzip or uncompressed".to_owned())),
    })
}

fn invalid(message: String) -> KernelError {
    KernelError::invalid("parquet.invalid-option", message)
}
