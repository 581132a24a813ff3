//! Large tables that are read at random places, on large pages.

use std::alloc::{alloc, dealloc, handle_alloc_error, Layout};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// A page of the larger kind.
const LARGE: usize = 2 << 20;

/// A slice of one length, which from 1 MB on begins on a large page.
///
/// To touch 8 MB of new memory costs 2,000 page faults of up to 3 us, or four; and each
/// load at a random place saves a walk through the page table.
pub struct Table<T: Copy> {
    first: NonNull<T>,
    len: usize,
}

// SAFETY: it owns its elements, as a Vec does
unsafe impl<T: Copy + Send> Send for Table<T> {}
// SAFETY: as above
unsafe impl<T: Copy + Sync> Sync for Table<T> {}

impl<T: Copy> Table<T> {
    /// `len` copies of `value`.
    pub fn new(value: T, len: usize) -> Self {
        let table = Table::unwritten(len);
        for i in 0..len {
            // SAFETY: inside the allocation
            unsafe { table.first.add(i).write(value) };
        }
        table
    }

    /// `len` elements of nothing but zeros.
    ///
    /// # Safety
    /// Zeros must be a value of `T`.
    pub unsafe fn zeroed(len: usize) -> Self {
        let table = Table::<T>::unwritten(len);
        // SAFETY: inside the allocation; the caller's promise
        unsafe { table.first.as_ptr().write_bytes(0, len) };
        table
    }

    /// Room whose elements must all be written before anything reads them.
    fn unwritten(len: usize) -> Self {
        let layout = Self::layout(len);
        if layout.size() == 0 {
            return Table { first: NonNull::dangling(), len };
        }
        // SAFETY: the size is not 0
        let Some(first) = NonNull::new(unsafe { alloc(layout) }.cast::<T>()) else {
            handle_alloc_error(layout)
        };
        if layout.size() >= LARGE {
            ask_for_large_pages(first.as_ptr() as usize, layout.size());
        }
        Table { first, len }
    }

    fn layout(len: usize) -> Layout {
        let layout = Layout::array::<T>(len).expect("no table is that large");
        if layout.size() < LARGE / 2 {
            return layout;
        }
        layout.align_to(LARGE).expect("a power of two").pad_to_align()
    }

    #[cfg(test)]
    fn address(&self) -> usize {
        self.first.as_ptr() as usize
    }
}

impl<T: Copy> Clone for Table<T> {
    fn clone(&self) -> Self {
        let table = Table::<T>::unwritten(self.len);
        // SAFETY: both are of `len` elements, and apart
        unsafe { table.first.as_ptr().copy_from_nonoverlapping(self.first.as_ptr(), self.len) };
        table
    }
}

impl<T: Copy> Drop for Table<T> {
    fn drop(&mut self) {
        let layout = Self::layout(self.len);
        if layout.size() > 0 {
            // SAFETY: allocated with the same layout
            unsafe { dealloc(self.first.as_ptr().cast(), layout) };
        }
    }
}

impl<T: Copy> Deref for Table<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: all of them were written
        unsafe { std::slice::from_raw_parts(self.first.as_ptr(), self.len) }
    }
}

impl<T: Copy> DerefMut for Table<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: all of them were written
        unsafe { std::slice::from_raw_parts_mut(self.first.as_ptr(), self.len) }
    }
}

/// Ask the system for large pages behind memory of ours that is not written yet.
pub fn ask_for_large_pages(start: usize, bytes: usize) {
    #[cfg(target_os = "linux")]
    {
        extern "C" {
            fn madvise(address: *mut std::ffi::c_void, length: usize, advice: i32) -> i32;
        }
        const MADV_HUGEPAGE: i32 = 14;
        let first = start.next_multiple_of(LARGE);
        let length = (start + bytes).saturating_sub(first) / LARGE * LARGE;
        if length > 0 {
            // SAFETY: whole pages inside an allocation of ours; the advice changes no content,
            // and where it is refused nothing is lost
            unsafe { madvise(first as *mut std::ffi::c_void, length, MADV_HUGEPAGE) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (start, bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_what_it_was_filled_with() {
        for len in [0, 1, 1000, LARGE / 16, LARGE / 8 + 1] {
            let mut table = Table::new([7u64, 8], len);
            assert!(table.len() == len && table.iter().all(|&pair| pair == [7, 8]));
            if let Some(last) = table.last_mut() {
                *last = [1, 2];
            }
            assert!(len == 0 || table[len - 1] == [1, 2]);
            assert!(table.clone()[..] == table[..]);
            assert!(len < LARGE / 32 || table.address() % LARGE == 0);
        }
    }
}
