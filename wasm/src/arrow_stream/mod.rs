//! Arrow IPC streams and files, and Parquet files, from outside into columns.

pub mod append;
pub mod decoder;
pub mod pass;
pub mod types;
pub mod value;
mod whole_body;
