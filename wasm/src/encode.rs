//! Arrow batches into one Parquet file. Each column's encoding is chosen by the first rows; a row group is
//! closed when its encoded size reaches the limit, so that memory stays bounded; bytes go to the sink as soon
//! as a row group is closed.

use std::collections::{BTreeMap, HashSet};
use std::io::Write;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_ipc::reader::StreamReader;
use arrow_schema::{DataType, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, Encoding, GzipLevel, ZstdLevel};
use parquet::file::metadata::{KeyValue, ParquetMetaData};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::schema::types::ColumnPath;
use serde_json::{Value, json};

use crate::error::{KernelError, Result};
use crate::layout::scalar::hex;
use crate::metrics::FileMetrics;
use crate::parquet_schema::to_parquet;
use crate::project::project;
use crate::schema::{Field, Schema, Type};

/// Rows that are looked at before the encodings are chosen.
const SAMPLE_ROWS: usize = 4096;
/// Rows between two looks at the size of the open row group.
const STEP_ROWS: usize = 4096;
/// Bytes of a value that statistics in the file keep; long values would bloat the footer.
const STATISTICS_BYTES_MAX: usize = 64;
const ZSTD_LEVEL_DEFAULT: i32 = 1;
const GZIP_LEVEL_DEFAULT: u32 = 6;

#[derive(Debug, Clone)]
pub struct EncodeOptions {
    pub compression: Compression,
    pub row_group_bytes: usize,
    pub page_bytes: usize,
    pub dictionary_bytes: usize,
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
        })
    }
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

pub struct Encoder<W: Write + Send> {
    schema: Schema,
    arrow_schema: SchemaRef,
    options: EncodeOptions,
    metrics: FileMetrics,
    record_count: u64,
    /// Rows that wait for the sample to be large enough.
    pending: Vec<RecordBatch>,
    pending_rows: usize,
    pending_bytes: usize,
    state: State<W>,
}

enum State<W: Write + Send> {
    /// Taken out; only while a method runs.
    Moved,
    Waiting(W),
    Open(Box<ArrowWriter<W>>),
}

impl<W: Write + Send> Encoder<W> {
    pub fn new(schema_json: &str, options: EncodeOptions, sink: W) -> Result<Self> {
        let schema = Schema::parse(schema_json)?;
        if schema.fields.is_empty() {
            return Err(KernelError::invalid("schema.no-columns", "a Parquet file needs a column"));
        }
        Ok(Self {
            arrow_schema: Arc::new(schema.to_arrow()),
            metrics: FileMetrics::new(&schema.fields),
            schema,
            options,
            record_count: 0,
            pending: Vec::new(),
            pending_rows: 0,
            pending_bytes: 0,
            state: State::Waiting(sink),
        })
    }

    /// Adds an Arrow IPC stream of this kernel.
    pub fn append_ipc(&mut self, ipc: &[u8]) -> Result<()> {
        for batch in StreamReader::try_new(ipc, None)? {
            self.append(&batch?)?;
        }
        Ok(())
    }

