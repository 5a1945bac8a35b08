//! Stands in for the crate `ahash` in the kernel: the part of its interface that arrow and parquet use, on a hash
//! that is quick without AES and without a multiplication of 64 by 64 bits, neither of which WebAssembly has.
//!
//! The keys come from the host, drawn for each instance: the values that are hashed come in requests, and whoever
//! sends them must not be able to choose ones that collide. Every step multiplies two halves of the state, each
//! with a secret added (as NH of UMAC does), so that no difference between two inputs cancels out for all keys.

use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};

static SEED: AtomicU64 = AtomicU64::new(0);

/// Keys of all [`RandomState`]s made from now on.
pub fn set_seed(seed: u64) {
    SEED.store(seed, Ordering::Relaxed);
}

#[derive(Clone, Debug)]
pub struct RandomState {
    start: u64,
    key: u64,
}

impl RandomState {
    pub fn new() -> Self {
        let seed = SEED.load(Ordering::Relaxed);
        Self { start: spread(seed ^ 0x243f_6a88_85a3_08d3), key: spread(seed ^ 0x1319_8a2e_0370_7344) }
    }

    /// The seeds of the crate's own are taken for what they say, "any": the host's are better.
    pub fn with_seeds(_: u64, _: u64, _: u64, _: u64) -> Self {
        Self::new()
    }

    /// Here as well as in [`BuildHasher`], which callers of the crate need not import.
    #[inline]
    pub fn hash_one<T: Hash>(&self, value: T) -> u64 {
        let mut hasher = self.build_hasher();
        value.hash(&mut hasher);
        hasher.finish()
    }
}

impl Default for RandomState {
    fn default() -> Self {
        Self::new()
    }
}

impl BuildHasher for RandomState {
    type Hasher = AHasher;

    #[inline]
    fn build_hasher(&self) -> AHasher {
        AHasher { state: self.start, key: self.key }
    }
}

#[derive(Clone, Debug)]
pub struct AHasher {
    state: u64,
    key: u64,
}

impl AHasher {
    #[inline]
    fn mix(&mut self, word: u64) {
        let mixed = self.state ^ word;
        let low = (mixed as u32).wrapping_add(self.key as u32);
        let high = ((mixed >> 32) as u32).wrapping_add((self.key >> 32) as u32);
        // The second term keeps what a half that is zero would multiply away.
        self.state = (u64::from(low) * u64::from(high)).wrapping_add(mixed.rotate_left(29));
    }
}

impl Hasher for AHasher {
    /// Slices announce their length by `write_usize`, so that the last words may overlap.
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some((word, tail)) = rest.split_first_chunk::<8>() {
            self.mix(u64::from_le_bytes(*word));
            rest = tail;
        }
        if rest.is_empty() {
            return;
        }
        if let Some(word) = bytes.last_chunk::<8>() {
            self.mix(u64::from_le_bytes(*word));
        } else if let (Some(first), Some(last)) = (rest.first_chunk::<4>(), rest.last_chunk::<4>()) {
            self.mix(u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32);
        } else {
            let (first, middle, last) = (rest[0], rest[rest.len() / 2], rest[rest.len() - 1]);
            self.mix(u64::from(first) | u64::from(middle) << 8 | u64::from(last) << 32);
        }
    }

    #[inline]
    fn write_u32(&mut self, value: u32) {
        self.mix(value.into());
    }

    #[inline]
    fn write_u64(&mut self, value: u64) {
        self.mix(value);
    }

    #[inline]
    fn write_usize(&mut self, value: usize) {
        self.mix(value as u64);
    }

    /// Tables look at the lowest and the highest bits.
    #[inline]
    fn finish(&self) -> u64 {
        spread(self.state)
    }
}

#[inline]
fn spread(value: u64) -> u64 {
    let spread = (value ^ (value >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    spread ^ (spread >> 29)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn alike_values_fall_apart_in_the_bits_that_tables_use() {
        let state = RandomState::new();
        let texts = (0..100_000).map(|number| format!("session-{number}")).collect::<Vec<_>>();
        let hashes = texts.iter().map(|text| state.hash_one(text.as_bytes())).collect::<Vec<_>>();
        assert!(hashes.iter().map(|hash| *hash as u32).collect::<HashSet<_>>().len() > 99_990);
        assert_eq!(hashes.iter().map(|hash| hash >> 57).collect::<HashSet<_>>().len(), 128);
        let low = hashes.iter().filter(|hash| *hash & 1 == 0).count();
        assert!((49_000..51_000).contains(&low));
    }

    #[test]
    fn every_byte_and_the_length_count() {
        let state = RandomState::new();
        for length in 1..40 {
            let zeros = vec![0u8; length];
            let mut seen = HashSet::from([state.hash_one(&zeros[..]), state.hash_one(&zeros[1..])]);
            assert_eq!(seen.len(), 2);
            for at in 0..length {
                let mut changed = zeros.clone();
                changed[at] = 1;
                assert!(seen.insert(state.hash_one(&changed[..])));
            }
        }
    }

    #[test]
    fn other_seeds_give_other_hashes() {
        let before = RandomState::new().hash_one(7u64);
        set_seed(1);
        assert_ne!(before, RandomState::new().hash_one(7u64));
        set_seed(0);
    }
}
