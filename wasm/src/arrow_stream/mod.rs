//! Arrow IPC streams from outside into columns.

pub mod append;
pub mod decoder;
pub mod pass;
pub mod types;
pub mod value;
