//! Arrow IPC streams from outside into columns.

pub mod append;
pub mod decoder;
pub mod types;
pub mod value;
