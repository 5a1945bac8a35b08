//! Where rows go and in what order: partition transforms, files by partition, sort orders.

pub mod partition;
pub mod partitioned_encoder;
pub mod scalar;
pub mod sort;
pub mod source;
pub mod transform;
