//! Rows written under an earlier schema of a table, brought under the present one: columns are matched by
//! field id, missing ones become null, widened types are widened. Spec: "Schema Evolution", "Column Projection".

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Float32Type, Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, ListArray, MapArray, RecordBatch, StructArray, new_null_array};
use arrow_schema::{DataType, Field, FieldRef, Fields, SchemaRef};

use crate::error::{KernelError, Result};
use crate::schema::FIELD_ID_KEY;

pub fn project(batch: &RecordBatch, target: &SchemaRef) -> Result<RecordBatch> {
    if batch.schema_ref() == target {
        return Ok(batch.clone());
    }
    let columns = project_fields(batch.schema_ref().fields(), batch.columns(), target.fields(), batch.num_rows())?;
    Ok(RecordBatch::try_new(Arc::clone(target), columns)?)
}

fn project_fields(source: &Fields, arrays: &[ArrayRef], target: &Fields, rows: usize) -> Result<Vec<ArrayRef>> {
    let project = |field: &FieldRef| {
        let id = field_id(field)?;
        for (index, candidate) in source.iter().enumerate() {
            if field_id(candidate)? == id {
                return project_array(&arrays[index], field.data_type());
            }
        }
        if !field.is_nullable() {
            let message = format!("required column {} is missing from rows written earlier", field.name());
            return Err(KernelError::internal(message));
        }
        Ok(new_null_array(field.data_type(), rows))
    };
    target.iter().map(project).collect()
}

fn field_id(field: &Field) -> Result<&str> {
    let id = field.metadata().get(FIELD_ID_KEY).map(String::as_str);
    id.ok_or_else(|| KernelError::internal(format!("column {} has no field id", field.name())))
}

fn project_array(array: &ArrayRef, target: &DataType) -> Result<ArrayRef> {
    if array.data_type() == target {
        return Ok(Arc::clone(array));
    }
    Ok(match (array.data_type(), target) {
        (DataType::Int32, DataType::Int64) => {
            Arc::new(array.as_primitive::<Int32Type>().unary::<_, Int64Type>(i64::from))
        }
        (DataType::Float32, DataType::Float64) => {
            Arc::new(array.as_primitive::<Float32Type>().unary::<_, Float64Type>(f64::from))
        }
        (DataType::Decimal128(_, from), DataType::Decimal128(_, to)) if from == to => {
            Arc::new(array.as_primitive::<Decimal128Type>().clone().with_data_type(target.clone()))
        }
        (DataType::Struct(from), DataType::Struct(to)) => {
            let source = array.as_struct();
            let columns = project_fields(from, source.columns(), to, source.len())?;
            Arc::new(StructArray::try_new_with_length(to.clone(), columns, source.nulls().cloned(), source.len())?)
        }
        (DataType::List(_), DataType::List(to)) => {
            let source = array.as_list::<i32>();
            let values = project_array(source.values(), to.data_type())?;
            Arc::new(ListArray::try_new(Arc::clone(to), source.offsets().clone(), values, source.nulls().cloned())?)
        }
        (DataType::Map(..), DataType::Map(to, ordered)) => {
            let source = array.as_map();
            let entries: ArrayRef = Arc::new(source.entries().clone());
            let entries = project_array(&entries, to.data_type())?.as_struct().clone();
            let (offsets, nulls) = (source.offsets().clone(), source.nulls().cloned());
            Arc::new(MapArray::try_new(Arc::clone(to), offsets, entries, nulls, *ordered)?)
        }
        (from, to) => {
            return Err(KernelError::internal(format!("a column of {from} cannot become {to}")));
        }
    })
}
