//! Words that stand behind any white space, as the pieces that they are behind a space.

use super::{Queue, Source, Start};
use crate::cache::{key_of, key_within, Cache, Key, LONGEST_KEY};
use crate::split::CpuPath;

impl Queue {
    /// Words between white space, each behind one space; where they are, `put_word_places` says. How many are taken: up to
    /// a long one that no space stands before.
    pub fn words(&mut self, path: CpuPath, source: Source, starts: &[u32], stops: &[u32]) -> usize {
        match path {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `cpu_path` chose this one, so the CPU has the features
            CpuPath::Avx2 => unsafe { self.words_avx2(source, starts, stops) },
            _ => self.put_words(source, starts, stops),
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn words_avx2(&mut self, source: Source, starts: &[u32], stops: &[u32]) -> usize {
        self.put_words(source, starts, stops)
    }

    /// A piece that is a space, of which the text knows nothing, and a word of up to 14 bytes, which begins at `at`, or none.
    pub fn word_behind_space(&mut self, cache: &Cache, word: &[u8], at: usize) {
        let leads = !word.is_empty(); // alone it stands for what is behind it, too
        let event = Source::new(cache, &[], 0).short(behind_space(key_of(word)), word.len() + 1);
        self.push(event, at.wrapping_sub(leads as usize));
        self.starts[self.len - 1].leads = leads as u16;
    }

    /// Where the last words begin, each with the byte before it as its space. leads: whether that stands for the word's
    /// first character, by where in data[base..] the word begins
    pub fn put_word_places(&mut self, base: usize, starts: &[u32], leads: impl Fn(u32) -> bool) {
        let places = &mut self.starts[self.len - starts.len()..self.len];
        for (place, &start) in places.iter_mut().zip(starts) {
            let at = (base as u32).wrapping_add(start).wrapping_sub(1);
            *place = Start { at, continues: 0, leads: leads(start) as u16 };
        }
    }

    #[inline(always)]
    fn put_words(&mut self, source: Source, starts: &[u32], stops: &[u32]) -> usize {
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
                *event = source.short(key, len);
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
    use crate::split::cpu_path;

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
                    for path in [CpuPath::Portable, cpu_path()] {
                        let mut queue = Queue::new();
                        let words = ([start as u32], [(start + len) as u32]);
                        let taken = queue.words(path, Source::new(&cache, &text, 0), &words.0, &words.1);
                        assert_eq!(taken, (piece.len() <= LONGEST_KEY) as usize);
                        for event in queue.events() {
                            assert_eq!((event.key, event.len), (key_of(&piece), piece.len() as u32));
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
        let taken = queue.words(cpu_path(), Source::new(&cache, text, 0), &[0, 2, 22], &[1, 21, 41]);
        let long = queue.events()[1];
        assert_eq!((taken, long.key[0], long.len), (2, 1, 20));
    }
}
