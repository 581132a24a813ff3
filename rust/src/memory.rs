//! What this library allocates: from 1 MB on, on large pages; and zeroes whose pages come as they are touched.
//!
//! To touch 8 MB of new memory costs 2,000 page faults of up to 3 us, or four; and each
//! load at a random place of a large table saves a walk through the page table.

use std::alloc::{handle_alloc_error, GlobalAlloc, Layout, System};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// A page of the larger kind.
const LARGE: usize = 2 << 20;

pub struct LargePages;

#[global_allocator]
static ALLOCATOR: LargePages = LargePages;

/// The layout that is asked of the system in the place of another: on whole pages where it is large.
fn paged(layout: Layout) -> Layout {
    if layout.size() < LARGE / 2 {
        return layout;
    }
    // only a size near that of all memory does not fit, and is refused as it is
    layout.align_to(LARGE).map_or(layout, |layout| layout.pad_to_align())
}

fn is_large(paged: Layout) -> bool {
    paged.align() >= LARGE
}

// SAFETY: the system's allocator, asked for and given back by the same layouts, which are as large and as aligned at least
unsafe impl GlobalAlloc for LargePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let paged = paged(layout);
        // SAFETY: the caller's promise, here and below
        let first = unsafe { System.alloc(paged) };
        if is_large(paged) && !first.is_null() {
            pages::ask_for_large(first as usize, paged.size());
        }
        first
    }

    unsafe fn dealloc(&self, first: *mut u8, layout: Layout) {
        unsafe { System.dealloc(first, paged(layout)) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if paged(layout) == layout {
            return unsafe { System.alloc_zeroed(layout) };
        }
        let first = unsafe { self.alloc(layout) };
        if !first.is_null() {
            unsafe { first.write_bytes(0, layout.size()) };
        }
        first
    }

    unsafe fn realloc(&self, first: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let (old, new) =
            (paged(layout), paged(unsafe { Layout::from_size_align_unchecked(size, layout.align()) }));
        if old == new {
            return first;
        }
        if old.size().max(new.size()) < LARGE / 2 {
            return unsafe { System.realloc(first, layout, size) };
        }
        let moved = unsafe { self.alloc(Layout::from_size_align_unchecked(size, layout.align())) };
        if !moved.is_null() {
            unsafe {
                moved.copy_from_nonoverlapping(first, layout.size().min(size));
                self.dealloc(first, layout);
            }
        }
        moved
    }
}

/// What the system gives by whole pages.
#[cfg(target_os = "linux")]
mod pages {
    use super::{Layout, LARGE};
    use std::ffi::c_void;
    use std::ptr::null_mut;

    extern "C" {
        fn madvise(address: *mut c_void, length: usize, advice: i32) -> i32;
        fn mmap(
            address: *mut c_void,
            size: usize,
            access: i32,
            kind: i32,
            file: i32,
            at: isize,
        ) -> *mut c_void;
        fn munmap(address: *mut c_void, length: usize) -> i32;
    }
    const MADV_HUGEPAGE: i32 = 14;
    const READ_AND_WRITE: i32 = 1 | 2;
    const PRIVATE_ANONYMOUS: i32 = 2 | 0x20;
    const FAILED: isize = -1;

    /// Ask the system for large pages behind memory of ours that is not written yet.
    pub fn ask_for_large(first: usize, bytes: usize) {
        // SAFETY: whole pages of an allocation of ours; the advice changes no content, and
        // where it is refused nothing is lost
        unsafe { madvise(first as *mut c_void, bytes, MADV_HUGEPAGE) };
    }

    /// Zeroes, for a layout of whole large pages, each of which comes when it is touched; null where the system has no more.
    pub fn map(layout: Layout) -> *mut u8 {
        let bytes = layout.size();
        // SAFETY: new memory at a place of the system's choice, of which what is before and behind is given back
        unsafe {
            let given =
                mmap(null_mut(), bytes + LARGE, READ_AND_WRITE, PRIVATE_ANONYMOUS, -1, 0).cast::<u8>();
            if given as isize == FAILED {
                return null_mut();
            }
            let before = given.align_offset(LARGE);
            let first = given.add(before);
            if before > 0 {
                munmap(given.cast(), before);
            }
            munmap(first.add(bytes).cast(), LARGE - before);
            ask_for_large(first as usize, bytes);
            first
        }
    }

