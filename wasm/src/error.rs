//! The kernel's one error type. It crosses to the host as JSON and becomes an `IcebergError` there.

use serde_json::{Map, Value, json};

/// A failure of a whole call; a fault of a single row is a [`crate::rejection::Rejection`].
#[derive(Debug)]
pub struct KernelError {
    /// One of the host's error kinds: `invalid`, `too-large`, `unsupported`, `internal`.
    pub kind: &'static str,
    pub code: &'static str,
    pub message: String,
    pub context: Map<String, Value>,
}

pub type Result<T> = std::result::Result<T, KernelError>;

impl KernelError {
    pub fn new(kind: &'static str, code: &'static str, message: impl Into<String>) -> Self {
        Self { kind, code, message: message.into(), context: Map::new() }
    }

    pub fn invalid(code: &'static str, message: impl Into<String>) -> Self {
        Self::new("invalid", code, message)
    }

    /// For our own broken assumptions.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new("internal", "kernel.internal", message)
    }

    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.context.insert(key.to_owned(), value.into());
        self
    }

    pub fn to_json(&self) -> String {
        json!({
            "kind": self.kind,
            "code": self.code,
            "message": self.message,
            "context": self.context,
        })
        .to_string()
    }
}

impl From<arrow_schema::ArrowError> for KernelError {
    fn from(error: arrow_schema::ArrowError) -> Self {
        Self::internal(format!("arrow: {error}"))
    }
}

impl From<parquet::errors::ParquetError> for KernelError {
    fn from(error: parquet::errors::ParquetError) -> Self {
        Self::internal(format!("parquet: {error}"))
    }
}