    pub fn append(&mut self, batch: &RecordBatch) -> Result<()> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let batch = project(batch, &self.arrow_schema)?;
        self.metrics.update(&self.schema.fields, batch.columns())?;
        self.record_count += batch.num_rows() as u64;
        if matches!(self.state, State::Open(_)) {
            return self.write(&batch);
        }
        self.pending_rows += batch.num_rows();
        self.pending_bytes += slice_bytes(&batch);
        self.pending.push(batch);
        if self.pending_rows >= SAMPLE_ROWS || self.pending_bytes >= self.options.row_group_bytes {
            self.open()?;
        }
        Ok(())
    }

    /// Bytes handed out plus an estimate of what is held back.
    pub fn encoded_bytes(&self) -> usize {
        match &self.state {
            State::Open(writer) => writer.bytes_written() + writer.in_progress_size(),
            _ => self.pending_bytes,
        }
    }

    fn open(&mut self) -> Result<()> {
        let State::Waiting(sink) = std::mem::replace(&mut self.state, State::Moved) else {
            return Err(KernelError::internal("the encoder is not waiting"));
        };
        let pending = std::mem::take(&mut self.pending);
        let options = ArrowWriterOptions::new()
            .with_properties(self.properties(&pending))
            .with_parquet_schema(to_parquet(&self.schema)?)
            // It would only repeat the schema, and some readers prefer it to the Parquet one.
            .with_skip_arrow_metadata(true);
        let writer = ArrowWriter::try_new_with_options(sink, Arc::clone(&self.arrow_schema), options)?;
        self.state = State::Open(Box::new(writer));
        pending.iter().try_for_each(|batch| self.write(batch))
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let State::Open(writer) = &mut self.state else {
            return Err(KernelError::internal("the encoder is not open"));
        };
        for start in (0..batch.num_rows()).step_by(STEP_ROWS) {
            writer.write(&batch.slice(start, STEP_ROWS.min(batch.num_rows() - start)))?;
            if writer.in_progress_size() >= self.options.row_group_bytes {
                writer.flush()?;
            }
        }
        Ok(())
    }

    /// Writes the footer. The result is the host's `EncodedFile`, 64-bit numbers as text, bounds in hex.
    pub fn finish(&mut self) -> Result<Value> {
        if matches!(self.state, State::Waiting(_)) {
            self.open()?;
        }
        let State::Open(writer) = &mut self.state else {
            return Err(KernelError::internal("the encoder is not open"));
        };
        let metadata = writer.finish()?;
        Ok(self.facts(&metadata, self.encoded_bytes()))
    }

    /// The sink, after `finish`.
    pub fn into_sink(self) -> Result<W> {
        match self.state {
            State::Open(writer) => Ok(writer.into_inner()?),
            State::Waiting(sink) => Ok(sink),
            State::Moved => Err(KernelError::internal("the encoder failed")),
        }
    }

    fn facts(&self, metadata: &ParquetMetaData, file_bytes: usize) -> Value {
        let mut column_sizes: BTreeMap<i32, i64> = BTreeMap::new();
        let mut split_offsets = Vec::new();
        for row_group in metadata.row_groups() {
            for (index, column) in row_group.columns().iter().enumerate() {
                if index == 0 {
                    let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
                    split_offsets.push(start.min(column.data_page_offset()).to_string());
                }
                let id = column.column_descr().self_type().get_basic_info().id();
                *column_sizes.entry(id).or_default() += column.compressed_size();
            }
        }
        let leaves = || self.metrics.leaves();
        let pair = |id: i32, value: String| json!([id, value]);
        json!({
            "fileSizeInBytes": file_bytes.to_string(),
            "recordCount": self.record_count.to_string(),
            "splitOffsets": split_offsets,
            "columnSizes": column_sizes.iter().map(|(id, bytes)| pair(*id, bytes.to_string())).collect::<Vec<_>>(),
            "valueCounts": leaves().map(|leaf| pair(leaf.id, leaf.values.to_string())).collect::<Vec<_>>(),
            "nullValueCounts": leaves().map(|leaf| pair(leaf.id, leaf.nulls.to_string())).collect::<Vec<_>>(),
            "nanValueCounts":
                leaves().filter_map(|leaf| Some(pair(leaf.id, leaf.nans()?.to_string()))).collect::<Vec<_>>(),
            "lowerBounds": leaves().filter_map(|leaf| Some(pair(leaf.id, hex(&leaf.lower()?)))).collect::<Vec<_>>(),
            "upperBounds": leaves().filter_map(|leaf| Some(pair(leaf.id, hex(&leaf.upper()?)))).collect::<Vec<_>>(),
        })
    }

    fn properties(&self, sample: &[RecordBatch]) -> WriterProperties {
        let metadata = vec![KeyValue::new("iceberg.schema".to_owned(), self.schema.json.clone())];
        let mut builder = WriterProperties::builder()
            .set_compression(self.options.compression)
            .set_data_page_size_limit(self.options.page_bytes)
            .set_dictionary_page_size_limit(self.options.dictionary_bytes)
            .set_statistics_enabled(EnabledStatistics::Page)
            .set_statistics_truncate_length(Some(STATISTICS_BYTES_MAX))
            .set_column_index_truncate_length(Some(STATISTICS_BYTES_MAX))
            // Row groups are closed by size, in `write`.
            .set_max_row_group_row_count(None)
            .set_key_value_metadata(Some(metadata));
        for (index, field) in self.schema.fields.iter().enumerate() {
            let arrays: Vec<ArrayRef> = sample.iter().map(|batch| Arc::clone(batch.column(index))).collect();
            builder = choose_encodings(builder, field, vec![field.name.clone()], &arrays);
        }
        builder.build()
    }
}

