//! The counts and bounds of a data file, gathered while its rows pass by. Leaves of structs have them;
//! columns inside lists and maps do not, because a manifest cannot say them. Spec: "Manifests", metrics.

use std::collections::BTreeMap;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int32Type, Int64Type,
    Time64MicrosecondType, TimestampMicrosecondType, TimestampNanosecondType,
};
use arrow_array::{Array, ArrayRef, PrimitiveArray};
use arrow_buffer::NullBuffer;

use crate::bounds;
use crate::encode_options::{EncodeOptions, MetricsMode};
use crate::error::{KernelError, Result};
use crate::schema::{Field, Type};

/// The metrics of one leaf; `values` counts nulls and NaNs too.
pub struct LeafMetrics {
    pub id: i32,
    ty: Type,
    mode: MetricsMode,
    pub values: u64,
    pub nulls: u64,
    nans: u64,
    range: Range,
}

enum Range {
    Empty,
    Integer { min: i64, max: i64 },
    Wide { min: i128, max: i128 },
    /// Of floats too: every float is a double.
    Real { min: f64, max: f64 },
    Bytes(BytesRange),
}

/// In unsigned byte order, which is code point order for UTF-8. The first eight bytes decide most comparisons.
struct BytesRange {
    min: Vec<u8>,
    max: Vec<u8>,
    min_prefix: u64,
    max_prefix: u64,
}

/// By field id, leaves outside lists and maps.
pub struct FileMetrics {
    leaves: BTreeMap<i32, LeafMetrics>,
}

impl FileMetrics {
    pub fn new(fields: &[Field], options: &EncodeOptions) -> Self {
        let mut leaves = BTreeMap::new();
        collect_leaves(fields, options, &mut leaves);
        Self { leaves }
    }

    pub fn update(&mut self, fields: &[Field], arrays: &[ArrayRef]) -> Result<()> {
        for (field, array) in fields.iter().zip(arrays) {
            self.update_field(field, array, None)?;
        }
        Ok(())
    }

    fn update_field(&mut self, field: &Field, array: &ArrayRef, parent: Option<&NullBuffer>) -> Result<()> {
        match &field.ty {
            Type::List(_) | Type::Map { .. } => Ok(()),
            Type::Struct(children) => {
                let nulls = NullBuffer::union(parent, array.nulls());
                for (child, column) in children.iter().zip(array.as_struct().columns()) {
                    self.update_field(child, column, nulls.as_ref())?;
                }
                Ok(())
            }
            _ => {
                let leaf = self.leaves.get_mut(&field.id);
                let leaf = leaf.ok_or_else(|| KernelError::internal("a column without metrics"))?;
                leaf.update(array, NullBuffer::union(parent, array.nulls()).as_ref())
            }
        }
    }

    /// Those that the table wants.
    pub fn leaves(&self) -> impl Iterator<Item = &LeafMetrics> {
        self.leaves.values().filter(|leaf| leaf.mode != MetricsMode::None)
    }
}

fn collect_leaves(fields: &[Field], options: &EncodeOptions, leaves: &mut BTreeMap<i32, LeafMetrics>) {
    for field in fields {
        match &field.ty {
            Type::Struct(children) => collect_leaves(children, options, leaves),
            Type::List(_) | Type::Map { .. } => {}
            ty => {
                let mode = options.column(field.id).metrics;
                let (ty, range) = (ty.clone(), Range::Empty);
                leaves.insert(field.id, LeafMetrics { id: field.id, ty, mode, values: 0, nulls: 0, nans: 0, range });
            }
        }
    }
}

impl LeafMetrics {
    /// `None` for types that have no NaN.
    pub fn nans(&self) -> Option<u64> {
        matches!(self.ty, Type::Float | Type::Double).then_some(self.nans)
    }

