//! What the host calls an encoder: rows into one Parquet file, or into one file a partition.

use std::io::Write;

use arrow_array::RecordBatch;
use serde_json::Value;

use crate::encode::Encoder;
use crate::encode_options::EncodeOptions;
use crate::error::{KernelError, Result};
use crate::layout::partitioned_encoder::{PartitionOptions, PartitionedEncoder, Spill};

pub enum Writer<W: Write + Send> {
    Single(Box<Encoder<W>>),
    Partitioned(Box<PartitionedEncoder<W>>),
}

impl<W: Write + Send> Writer<W> {
    /// `options`: the host's `ParquetOptions` as JSON, with `partitioning` for one file a partition.
    pub fn new(schema_json: &str, options_json: &str, sink: W, spill: Spill) -> Result<Self> {
        let options: Value = serde_json::from_str(options_json)
            .map_err(|error| KernelError::internal(format!("options JSON: {error}")))?;
        let encode = EncodeOptions::parse(&options)?;
        Ok(match options.get("partitioning") {
            Some(partitioning) => {
                let partitioning = PartitionOptions::parse(partitioning)?;
                Self::Partitioned(Box::new(PartitionedEncoder::new(schema_json, encode, &partitioning, spill)?))
            }
            None => Self::Single(Box::new(Encoder::new(schema_json, encode, sink)?)),
        })
    }

    pub fn append(&mut self, batch: &RecordBatch) -> Result<()> {
        match self {
            Self::Single(encoder) => encoder.append(batch),
            Self::Partitioned(encoder) => encoder.append(batch),
        }
    }

    pub fn append_ipc(&mut self, ipc: &[u8]) -> Result<()> {
        match self {
            Self::Single(encoder) => encoder.append_ipc(ipc),
            Self::Partitioned(encoder) => encoder.append_ipc(ipc),
        }
    }

    /// Of one file: handed out and held back. Of partitions: the rows that wait here.
    pub fn encoded_bytes(&self) -> usize {
        match self {
            Self::Single(encoder) => encoder.encoded_bytes(),
            Self::Partitioned(encoder) => encoder.buffered_bytes(),
        }
    }

    /// 0 for one file that belongs to no partition.
    pub fn partition_count(&self) -> usize {
        match self {
            Self::Single(_) => 0,
            Self::Partitioned(encoder) => encoder.partition_count(),
        }
    }

    pub fn open_partition(&mut self, partition: usize, sink: W) -> Result<()> {
        match self {
            Self::Single(_) => Err(KernelError::internal("the encoder has no partitions")),
            Self::Partitioned(encoder) => encoder.open(partition, sink),
        }
    }

    /// Of the one file, or of the partition that is open.
    pub fn finish(&mut self) -> Result<Value> {
        match self {
            Self::Single(encoder) => encoder.finish(),
            Self::Partitioned(encoder) => encoder.finish(),
        }
    }
}