    /// # Safety
    /// `map` returned it for this layout.
    pub unsafe fn unmap(first: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise
        unsafe { munmap(first.cast(), layout.size()) };
    }
}

#[cfg(not(target_os = "linux"))]
mod pages {
    use super::{GlobalAlloc, Layout, System};

    pub fn ask_for_large(_first: usize, _bytes: usize) {}

    pub fn map(layout: Layout) -> *mut u8 {
        // SAFETY: a layout of whole pages has a size
        unsafe { System.alloc_zeroed(layout) }
    }

    /// # Safety
    /// `map` returned it for this layout.
    pub unsafe fn unmap(first: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise
        unsafe { System.dealloc(first, layout) }
    }
}

/// What may be all bits zero, and is nothing but its bits.
///
/// # Safety
/// Zero bits must be a value of the type, which must not be aligned to more than a page.
pub unsafe trait Plain: Copy {}

/// Whether of so many zeroes only those take memory that are touched.
pub fn comes_when_touched(bytes: usize) -> bool {
    cfg!(target_os = "linux") && bytes >= LARGE / 2
}

/// A row that is all zero at first, as long as it may ever have to be where its memory comes when it is touched.
pub struct Zeroed<T: Plain> {
    first: NonNull<T>,
    len: usize,
}

// SAFETY: it owns what it points to
unsafe impl<T: Plain + Send> Send for Zeroed<T> {}
unsafe impl<T: Plain + Sync> Sync for Zeroed<T> {}

impl<T: Plain> Zeroed<T> {
    /// len: at least 1, and of a type with a size
    pub fn new(len: usize) -> Self {
        let layout = Self::layout(len);
        assert!(layout.size() > 0);
        // SAFETY: just seen
        let first =
            if is_large(layout) { pages::map(layout) } else { unsafe { System.alloc_zeroed(layout) } };
        match NonNull::new(first.cast()) {
            Some(first) => Zeroed { first, len },
            None => handle_alloc_error(layout),
        }
    }

    fn layout(len: usize) -> Layout {
        paged(Layout::array::<T>(len).expect("less than all memory"))
    }
}

impl<T: Plain> Drop for Zeroed<T> {
    fn drop(&mut self) {
        let (first, layout) = (self.first.as_ptr().cast(), Self::layout(self.len));
        // SAFETY: it came from there, for this layout
        unsafe {
            if is_large(layout) {
                pages::unmap(first, layout)
            } else {
                System.dealloc(first, layout)
            }
        }
    }
}

impl<T: Plain> Deref for Zeroed<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: all of it is there, zero or written
        unsafe { std::slice::from_raw_parts(self.first.as_ptr(), self.len) }
    }
}

impl<T: Plain> DerefMut for Zeroed<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above
        unsafe { std::slice::from_raw_parts_mut(self.first.as_ptr(), self.len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // SAFETY: a number
    unsafe impl Plain for u64 {}

    #[test]
    fn zeroes_are_there_whether_they_were_touched_or_not() {
        for len in [1, 1000, LARGE / 8 / 2 - 1, LARGE / 8 / 2, 3 * LARGE / 8 + 1] {
            for _ in 0..3 {
                let mut row = Zeroed::<u64>::new(len);
                assert!(row.len() == len && row.iter().all(|&number| number == 0));
                row.iter_mut().zip(1..).for_each(|(number, i)| *number = i);
                assert!(row.iter().zip(1..).all(|(&number, i)| number == i));
                assert!(len < LARGE / 16 || row.as_ptr() as usize % LARGE == 0);
            }
        }
    }

    #[test]
    fn what_is_large_begins_on_a_page_and_keeps_what_it_has() {
        for size in [1, 1 << 10, (1 << 20) - 1, 1 << 20, 3 << 20] {
            let mut numbers = vec![0u64; size / 8];
            assert!(numbers.iter().all(|&number| number == 0));
            for target in [size / 8, size / 4 + 1, 600_000, 10] {
                numbers.resize(target, 0);
                numbers.iter_mut().zip(0..).for_each(|(number, i)| *number = i);
                numbers.shrink_to_fit();
                assert!(numbers.iter().zip(0..).all(|(&number, i)| number == i));
                assert!(numbers.capacity() * 8 < 1 << 20 || numbers.as_ptr() as usize % LARGE == 0);
            }
        }
    }
}
