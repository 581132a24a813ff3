//! Rows put together of what stands around a text, its tokens, and padding.

/// Where each row comes from and what it becomes; of row i:
///
/// takes, counts: which of all values are its own. lengths: with what is put around them.
/// lefts: how much of that is padding in front. A row of length 0 gets nothing.
/// before, after: what stands around the values of every row
pub struct Layout<'a, T> {
    pub takes: &'a [i64],
    pub counts: &'a [i64],
    pub lengths: &'a [i64],
    pub lefts: &'a [i64],
    pub before: &'a [T],
    pub after: &'a [T],
}

/// The values of all rows: a column, or one value as often as there are some.
#[derive(Clone, Copy)]
pub enum Values<'a, T> {
    Column(&'a [T]),
    Same(T),
}

impl<T: Copy> Layout<'_, T> {
    /// Write the rows one after the other, padded with `fill`. False where numbers do not fit together.
    pub fn write(&self, values: Values<T>, fill: T, out: &mut [T]) -> bool {
        let mut rest = out;
        let rows = self.takes.iter().zip(self.counts).zip(self.lengths).zip(self.lefts);
        for (((&take, &count), &length), &left) in rows {
            let (Ok(take), Ok(count), Ok(length), Ok(left)) = (
                usize::try_from(take),
                usize::try_from(count),
                usize::try_from(length),
                usize::try_from(left),
            ) else {
                return false;
            };
            if length == 0 {
                continue;
            }
            let used =
                left.checked_add(self.before.len() + self.after.len()).and_then(|n| n.checked_add(count));
            if used.map_or(true, |used| used > length) || length > rest.len() {
                return false;
            }
            let (row, others) = rest.split_at_mut(length);
            rest = others;
            let (padding, row) = row.split_at_mut(left);
            padding.fill(fill);
            let (before, row) = row.split_at_mut(self.before.len());
            before.copy_from_slice(self.before);
            let (own, row) = row.split_at_mut(count);
            match values {
                Values::Same(value) => own.fill(value),
                Values::Column(column) => {
                    match take.checked_add(count).and_then(|stop| column.get(take..stop)) {
                        Some(found) => own.copy_from_slice(found),
                        None => return false,
                    }
                }
            }
            let (after, padding) = row.split_at_mut(self.after.len());
            after.copy_from_slice(self.after);
            padding.fill(fill);
        }
        rest.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_framed_and_padded() {
        let layout = Layout {
            takes: &[0, 0, 2],
            counts: &[2, 0, 1],
            lengths: &[4, 0, 5],
            lefts: &[0, 0, 2],
            before: &[9],
            after: &[8],
        };
        let mut out = [0; 9];
        assert!(layout.write(Values::Column(&[1, 2, 3]), 7, &mut out));
        assert_eq!(out, [9, 1, 2, 8, 7, 7, 9, 3, 8]);
        assert!(layout.write(Values::Same(5), 7, &mut out));
        assert_eq!(out, [9, 5, 5, 8, 7, 7, 9, 5, 8]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let layout =
            |takes, counts, lengths, lefts| Layout { takes, counts, lengths, lefts, before: &[], after: &[] };
        let refused = |layout: Layout<i32>, room: usize| {
            assert!(!layout.write(Values::Column(&[1, 2, 3]), 0, &mut vec![0; room]));
        };
        refused(layout(&[2], &[2], &[2], &[0]), 2); // values that are not there
        refused(layout(&[0], &[2], &[2], &[1]), 2); // a row too short
        refused(layout(&[0], &[2], &[2], &[0]), 1); // too little room
        refused(layout(&[0], &[2], &[2], &[0]), 3); // too much
        refused(layout(&[-1], &[2], &[2], &[0]), 2);
        refused(layout(&[0], &[i64::MAX], &[i64::MAX], &[i64::MAX]), 2);
    }
}
