//! Large columns that come back when nobody reads them any more.
//!
//! To write to new memory costs a fault for each page of it, about as much as the tokens
//! that fill the page; memory that was written before is there at once.

use std::ops::Deref;
use std::sync::{Arc, Mutex};

/// Columns of fewer numbers are not worth keeping: the allocator has them at hand.
const FEWEST: usize = 1 << 14;

/// Columns that wait for the next call, of at most `limit` bytes together.
pub struct Rooms {
    kept: Mutex<Vec<Vec<u32>>>,
    limit: usize,
}

impl Rooms {
    pub fn new(limit: usize) -> Self {
        Rooms { kept: Mutex::default(), limit }
    }

    /// An empty column with room for `len` numbers: the smallest that has it, or a new one. None that is much larger, for
    /// whoever keeps the result keeps all of it.
    ///
    /// The lock is only tried, for the process may have been forked while a thread held it.
    pub fn take(&self, len: usize) -> Vec<u32> {
        if let Ok(mut kept) = self.kept.try_lock() {
            let (sizes, fits) = (kept.iter().map(Vec::capacity).zip(0..), len..=4 * len);
            if let Some((_, place)) = sizes.filter(|(capacity, _)| fits.contains(capacity)).min() {
                return kept.swap_remove(place);
            }
        }
        Vec::with_capacity(len)
    }

    /// Keep a column, unless it is small, or there would be too many.
    pub fn give_back(&self, mut column: Vec<u32>) {
        if column.capacity() < FEWEST {
            return;
        }
        if let Ok(mut kept) = self.kept.try_lock() {
            let bytes: usize = kept.iter().map(|column| column.capacity() * 4).sum();
            if bytes + column.capacity() * 4 <= self.limit {
                column.clear();
                kept.push(column);
            }
        }
    }
}

/// A column that goes back to where it came from when it is dropped.
pub struct Lent {
    numbers: Vec<u32>,
    rooms: Arc<Rooms>,
}

impl Lent {
    pub fn new(numbers: Vec<u32>, rooms: &Arc<Rooms>) -> Self {
        Lent { numbers, rooms: rooms.clone() }
    }
}

impl Deref for Lent {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        &self.numbers
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.rooms.give_back(std::mem::take(&mut self.numbers));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_column_that_has_the_room_is_used_again() {
        let rooms = Rooms::new(1 << 20);
        let (small, large) = (rooms.take(FEWEST), rooms.take(4 * FEWEST));
        let places = (small.as_ptr(), large.as_ptr());
        rooms.give_back(large);
        rooms.give_back(small);
        let again = rooms.take(FEWEST - 1);
        assert!(again.is_empty() && again.as_ptr() == places.0);
        let again = rooms.take(FEWEST + 1);
        assert_eq!(again.as_ptr(), places.1);
    }

    #[test]
    fn a_small_result_is_in_no_large_column() {
        let rooms = Rooms::new(1 << 20);
        rooms.give_back(rooms.take(4 * FEWEST));
        assert!(rooms.take(FEWEST - 1).capacity() < 4 * FEWEST);
        assert_eq!(rooms.kept.lock().unwrap().len(), 1);
    }

    #[test]
    fn a_lent_column_comes_back() {
        let rooms = Arc::new(Rooms::new(1 << 20));
        let mut column = rooms.take(FEWEST);
        column.push(7);
        let place = column.as_ptr();
        let lent = Lent::new(column, &rooms);
        assert_eq!(lent[..], [7]);
        let meanwhile = rooms.take(FEWEST);
        assert_ne!(meanwhile.as_ptr(), place);
        drop(lent);
        let again = rooms.take(FEWEST);
        assert_eq!(again.as_ptr(), place);
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let rooms = Rooms::new(8 * FEWEST);
        for _ in 0..5 {
            rooms.give_back(Vec::with_capacity(FEWEST));
        }
        rooms.give_back(vec![0; 10]);
        assert_eq!(rooms.kept.lock().unwrap().len(), 2);
    }
}
