//! The columnar kernel of Floe: request bytes into Arrow columns, Arrow columns into Parquet files with the
//! metrics an Iceberg manifest wants. No I/O, no clock, nothing about tables. The host calls it through
//! [`abi`], the only file with unsafe code.

#[cfg(target_arch = "wasm32")]
pub mod abi;
pub mod arrow_stream;
pub mod body;
pub mod bounds;
pub mod column_properties;
pub mod columns;
pub mod csv;
pub mod encode;
pub mod encode_options;
pub mod error;
pub mod json;
pub mod key_index;
pub mod layout;
pub mod metrics;
pub mod number;
pub mod parquet_schema;
pub mod project;
pub mod rejection;
pub mod schema;
pub mod slice;
pub mod temporal;
pub mod text_values;
pub mod writer;