/// A dictionary where values repeat; elsewhere it costs time and space, and integers are stored as differences.
fn choose_encodings(
    mut builder: WriterPropertiesBuilder,
    field: &Field,
    path: Vec<String>,
    sample: &[ArrayRef],
) -> WriterPropertiesBuilder {
    let child = |name: &str| path.iter().cloned().chain([name.to_owned()]).collect::<Vec<_>>();
    match &field.ty {
        Type::Struct(children) => {
            for (index, inner) in children.iter().enumerate() {
                let arrays: Vec<ArrayRef> =
                    sample.iter().map(|array| Arc::clone(array.as_struct().column(index))).collect();
                builder = choose_encodings(builder, inner, child(&inner.name), &arrays);
            }
            builder
        }
        Type::List(element) => {
            let arrays: Vec<ArrayRef> = sample.iter().map(|array| Arc::clone(array.as_list::<i32>().values())).collect();
            let mut path = child("list");
            path.push(element.name.clone());
            choose_encodings(builder, element, path, &arrays)
        }
        Type::Map { key, value } => {
            for (index, inner) in [key, value].into_iter().enumerate() {
                let arrays: Vec<ArrayRef> =
                    sample.iter().map(|array| Arc::clone(array.as_map().entries().column(index))).collect();
                let mut path = child("key_value");
                path.push(inner.name.clone());
                builder = choose_encodings(builder, inner, path, &arrays);
            }
            builder
        }
        ty => {
            let path = ColumnPath::new(path);
            let fallback = match ty {
                Type::Int | Type::Long | Type::Date | Type::Time | Type::Timestamp { .. } => Encoding::DELTA_BINARY_PACKED,
                _ => Encoding::PLAIN,
            };
            builder
                .set_column_encoding(path.clone(), fallback)
                .set_column_dictionary_enabled(path, repeats(sample))
        }
    }
}

/// Whether at most half of the values seen are distinct; without values there is nothing to repeat, and an
/// empty dictionary page is more than some readers expect.
fn repeats(sample: &[ArrayRef]) -> bool {
    let mut distinct: HashSet<Vec<u8>> = HashSet::new();
    let mut seen = 0;
    for array in sample {
        for index in 0..array.len() {
            if seen == SAMPLE_ROWS {
                break;
            }
            if array.is_valid(index)
                && let Some(bytes) = value_bytes(array, index)
            {
                seen += 1;
                distinct.insert(bytes);
            }
        }
    }
    seen > 0 && distinct.len() * 2 <= seen
}

/// Bytes that are equal when the values are; `None` where a dictionary is never used.
fn value_bytes(array: &ArrayRef, index: usize) -> Option<Vec<u8>> {
    let data = array.to_data();
    Some(match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().value(index).as_bytes().to_vec(),
        DataType::Binary => array.as_binary::<i32>().value(index).to_vec(),
        DataType::FixedSizeBinary(_) => array.as_fixed_size_binary().value(index).to_vec(),
        other => {
            let width = other.primitive_width()?;
            let start = (data.offset() + index) * width;
            data.buffers().first()?.as_slice().get(start..start + width)?.to_vec()
        }
    })
}

/// Bytes of the rows themselves; arrays of an IPC stream share one larger buffer.
pub fn slice_bytes(batch: &RecordBatch) -> usize {
    batch.columns().iter().map(|column| column.to_data().get_slice_memory_size().unwrap_or(0)).sum()
}
