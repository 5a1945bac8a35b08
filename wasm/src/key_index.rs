//! From a JSON key to a column: the key that followed last time is tried first, then an exact name,
//! then a name that is equal under lower-case (the table holds one column of such names).

use std::collections::HashMap;

pub struct KeyIndex {
    names: Vec<Box<str>>,
    exact: HashMap<Box<str>, usize>,
    folded: HashMap<String, usize>,
    /// What came after a column in the row before; the last place is for the start of a row.
    next: Vec<usize>,
}

impl KeyIndex {
    pub fn new<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let names: Vec<Box<str>> = names.map(Box::from).collect();
        let exact = names.iter().enumerate().map(|(index, name)| (name.clone(), index)).collect();
        let mut folded = HashMap::with_capacity(names.len());
        for (index, name) in names.iter().enumerate() {
            // Of columns that differ only in case, the first takes the keys that match none exactly.
            folded.entry(name.to_lowercase()).or_insert(index);
        }
        let count = names.len();
        let mut next: Vec<usize> = (1..=count).collect();
        next.push(0);
        Self { names, exact, folded, next }
    }

    /// The state to start a row with.
    pub fn start(&self) -> usize {
        self.names.len()
    }

    /// `previous` is what the last call returned for this row, or [`KeyIndex::start`].
    #[inline]
    pub fn find(&mut self, previous: usize, key: &str) -> Option<usize> {
        let predicted = self.next[previous];
        if let Some(name) = self.names.get(predicted)
            && **name == *key
        {
            return Some(predicted);
        }
        let found = self.lookup(key)?;
        self.next[previous] = found;
        Some(found)
    }

    pub fn lookup(&self, key: &str) -> Option<usize> {
        self.exact.get(key).or_else(|| self.folded.get(&key.to_lowercase())).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_names_in_any_order_and_case() {
        let mut index = KeyIndex::new(["Id", "name", "ÄÖ"].into_iter());
        let start = index.start();
        assert_eq!(index.find(start, "name"), Some(1));
        assert_eq!(index.find(start, "name"), Some(1));
        assert_eq!(index.find(1, "id"), Some(0));
        assert_eq!(index.find(0, "äö"), Some(2));
        assert_eq!(index.find(2, "other"), None);
    }
}
