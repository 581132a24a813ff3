//! Lists of ids that another library owns from then on: Arrow's C data interface.

use crate::rooms::Lent;
use std::ffi::c_void;
use std::ops::Deref;
use std::ptr::{addr_of_mut, null_mut};

/// An array as the interface lays it out, which its `release` frees.
///
/// Source: "The Arrow C data interface", Apache Arrow's documentation.
#[repr(C)]
pub struct ArrowArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *const *const c_void,
    children: *mut *mut ArrowArray,
    dictionary: *mut ArrowArray,
    release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    private_data: *mut c_void,
}

/// Numbers, and the pointers to them that an array shows: no bitmap, for none is missing.
struct Numbers<C> {
    _kept: C,
    buffers: [*const c_void; 2],
}

/// The offsets of lists, and the array of what is in them.
struct Lists {
    offsets: Box<Numbers<Vec<i32>>>,
    child: ArrowArray,
    children: [*mut ArrowArray; 1],
}

impl<T, C: Deref<Target = [T]>> Numbers<C> {
    fn new(numbers: C) -> Box<Self> {
        let buffers = [std::ptr::null(), numbers.as_ptr().cast()];
        Box::new(Numbers { _kept: numbers, buffers })
    }
}

impl ArrowArray {
    /// Lists of 32-bit numbers. offsets: where each begins and the last one ends
    pub fn lists(offsets: Vec<i32>, values: Lent) -> ArrowArray {
        let (length, count) = (offsets.len() - 1, values.len());
        let child = Numbers::new(values);
        let buffers = child.buffers.as_ptr();
        let child =
            ArrowArray::plain(count, buffers, Some(release_numbers), Box::into_raw(child).cast::<c_void>());
        let owner = Box::new(Lists { offsets: Numbers::new(offsets), child, children: [null_mut()] });
        let buffers = owner.offsets.buffers.as_ptr();
        let owner = Box::into_raw(owner);
        // SAFETY: just made, and nobody else knows it. Pointers into it are made from its own
        let children = unsafe {
            (*owner).children = [addr_of_mut!((*owner).child)];
            addr_of_mut!((*owner).children).cast()
        };
        let lists = ArrowArray::plain(length, buffers, Some(release_lists), owner.cast());
        ArrowArray { n_children: 1, children, ..lists }
    }

    fn plain(
        length: usize,
        buffers: *const *const c_void,
        release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
        private_data: *mut c_void,
    ) -> ArrowArray {
        ArrowArray {
            length: length as i64,
            null_count: 0,
            offset: 0,
            n_buffers: 2,
            n_children: 0,
            buffers,
            children: null_mut(),
            dictionary: null_mut(),
            release,
            private_data,
        }
    }
}

/// # Safety
/// The array is one that `lists` made as a child, and was not released.
unsafe extern "C" fn release_numbers(array: *mut ArrowArray) {
    // SAFETY: the caller's promise
    unsafe {
        drop(Box::from_raw((*array).private_data.cast::<Numbers<Lent>>()));
        (*array).release = None;
    }
}

/// # Safety
/// The array is one that `lists` made, and was not released.
unsafe extern "C" fn release_lists(array: *mut ArrowArray) {
    // SAFETY: the caller's promise; a child that was moved away says that it is released
    unsafe {
        let mut owner = Box::from_raw((*array).private_data.cast::<Lists>());
        if let Some(release) = owner.child.release {
            release(&mut owner.child);
        }
        (*array).release = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rooms::Rooms;
    use std::sync::Arc;

    fn lent(numbers: Vec<u32>) -> Lent {
        Lent::new(numbers, &Arc::new(Rooms::new(0)))
    }

    /// The numbers that a reader of the interface sees, and a release as it does it.
    fn read(array: &mut ArrowArray) -> (Vec<i32>, Vec<u32>) {
        // SAFETY: made by `lists`
        unsafe {
            let child = &**array.children;
            let offsets = (*array.buffers.add(1)).cast::<i32>();
            let values = (*child.buffers.add(1)).cast::<u32>();
            let offsets = std::slice::from_raw_parts(offsets, array.length as usize + 1).to_vec();
            let values = std::slice::from_raw_parts(values, child.length as usize).to_vec();
            if let Some(release) = array.release {
                release(array);
            }
            (offsets, values)
        }
    }

    #[test]
    fn a_reader_sees_what_was_given() {
        for (offsets, values) in [(vec![0, 2, 2, 3], vec![7, 8, 9]), (vec![0], vec![])] {
            let mut array = ArrowArray::lists(offsets.clone(), lent(values.clone()));
            assert_eq!(read(&mut array), (offsets, values));
            assert!(array.release.is_none());
        }
    }

    #[test]
    fn a_child_that_was_moved_away_outlives_the_lists() {
        let mut array = ArrowArray::lists(vec![0, 1], lent(vec![5]));
        // SAFETY: as the interface says an array is moved: its bytes, and the old one marked
        let mut child = unsafe {
            let child = (*array.children).read();
            (**array.children).release = None;
            (array.release.unwrap())(&mut array);
            child
        };
        // SAFETY: the moved child is whole
        unsafe {
            assert_eq!(*(*child.buffers.add(1)).cast::<u32>(), 5);
            (child.release.unwrap())(&mut child);
        }
        assert!(child.release.is_none());
    }
}
