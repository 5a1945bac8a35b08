//! Arrow columns that are already what the schema asks for, and are taken as they are.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{TimestampMicrosecondType, TimestampNanosecondType};
use arrow_array::{Array, ArrayRef, new_null_array};
use arrow_schema::{DataType, TimeUnit};
use arrow_select::take::take;

use crate::error::Result;
use crate::schema::{Field, Type, to_arrow_type};

/// The column for `field`, or `None` when its values must be looked at one by one.
pub fn pass(source: Option<&ArrayRef>, field: &Field, rows: usize) -> Result<Option<ArrayRef>> {
    let Some(array) = source else {
        return Ok((!field.required).then(|| new_null_array(&to_arrow_type(&field.ty), rows)));
    };
    if let DataType::Dictionary(_, values) = array.data_type()
        && is_plain(values, &field.ty)
    {
        let dictionary = array.as_any_dictionary();
        let array = take(dictionary.values().as_ref(), dictionary.keys(), None)?;
        return Ok(Some(array).filter(|array| has_values(array, field)));
    }
    if !is_plain(array.data_type(), &field.ty) || !has_values(array, field) {
        return Ok(None);
    }
    // The instant is the same whatever the zone is called.
    let zone = || Some(Arc::from("+00:00"));
    Ok(Some(match (array.data_type(), &field.ty) {
        (DataType::Timestamp(TimeUnit::Microsecond, Some(_)), _) => {
            Arc::new(array.as_primitive::<TimestampMicrosecondType>().clone().with_timezone_opt::<Arc<str>>(zone()))
        }
        (DataType::Timestamp(TimeUnit::Nanosecond, Some(_)), _) => {
            Arc::new(array.as_primitive::<TimestampNanosecondType>().clone().with_timezone_opt::<Arc<str>>(zone()))
        }
        _ => Arc::clone(array),
    }))
}

/// Every value of `found` is one of `ty`, in the same form.
fn is_plain(found: &DataType, ty: &Type) -> bool {
    match ty {
        // A decimal may exceed its precision, and nested columns hold names and nulls of their own.
        Type::Decimal { .. } | Type::Struct(_) | Type::List(_) | Type::Map { .. } => false,
        Type::Timestamp { utc, nanos } => {
            let unit = if *nanos { TimeUnit::Nanosecond } else { TimeUnit::Microsecond };
            matches!(found, DataType::Timestamp(found, zone) if *found == unit && zone.is_some() == *utc)
        }
        ty => *found == to_arrow_type(ty),
    }
}

fn has_values(array: &ArrayRef, field: &Field) -> bool {
    !field.required || array.logical_null_count() == 0
}
