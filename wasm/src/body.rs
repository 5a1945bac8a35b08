//! A request body of any format, as the host feeds it.

use crate::arrow_stream::decoder::ArrowDecoder;
use crate::csv::CsvDecoder;
use crate::error::{KernelError, Result};
use crate::json::decoder::JsonDecoder;
use crate::json::frame::Framer;
use crate::slice::{Limits, Slice};

pub enum Body {
    Json(Box<JsonDecoder>),
    Arrow(Box<ArrowDecoder>),
    Csv(Box<CsvDecoder>),
}

impl Body {
    pub fn new(format: &str, limits: Limits) -> Result<Self> {
        match format {
            "ndjson" => Ok(Self::Json(Box::new(JsonDecoder::new(Framer::lines(), limits)))),
            "json" => Ok(Self::Json(Box::new(JsonDecoder::new(Framer::document(), limits)))),
            "csv" => Ok(Self::Csv(Box::new(CsvDecoder::new(limits)))),
            "arrow-stream" => Ok(Self::Arrow(Box::new(ArrowDecoder::stream(limits)))),
            "arrow-file" => Ok(Self::Arrow(Box::new(ArrowDecoder::file(limits)))),
            "parquet" => Ok(Self::Arrow(Box::new(ArrowDecoder::parquet(limits)))),
            _ => Err(KernelError::internal(format!("unknown body format {format}"))),
        }
    }

    pub fn push(&mut self, chunk: &[u8]) -> Result<()> {
        match self {
            Self::Json(decoder) => decoder.push(chunk),
            Self::Arrow(decoder) => decoder.push(chunk),
            Self::Csv(decoder) => decoder.push(chunk),
        }
    }

    pub fn finish(&mut self) -> Result<()> {
        match self {
            Self::Json(decoder) => decoder.finish(),
            Self::Arrow(decoder) => decoder.finish(),
            Self::Csv(decoder) => decoder.finish(),
        }
    }

    pub fn ready(&self) -> bool {
        match self {
            Self::Json(decoder) => decoder.ready(),
            Self::Arrow(decoder) => decoder.ready(),
            Self::Csv(decoder) => decoder.ready(),
        }
    }

    pub fn decode(&mut self, schema_json: &str) -> Result<Slice> {
        match self {
            Self::Json(decoder) => decoder.decode(schema_json),
            Self::Arrow(decoder) => decoder.decode(schema_json),
            Self::Csv(decoder) => decoder.decode(schema_json),
        }
    }

    pub fn advance(&mut self) {
        match self {
            Self::Json(decoder) => decoder.advance(),
            Self::Arrow(decoder) => decoder.advance(),
            Self::Csv(decoder) => decoder.advance(),
        }
    }
}