    /// `None` when all values are null or NaN, or no bounds are wanted.
    pub fn lower(&self) -> Option<Vec<u8>> {
        let MetricsMode::Bounds(units_max) = self.mode else { return None };
        Some(match &self.range {
            Range::Empty => return None,
            Range::Integer { min, .. } => integer_bytes(&self.ty, *min),
            Range::Wide { min, .. } => bounds::decimal(*min),
            // A reader may compare the bytes of zeros: the range must hold both of them.
            Range::Real { min, .. } => real_bytes(&self.ty, if *min == 0.0 { -0.0 } else { *min }),
            Range::Bytes(range) => match self.ty {
                Type::String => bounds::lower_string(as_text(&range.min)?, units_max).as_bytes().to_vec(),
                Type::Binary => bounds::lower_binary(&range.min, units_max).to_vec(),
                _ => range.min.clone(),
            },
        })
    }

    /// `None` also when no bound that short exists.
    pub fn upper(&self) -> Option<Vec<u8>> {
        let MetricsMode::Bounds(units_max) = self.mode else { return None };
        Some(match &self.range {
            Range::Empty => return None,
            Range::Integer { max, .. } => integer_bytes(&self.ty, *max),
            Range::Wide { max, .. } => bounds::decimal(*max),
            Range::Real { max, .. } => real_bytes(&self.ty, if *max == 0.0 { 0.0 } else { *max }),
            Range::Bytes(range) => match self.ty {
                Type::String => bounds::upper_string(as_text(&range.max)?, units_max)?.into_bytes(),
                Type::Binary => bounds::upper_binary(&range.max, units_max)?,
                _ => range.max.clone(),
            },
        })
    }

    fn update(&mut self, array: &ArrayRef, nulls: Option<&NullBuffer>) -> Result<()> {
        if self.mode == MetricsMode::None {
            return Ok(());
        }
        self.values += array.len() as u64;
        self.nulls += nulls.map_or(0, NullBuffer::null_count) as u64;
        match &self.ty {
            Type::Boolean => {
                let array = array.as_boolean();
                for index in valid(array.len(), nulls) {
                    self.range.add_integer(i64::from(array.value(index)), i64::from(array.value(index)));
                }
            }
            Type::Int => self.add_integers::<Int32Type>(array, nulls),
            Type::Date => self.add_integers::<Date32Type>(array, nulls),
            Type::Long => self.add_integers::<Int64Type>(array, nulls),
            Type::Time => self.add_integers::<Time64MicrosecondType>(array, nulls),
            Type::Timestamp { nanos: false, .. } => self.add_integers::<TimestampMicrosecondType>(array, nulls),
            Type::Timestamp { nanos: true, .. } => self.add_integers::<TimestampNanosecondType>(array, nulls),
            Type::Float => self.add_reals::<Float32Type>(array, nulls),
            Type::Double => self.add_reals::<Float64Type>(array, nulls),
            Type::Decimal { .. } => {
                if let Some((min, max)) = extremes(array.as_primitive::<Decimal128Type>(), nulls) {
                    self.range.add_wide(min, max);
                }
            }
            Type::String => {
                let array = array.as_string::<i32>();
                valid(array.len(), nulls).for_each(|index| self.range.add_bytes(array.value(index).as_bytes()));
            }
            Type::Binary => {
                let array = array.as_binary::<i32>();
                valid(array.len(), nulls).for_each(|index| self.range.add_bytes(array.value(index)));
            }
            Type::Uuid | Type::Fixed(_) => {
                let array = array.as_fixed_size_binary();
                valid(array.len(), nulls).for_each(|index| self.range.add_bytes(array.value(index)));
            }
            Type::Struct(_) | Type::List(_) | Type::Map { .. } => {
                return Err(KernelError::internal("a nested column as a leaf"));
            }
        }
        Ok(())
    }

    fn add_integers<T>(&mut self, array: &ArrayRef, nulls: Option<&NullBuffer>)
    where
        T: ArrowPrimitiveType,
        T::Native: Into<i64> + Ord,
    {
        if let Some((min, max)) = extremes(array.as_primitive::<T>(), nulls) {
            self.range.add_integer(min.into(), max.into());
        }
    }

    fn add_reals<T>(&mut self, array: &ArrayRef, nulls: Option<&NullBuffer>)
    where
        T: ArrowPrimitiveType,
        T::Native: Into<f64>,
    {
        let values = array.as_primitive::<T>().values();
        for index in valid(values.len(), nulls) {
            let value: f64 = values[index].into();
            if value.is_nan() {
                self.nans += 1;
            } else {
                self.range.add_real(value);
            }
        }
    }
}

