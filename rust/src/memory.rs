//! What this library allocates: from 1 MB on, on large pages.
//!
//! To touch 8 MB of new memory costs 2,000 page faults of up to 3 us, or four; and each
//! load at a random place of a large table saves a walk through the page table.

use std::alloc::{GlobalAlloc, Layout, System};

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

// SAFETY: the system's allocator, asked for and given back by the same layouts, which are as large and as aligned at least
unsafe impl GlobalAlloc for LargePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let paged = paged(layout);
        // SAFETY: the caller's promise, here and below
        let first = unsafe { System.alloc(paged) };
        if paged.align() >= LARGE && !first.is_null() {
            ask_for_large_pages(first as usize, paged.size());
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

/// Ask the system for large pages behind memory of ours that is not written yet.
fn ask_for_large_pages(first: usize, bytes: usize) {
    #[cfg(target_os = "linux")]
    {
        extern "C" {
            fn madvise(address: *mut std::ffi::c_void, length: usize, advice: i32) -> i32;
        }
        const MADV_HUGEPAGE: i32 = 14;
        // SAFETY: whole pages of an allocation of ours; the advice changes no content, and
        // where it is refused nothing is lost
        unsafe { madvise(first as *mut std::ffi::c_void, bytes, MADV_HUGEPAGE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (first, bytes);
}

#[cfg(test)]
mod tests {
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
                assert!(numbers.capacity() * 8 < 1 << 20 || numbers.as_ptr() as usize % super::LARGE == 0);
            }
        }
    }
}
