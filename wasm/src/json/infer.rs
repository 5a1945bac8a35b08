//! Columns that the schema lacks: names and types, gathered from the rows of a slice. The kind a column
//! is first seen with stays; long and double together make double. What is only null, `{}` or `[]` is
//! left out until a row shows more.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::columns::{Column, StructColumns, Values};
use crate::error::{KernelError, Result};
use crate::json::exact::{Kind, elements, members};
use crate::number::is_integer_literal;
use crate::rejection::Rejection;

/// New columns one slice may bring, at all levels together; keys that are really data end here.
pub const NEW_COLUMNS_MAX: usize = 2000;
const NAME_BYTES_MAX: usize = 512;

/// Spec: "Reserved Field IDs"; a reader would mistake a data column of such a name for the metadata.
const RESERVED_NAMES: [&str; 10] = [
    "_file",
    "_pos",
    "_deleted",
    "_spec_id",
    "_partition",
    "_change_type",
    "_change_ordinal",
    "_commit_snapshot_id",
    "_row_id",
    "_last_updated_sequence_number",
];

#[derive(Default)]
pub struct InferredColumns {
    root: StructNode,
    count: usize,
}

#[derive(Default)]
struct StructNode {
    fields: Vec<(String, Node)>,
    by_folded_name: HashMap<String, usize>,
}

#[derive(Default)]
enum Node {
    #[default]
    Pending,
    Boolean,
    Long,
    Double,
    String,
    Struct(StructNode),
    List(Box<Node>),
    /// Only for a map the schema has, whose values hold something new; with the type of its keys.
    Map(String, Box<Node>),
}

/// A row is rejected for itself, or the whole body refused.
pub enum Refusal {
    Row(Rejection),
    Body(KernelError),
}

impl From<Rejection> for Refusal {
    fn from(rejection: Rejection) -> Self {
        Self::Row(rejection)
    }
}

impl InferredColumns {
    /// Looks at a row that `exact` or `fast` accepted.
    pub fn observe(&mut self, row: &str, columns: &StructColumns) -> std::result::Result<(), Refusal> {
        observe_known(row, columns, &mut self.root, &mut self.count, true)
    }

    /// An `InferredStruct` of the host, or null.
    pub fn to_json(&self) -> Value {
        struct_json(&self.root).unwrap_or(Value::Null)
    }
}

impl StructNode {
    fn entry(&mut self, name: &str, count: &mut usize) -> Result<&mut Node> {
        let folded = name.to_lowercase();
        let index = match self.by_folded_name.get(&folded) {
            Some(index) => *index,
            None => {
                if *count == NEW_COLUMNS_MAX {
                    let message = format!("more than {NEW_COLUMNS_MAX} new columns in one slice; are keys used as data?");
                    return Err(KernelError::invalid("schema.too-many-columns", message).with("limit", NEW_COLUMNS_MAX));
                }
                *count += 1;
                self.by_folded_name.insert(folded, self.fields.len());
                self.fields.push((name.to_owned(), Node::Pending));
                self.fields.len() - 1
            }
        };
        Ok(&mut self.fields[index].1)
    }
}

fn observe_known(
    text: &str,
    columns: &StructColumns,
    node: &mut StructNode,
    count: &mut usize,
    is_root: bool,
) -> std::result::Result<(), Refusal> {
    for (key, value) in members(text)? {
        let kind = Kind::of(value.get());
        match columns.keys.lookup(&key) {
            Some(index) if matches!(kind, Kind::Object | Kind::List) => {
                let column = &columns.columns[index];
                if holds_struct(column) {
                    // Known parents do not count against the limit.
                    let mut free = 0;
                    let child = node.entry(&column.name, &mut free).map_err(Refusal::Body)?;
                    observe_inside(value.get(), column, child, count)?;
                }
            }
            Some(_) => {}
            None if kind == Kind::Null => {}
            None => {
                check_name(&key, is_root)?;
                let child = node.entry(&key, count).map_err(Refusal::Body)?;
                observe_new(value.get(), child, count)?;
            }
        }
    }
    Ok(())
}