impl Range {
    fn add_integer(&mut self, low: i64, high: i64) {
        match self {
            Self::Integer { min, max } => {
                *min = low.min(*min);
                *max = high.max(*max);
            }
            _ => *self = Self::Integer { min: low, max: high },
        }
    }

    fn add_wide(&mut self, low: i128, high: i128) {
        match self {
            Self::Wide { min, max } => {
                *min = low.min(*min);
                *max = high.max(*max);
            }
            _ => *self = Self::Wide { min: low, max: high },
        }
    }

    fn add_real(&mut self, value: f64) {
        match self {
            Self::Real { min, max } => {
                *min = value.min(*min);
                *max = value.max(*max);
            }
            _ => *self = Self::Real { min: value, max: value },
        }
    }

    fn add_bytes(&mut self, value: &[u8]) {
        match self {
            Self::Bytes(range) => range.add(value),
            _ => *self = Self::Bytes(BytesRange::of(value)),
        }
    }
}

impl BytesRange {
    fn of(value: &[u8]) -> Self {
        let prefix = prefix(value);
        Self { min: value.to_vec(), max: value.to_vec(), min_prefix: prefix, max_prefix: prefix }
    }

    #[inline]
    fn add(&mut self, value: &[u8]) {
        let prefix = prefix(value);
        if prefix <= self.min_prefix && is_below(value, &self.min) {
            self.min = value.to_vec();
            self.min_prefix = prefix;
        }
        if prefix >= self.max_prefix && is_below(&self.max, value) {
            self.max = value.to_vec();
            self.max_prefix = prefix;
        }
    }
}

/// As `a < b`, eight bytes at a time: the library's comparison is a call that looks at single bytes here.
#[inline]
fn is_below(a: &[u8], b: &[u8]) -> bool {
    let (mut rest_a, mut rest_b) = (a, b);
    while let (Some((word_a, tail_a)), Some((word_b, tail_b))) =
        (rest_a.split_first_chunk::<8>(), rest_b.split_first_chunk::<8>())
    {
        if word_a != word_b {
            return u64::from_be_bytes(*word_a) < u64::from_be_bytes(*word_b);
        }
        (rest_a, rest_b) = (tail_a, tail_b);
    }
    rest_a < rest_b
}

/// The first eight bytes, zeros for what is missing: never orders two values the wrong way round.
#[inline]
fn prefix(value: &[u8]) -> u64 {
    match value.first_chunk::<8>() {
        Some(chunk) => u64::from_be_bytes(*chunk),
        None => {
            let mut chunk = [0; 8];
            chunk[..value.len()].copy_from_slice(value);
            u64::from_be_bytes(chunk)
        }
    }
}

fn extremes<T>(array: &PrimitiveArray<T>, nulls: Option<&NullBuffer>) -> Option<(T::Native, T::Native)>
where
    T: ArrowPrimitiveType,
    T::Native: Ord,
{
    let values = array.values();
    let fold = |range: Option<(T::Native, T::Native)>, value: T::Native| match range {
        Some((min, max)) => Some((min.min(value), max.max(value))),
        None => Some((value, value)),
    };
    match nulls {
        None => {
            let first = *values.first()?;
            Some(values.iter().fold((first, first), |(min, max), value| (min.min(*value), max.max(*value))))
        }
        Some(nulls) => nulls.valid_indices().map(|index| values[index]).fold(None, fold),
    }
}

fn valid(len: usize, nulls: Option<&NullBuffer>) -> Box<dyn Iterator<Item = usize> + '_> {
    match nulls {
        Some(nulls) => Box::new(nulls.valid_indices()),
        None => Box::new(0..len),
    }
}

fn as_text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

fn integer_bytes(ty: &Type, value: i64) -> Vec<u8> {
    match ty {
        Type::Boolean => vec![value as u8],
        Type::Int | Type::Date => (value as i32).to_le_bytes().to_vec(),
        _ => value.to_le_bytes().to_vec(),
    }
}

fn real_bytes(ty: &Type, value: f64) -> Vec<u8> {
    match ty {
        Type::Float => (value as f32).to_le_bytes().to_vec(),
        _ => value.to_le_bytes().to_vec(),
    }
}
