//! Words that stand behind any white space, as the pieces that they are behind a space.

use super::{Queue, Source, NO_LINE};
use crate::cache::{key_of, key_within, Cache, Key, LONGEST_KEY};
use crate::cpu::CpuPath;

impl Queue {
    /// Words between white space, each behind one space, which begins at the byte before it. How many are taken: up to
    /// a long one that no space stands before.
    pub fn words<const TRACE: bool>(
        &mut self,
        path: CpuPath,
        source: Source<TRACE>,
        starts: &[u32],
        stops: &[u32],
    ) -> usize {
        match path {
            #[cfg(simd)]
            // SAFETY: `cpu_path` chose this one, so the CPU has the features
            CpuPath::Avx2 | CpuPath::Avx512 => unsafe { self.words_avx2(source, starts, stops) },
            _ => self.put_words(source, starts, stops),
        }
    }

    #[cfg(simd)]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn words_avx2<const TRACE: bool>(
        &mut self,
        source: Source<TRACE>,
        starts: &[u32],
        stops: &[u32],
    ) -> usize {
        self.put_words(source, starts, stops)
    }

    /// A piece that is a space, of which the text knows nothing, and a word of up to 14 bytes, which begins at `at`, or none.
    /// There is one a text, so its places are left to the slow look.
    pub fn word_behind_space<const TRACE: bool>(&mut self, cache: &Cache, word: &[u8], at: usize) {
        let leads = !word.is_empty(); // alone it stands for what is behind it, too
        let source = Source::<TRACE>::new(cache, &[], 0);
        let mut event = source.short(behind_space(key_of(word)), at.wrapping_sub(leads as usize));
        let is_slow = TRACE && leads;
        if is_slow {
            event.line = NO_LINE;
        }
        self.push(event);
        if is_slow {
            self.lead(&[0], |_| true);
        }
    }

    /// Whether the space before each of the last words stands for its first character. starts: where the words begin, for
    /// `leads`
    pub fn lead(&mut self, starts: &[u32], leads: impl Fn(u32) -> bool) {
        let places = &mut self.leads[self.len - starts.len()..self.len];
        places.iter_mut().zip(starts).for_each(|(place, &start)| *place = leads(start) as u32);
        self.is_marked = true;
    }

    #[inline(always)]
    fn put_words<const TRACE: bool>(
        &mut self,
        source: Source<TRACE>,
        starts: &[u32],
        stops: &[u32],
    ) -> usize {
        let text = source.text();
        let safe = text.len().saturating_sub(15); // before here 16 bytes can be read
        let free = &mut self.events[self.len..self.len + starts.len()];
        let mut taken = 0;
        for ((event, &start), &stop) in free.iter_mut().zip(starts).zip(stops) {
            let (start, stop) = (start as usize, stop as usize);
            let len = stop - start + 1;
            let before = start.wrapping_sub(1); // of the white space; beyond the text where there is none
            if len <= LONGEST_KEY {
                let key = if before < safe {
                    // SAFETY: before + 16 <= text.len(), for before < safe
                    let [low, high] = unsafe { key_within(text, before, len) };
                    [low & !0xff | b' ' as u64, high]
                } else {
                    behind_space(key_of(&text[start..stop]))
                };
                *event = source.short(key, before);
            } else if text.get(before) == Some(&b' ') {
                *event = source.long(before, len);
            } else {
                break;
            }
            taken += 1;
        }
        self.len += taken;
        taken
    }
}

/// The key of a piece of at most 14 bytes with a space before it.
fn behind_space(key: Key) -> Key {
    let [low, high] = key;
    let len = high >> 56;
    [low << 8 | b' ' as u64, (high << 8 | low >> 56) & !(0xff << 56) | (len + 1) << 56]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::cpu_path;

    #[test]
    fn a_word_has_the_key_that_it_has_behind_a_space() {
        let cache = Cache::new(1 << 20);
        for size in 1..40 {
            for len in 1..=size {
                for start in 0..=size - len {
                    let mut text = vec![b'\n'; size];
                    text[start..start + len]
                        .copy_from_slice(&b"abcdefghijklmnopqrstuvwxyzabcdefghijklmnop"[..len]);
                    let piece = [b" ", &text[start..start + len]].concat();
                    for path in CpuPath::here() {
                        let mut queue = Queue::new();
                        let words = ([start as u32], [(start + len) as u32]);
                        let source = Source::<true>::new(&cache, &text, 0);
                        let taken = queue.words(path, source, &words.0, &words.1);
                        assert_eq!(taken, (piece.len() <= LONGEST_KEY) as usize);
                        for event in queue.events() {
                            assert_eq!((event.key, event.len()), (key_of(&piece), piece.len() as u32));
                            assert_eq!(event.at, (start as u32).wrapping_sub(1));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_long_word_is_taken_with_the_space_before_it() {
        let text = b"a bcdefghijklmnopqrst\nbcdefghijklmnopqrst";
        let mut queue = Queue::new();
        let cache = Cache::new(1 << 20);
        let source = Source::<true>::new(&cache, text, 0);
        let taken = queue.words(cpu_path(), source, &[0, 2, 22], &[1, 21, 41]);
        let long = queue.events()[1];
        assert_eq!((taken, long.key[0], long.len(), long.at), (2, 1, 20, 1));
    }
}
