//! How each column is stored: its encoding by what the first rows show, and what the table's properties ask.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use parquet::basic::Encoding;
use parquet::file::properties::{EnabledStatistics, WriterPropertiesBuilder};
use parquet::schema::types::ColumnPath;

use crate::encode::SAMPLE_ROWS;
use crate::encode_options::{BloomFilter, EncodeOptions};
use crate::schema::{Field, Type};

/// A dictionary where values repeat; elsewhere it costs time and space, and integers are stored as differences.
pub fn set_column_properties(
    mut builder: WriterPropertiesBuilder,
    options: &EncodeOptions,
    field: &Field,
    path: Vec<String>,
    sample: &[ArrayRef],
) -> WriterPropertiesBuilder {
    let child = |name: &str| path.iter().cloned().chain([name.to_owned()]).collect::<Vec<_>>();
    match &field.ty {
        Type::Struct(children) => {
            for (index, inner) in children.iter().enumerate() {
                let arrays: Vec<ArrayRef> =
                    sample.iter().map(|array| Arc::clone(array.as_struct().column(index))).collect();
                builder = set_column_properties(builder, options, inner, child(&inner.name), &arrays);
            }
            builder
        }
        Type::List(element) => {
            let arrays: Vec<ArrayRef> = sample.iter().map(|array| Arc::clone(array.as_list::<i32>().values())).collect();
            let mut path = child("list");
            path.push(element.name.clone());
            set_column_properties(builder, options, element, path, &arrays)
        }
        Type::Map { key, value } => {
            for (index, inner) in [key, value].into_iter().enumerate() {
                let arrays: Vec<ArrayRef> =
                    sample.iter().map(|array| Arc::clone(array.as_map().entries().column(index))).collect();
                let mut path = child("key_value");
                path.push(inner.name.clone());
                builder = set_column_properties(builder, options, inner, path, &arrays);
            }
            builder
        }
        ty => {
            let path = ColumnPath::new(path);
            let fallback = match ty {
                Type::Int | Type::Long | Type::Date | Type::Time | Type::Timestamp { .. } => Encoding::DELTA_BINARY_PACKED,
                _ => Encoding::PLAIN,
            };
            let options = options.column(field.id);
            if !options.has_statistics {
                builder = builder.set_column_statistics_enabled(path.clone(), EnabledStatistics::None);
            }
            if let Some(filter) = options.bloom_filter
                && *ty != Type::Boolean
            {
                builder = builder
                    .set_column_bloom_filter_enabled(path.clone(), true)
                    .set_column_bloom_filter_fpp(path.clone(), filter.false_positives)
                    .set_column_bloom_filter_max_ndv(path.clone(), values_within(filter));
            }
            builder
                .set_column_encoding(path.clone(), fallback)
                .set_column_dictionary_enabled(path, options.may_have_dictionary && repeats(sample))
        }
    }
}

/// Distinct values for which the filter, whose size is a power of two, stays within its limit. Spec of Parquet:
/// "Bloom filter", sizing.
fn values_within(filter: BloomFilter) -> u64 {
    let bits = if filter.bytes_max < 64 { 256.0 } else { f64::from(1u32 << filter.bytes_max.ilog2().min(28)) * 8.0 };
    let values = -bits * (1.0 - filter.false_positives.powf(0.125)).ln() / 8.0;
    (values.floor() as u64).max(1)
}

/// Whether at most half of the values seen are distinct; without values there is nothing to repeat, and an
/// empty dictionary page is more than some readers expect.
fn repeats(sample: &[ArrayRef]) -> bool {
    let mut distinct: HashSet<Vec<u8>> = HashSet::new();
    let mut seen = 0;
    for array in sample {
        for index in 0..array.len() {
            if seen == SAMPLE_ROWS {
                break;
            }
            if array.is_valid(index)
                && let Some(bytes) = value_bytes(array, index)
            {
                seen += 1;
                distinct.insert(bytes);
            }
        }
    }
    seen > 0 && distinct.len() * 2 <= seen
}

/// Bytes that are equal when the values are; `None` where a dictionary is never used.
fn value_bytes(array: &ArrayRef, index: usize) -> Option<Vec<u8>> {
    let data = array.to_data();
    Some(match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().value(index).as_bytes().to_vec(),
        DataType::Binary => array.as_binary::<i32>().value(index).to_vec(),
        DataType::FixedSizeBinary(_) => array.as_fixed_size_binary().value(index).to_vec(),
        other => {
            let width = other.primitive_width()?;
            let start = (data.offset() + index) * width;
            data.buffers().first()?.as_slice().get(start..start + width)?.to_vec()
        }
    })
}
