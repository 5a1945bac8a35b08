//! Arrow batches into one Parquet file. Each column's encoding is chosen by the first rows; a row group is
//! closed when its encoded size reaches the limit, so that memory stays bounded; bytes go to the sink as soon
//! as a row group is closed.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_ipc::reader::StreamReader;
use arrow_schema::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::file::metadata::{KeyValue, ParquetMetaData};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use serde_json::{Value, json};

use crate::column_properties::set_column_properties;
use crate::encode_options::EncodeOptions;
use crate::error::{KernelError, Result};
use crate::layout::scalar::hex;
use crate::layout::sort::Sorter;
use crate::metrics::FileMetrics;
use crate::parquet_schema::to_parquet;
use crate::project::project;
use crate::schema::Schema;

/// Rows that are looked at before the encodings are chosen.
pub const SAMPLE_ROWS: usize = 4096;
/// Rows between two looks at the size of the open row group.
const STEP_ROWS: usize = 4096;
/// Bytes of a value that statistics in the file keep; long values would bloat the footer.
const STATISTICS_BYTES_MAX: usize = 64;

pub struct Encoder<W: Write + Send> {
    schema: Schema,
    arrow_schema: SchemaRef,
    options: EncodeOptions,
    metrics: FileMetrics,
    record_count: u64,
    /// For a table with a sort order.
    sorter: Option<Sorter>,
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
            metrics: FileMetrics::new(&schema.fields, &options),
            sorter: options.sort.as_ref().map(|sort| Sorter::new(&schema, sort)).transpose()?,
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
        let Some(sorter) = &mut self.sorter else { return self.take(batch) };
        sorter.push(batch)?;
        if sorter.is_full() { self.take_sorted() } else { Ok(()) }
    }

    fn take_sorted(&mut self) -> Result<()> {
        let Some(mut sorter) = self.sorter.take() else { return Ok(()) };
        let order = sorter.order();
        order.chunks(STEP_ROWS).try_for_each(|places| self.take(sorter.gather(places)?))?;
        sorter.forget_rows();
        self.sorter = Some(sorter);
        Ok(())
    }

    /// Adds rows that are in their order.
    fn take(&mut self, batch: RecordBatch) -> Result<()> {
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
        let waiting = self.pending_bytes + self.sorter.as_ref().map_or(0, Sorter::buffered_bytes);
        match &self.state {
            State::Open(writer) => waiting + writer.bytes_written() + writer.in_progress_size(),
            _ => waiting,
        }
    }

    fn open(&mut self) -> Result<()> {
        let State::Waiting(sink) = std::mem::replace(&mut self.state, State::Moved) else {
            return Err(KernelError::internal("the encoder is not waiting"));
        };
        let pending = std::mem::take(&mut self.pending);
        self.pending_bytes = 0;
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
        self.take_sorted()?;
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
        // Those that are wanted of each column.
        let leaves = || self.metrics.leaves();
        let pair = |id: i32, value: String| json!([id, value]);
        json!({
            "fileSizeInBytes": file_bytes.to_string(),
            "recordCount": self.record_count.to_string(),
            "isSorted": self.sorter.as_ref().map(Sorter::is_sorted),
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
            .set_data_page_row_count_limit(self.options.page_rows_max)
            .set_dictionary_page_size_limit(self.options.dictionary_bytes)
            .set_statistics_enabled(EnabledStatistics::Page)
            .set_statistics_truncate_length(Some(STATISTICS_BYTES_MAX))
            .set_column_index_truncate_length(Some(STATISTICS_BYTES_MAX))
            // Row groups are closed by size, in `write`.
            .set_max_row_group_row_count(None)
            .set_key_value_metadata(Some(metadata));
        for (index, field) in self.schema.fields.iter().enumerate() {
            let arrays: Vec<ArrayRef> = sample.iter().map(|batch| Arc::clone(batch.column(index))).collect();
            builder = set_column_properties(builder, &self.options, field, vec![field.name.clone()], &arrays);
        }
        builder.build()
    }
}

/// Bytes of the rows themselves; arrays of an IPC stream share one larger buffer.
pub fn slice_bytes(batch: &RecordBatch) -> usize {
    batch.columns().iter().map(|column| column.to_data().get_slice_memory_size().unwrap_or(0)).sum()
}
