//! Units of work that threads take from both ends.

use std::sync::{Mutex, MutexGuard};

/// What becomes of units behind those that the caller's thread did, in their order.
///
/// `own` does units from the front, on the caller's thread, and what it makes stays where it writes it. `help` does them
/// from the back, on a thread for each helper; so only half of a result must be put behind the other. Threads end with the
/// call, each with `finish`. Of several that fail the first unit's failure is returned.
pub fn from_both_ends<Helper: Send, Part: Send, Failure: Send>(
    units: usize,
    helpers: Vec<Helper>,
    mut own: impl FnMut(usize) -> Result<(), Failure>,
    help: impl Fn(&mut Helper, usize) -> Result<Part, Failure> + Sync,
    finish: impl Fn(Helper) + Sync,
) -> Result<Vec<Part>, Failure> {
    let open = Mutex::new(0..units);
    let parts = Mutex::new(Vec::new());
    let work = |mut helper: Helper| loop {
        let Some(unit) = held(&open).next_back() else { return finish(helper) };
        let part = help(&mut helper, unit);
        let failed = part.is_err();
        held(&parts).push((unit, part));
        if failed {
            return; // what is before may fail too
        }
    };
    std::thread::scope(|scope| {
        for helper in helpers {
            scope.spawn(|| work(helper));
        }
        loop {
            let Some(unit) = held(&open).next() else { return Ok(()) };
            if let Err(failure) = own(unit) {
                *held(&open) = 0..0; // what is behind does not matter
                return Err(failure);
            }
        }
    })?;
    let mut parts = parts.into_inner().expect("a panic would have ended the scope");
    parts.sort_unstable_by_key(|(unit, _)| *unit);
    parts.into_iter().map(|(_, part)| part).collect()
}

fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().expect("no thread panics while it holds this")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(units: usize, helpers: usize, fails: &[usize]) -> Result<Vec<usize>, usize> {
        let check = |unit| if fails.contains(&unit) { Err(unit) } else { Ok(unit) };
        let mut all = Vec::new();
        let own = |unit| check(unit).map(|unit| all.push(unit));
        let parts = from_both_ends(units, vec![(); helpers], own, |_, unit| check(unit), |_| ())?;
        all.extend(parts);
        Ok(all)
    }

    #[test]
    fn every_unit_is_done_once_and_they_keep_their_order() {
        for units in [0, 1, 2, 7, 1000] {
            for helpers in 0..4 {
                assert_eq!(done(units, helpers, &[]), Ok((0..units).collect()));
            }
        }
    }

    #[test]
    fn of_several_failures_the_first_is_returned() {
        for fails in [&[3][..], &[96], &[3, 96], &[50, 51, 52], &[0, 99]] {
            for helpers in 0..4 {
                assert_eq!(done(100, helpers, fails), Err(fails[0]));
            }
        }
    }
}
