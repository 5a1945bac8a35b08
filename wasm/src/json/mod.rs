//! JSON bodies into columns.

pub mod decoder;
pub mod exact;
pub mod fast;
pub mod frame;
pub mod infer;
