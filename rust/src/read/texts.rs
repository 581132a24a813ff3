//! Texts one after the other, each found by its bytes.

use crate::vocabulary::hash_bytes;

/// The texts of a vocabulary in the order given.
pub struct Texts {
    pub data: Vec<u8>,
    /// where each begins, and the last one ends
    pub offsets: Vec<i64>,
    /// tag (the hash's high half) and place + 1; 0 is free
    slots: Vec<(u32, u32)>,
}

/// More could not be numbered.
const MOST: usize = i32::MAX as usize;

impl Default for Texts {
    fn default() -> Self {
        Texts { data: Vec::new(), offsets: vec![0], slots: vec![(0, 0); 1 << 12] }
    }
}

impl Texts {
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn get(&self, place: usize) -> &[u8] {
        &self.data[self.offsets[place] as usize..self.offsets[place + 1] as usize]
    }

    /// Take what was appended to `data` as the next text. None where it is there already.
    pub fn end(&mut self) -> Option<()> {
        let start = self.offsets[self.len()] as usize;
        let hash = hash_bytes(&self.data[start..]);
        if self.slot(hash, &self.data[start..]).is_ok() || self.len() >= MOST {
            return None;
        }
        self.offsets.push(self.data.len() as i64);
        if self.len() * 2 > self.slots.len() {
            self.grow();
        } else {
            self.take_slot(hash, self.len() - 1);
        }
        Some(())
    }

    /// The place of a text.
    #[inline]
    pub fn find(&self, text: &[u8]) -> Option<u32> {
        self.slot(hash_bytes(text), text).ok()
    }

    /// The place of a text, or the slot that is free for it.
    #[inline]
    fn slot(&self, hash: u64, text: &[u8]) -> Result<u32, usize> {
        let mut slot = hash as usize & (self.slots.len() - 1);
        loop {
            let (tag, number) = self.slots[slot];
            if number == 0 {
                return Err(slot);
            }
            if tag == (hash >> 32) as u32 && self.get(number as usize - 1) == text {
                return Ok(number - 1);
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
    }

    fn grow(&mut self) {
        self.slots = vec![(0, 0); self.slots.len() * 4];
        for place in 0..self.len() {
            self.take_slot(hash_bytes(self.get(place)), place);
        }
    }

    /// For a text that has no slot yet.
    fn take_slot(&mut self, hash: u64, place: usize) {
        let mut slot = hash as usize & (self.slots.len() - 1);
        while self.slots[slot].1 != 0 {
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        self.slots[slot] = ((hash >> 32) as u32, place as u32 + 1);
    }
}