fn observe_inside(text: &str, column: &Column, node: &mut Node, count: &mut usize) -> std::result::Result<(), Refusal> {
    match (&column.values, Kind::of(text)) {
        (Values::Struct(children), Kind::Object) => {
            if !matches!(node, Node::Struct(_)) {
                *node = Node::Struct(StructNode::default());
            }
            let Node::Struct(inner) = node else { return Ok(()) };
            observe_known(text, children, inner, count, false)
        }
        (Values::List { element, .. }, Kind::List) if holds_struct(element) => {
            if !matches!(node, Node::List(_)) {
                *node = Node::List(Box::default());
            }
            let Node::List(inner) = node else { return Ok(()) };
            for value in elements(text)? {
                observe_inside(value.get(), element, inner, count)?;
            }
            Ok(())
        }
        (Values::Map { key, value, .. }, Kind::Object) if holds_struct(value) => {
            if !matches!(node, Node::Map(..)) {
                *node = Node::Map(key.ty.name(), Box::default());
            }
            let Node::Map(_, inner) = node else { return Ok(()) };
            for (_, item) in members(text)? {
                observe_inside(item.get(), value, inner, count)?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn observe_new(text: &str, node: &mut Node, count: &mut usize) -> std::result::Result<(), Refusal> {
    let scalar = match Kind::of(text) {
        Kind::Null => return Ok(()),
        Kind::Boolean => Node::Boolean,
        Kind::String => Node::String,
        Kind::Number if is_integer_literal(text) => Node::Long,
        Kind::Number => Node::Double,
        Kind::Object => {
            if !is_resolved(node) && !matches!(node, Node::Struct(_)) {
                *node = Node::Struct(StructNode::default());
            }
            if let Node::Struct(inner) = node {
                for (key, value) in members(text)? {
                    if Kind::of(value.get()) != Kind::Null {
                        check_name(&key, false)?;
                        observe_new(value.get(), inner.entry(&key, count).map_err(Refusal::Body)?, count)?;
                    }
                }
            }
            return Ok(());
        }
        Kind::List => {
            if !is_resolved(node) && !matches!(node, Node::List(_)) {
                *node = Node::List(Box::default());
            }
            if let Node::List(inner) = node {
                for value in elements(text)? {
                    observe_new(value.get(), inner, count)?;
                }
            }
            return Ok(());
        }
    };
    if !is_resolved(node) || (matches!(node, Node::Long) && matches!(scalar, Node::Double)) {
        *node = scalar;
    }
    Ok(())
}

pub fn check_name(name: &str, is_root: bool) -> std::result::Result<(), Rejection> {
    if name.is_empty() || name.len() > NAME_BYTES_MAX {
        let message = format!("a column name has 1 to {NAME_BYTES_MAX} bytes");
        return Err(Rejection::new("column.invalid-name", message).within(name));
    }
    if is_root && RESERVED_NAMES.contains(&name.to_lowercase().as_str()) {
        let message = format!("{name} is the name of an Iceberg metadata column");
        return Err(Rejection::new("column.reserved-name", message).within(name));
    }
    Ok(())
}

fn holds_struct(column: &Column) -> bool {
    match &column.values {
        Values::Struct(_) => true,
        Values::List { element, .. } => holds_struct(element),
        Values::Map { value, .. } => holds_struct(value),
        _ => false,
    }
}

/// Whether a leaf has been seen: until then the kind may still change.
fn is_resolved(node: &Node) -> bool {
    match node {
        Node::Pending => false,
        Node::Boolean | Node::Long | Node::Double | Node::String => true,
        Node::Struct(inner) => inner.fields.iter().any(|(_, child)| is_resolved(child)),
        Node::List(inner) | Node::Map(_, inner) => is_resolved(inner),
    }
}

fn node_json(node: &Node) -> Option<Value> {
    Some(match node {
        Node::Pending => return None,
        Node::Boolean => json!("boolean"),
        Node::Long => json!("long"),
        Node::Double => json!("double"),
        Node::String => json!("string"),
        Node::Struct(inner) => struct_json(inner)?,
        Node::List(inner) => json!({ "type": "list", "element": node_json(inner)? }),
        Node::Map(key, inner) => json!({ "type": "map", "key": key, "value": node_json(inner)? }),
    })
}

fn struct_json(node: &StructNode) -> Option<Value> {
    let fields: Vec<Value> = node
        .fields
        .iter()
        .filter_map(|(name, child)| Some(json!({ "name": name, "type": node_json(child)? })))
        .collect();
    (!fields.is_empty()).then(|| json!({ "type": "struct", "fields": fields }))
}
