//! Pieces with something between them that is none.

use super::{Event, Queue, Start};
use crate::cache::{key_of, key_within, line_of, Cache, LONGEST_KEY};
use crate::split::CpuPath;

impl Queue {
    /// The pieces of data[base..] from each start to its stop. trace: whether to keep where they begin
    pub fn apart(
        &mut self,
        path: CpuPath,
        cache: &Cache,
        data: &[u8],
        base: usize,
        starts: &[u32],
        stops: &[u32],
        trace: bool,
    ) {
        match path {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `cpu_path` chose this one, so the CPU has the features
            CpuPath::Avx2 => unsafe { self.apart_avx2(cache, data, base, starts, stops, trace) },
            _ => self.put_apart(cache, data, base, starts, stops, trace),
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn apart_avx2(
        &mut self,
        cache: &Cache,
        data: &[u8],
        base: usize,
        starts: &[u32],
        stops: &[u32],
        trace: bool,
    ) {
        self.put_apart(cache, data, base, starts, stops, trace)
    }

    #[inline(always)]
    fn put_apart(
        &mut self,
        cache: &Cache,
        data: &[u8],
        base: usize,
        starts: &[u32],
        stops: &[u32],
        trace: bool,
    ) {
        let text = &data[base..];
        let safe = text.len().saturating_sub(15); // from before here 16 bytes can be read
        let shift = cache.shift();
        let free = self.len..self.len + starts.len();
        if trace {
            for (place, &start) in self.starts[free.clone()].iter_mut().zip(starts) {
                *place = Start { at: (base as u32).wrapping_add(start), ..Start::default() };
            }
        }
        for ((event, &start), &stop) in self.events[free.clone()].iter_mut().zip(starts).zip(stops) {
            let (start, len) = (start as usize, (stop - start) as usize);
            if len > LONGEST_KEY {
                *event = Event::long(base + start, len);
                continue;
            }
            let key = if start < safe {
                // SAFETY: start + 16 <= text.len(), for start < safe
                unsafe { key_within(text, start, len) }
            } else {
                key_of(&text[start..start + len])
            };
            let line = line_of(key, shift);
            cache.prefetch(line);
            *event = Event { key, line: line as u32, len: len as u32 };
        }
        self.len = free.end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split::cpu_path;

    #[test]
    fn a_piece_has_the_same_key_wherever_it_stands() {
        let cache = Cache::new(1 << 20);
        let text = b"abcdefghijklmnopqrstuvwxyzabcdefghijklmnop";
        for (start, len) in (0..20).flat_map(|start| (1..22).map(move |len| (start, len))) {
            for behind in [0, 1, 16] {
                let data = [&b"--"[..], &text[..start + len], &b"----------------"[..behind]].concat();
                for path in [CpuPath::Portable, cpu_path()] {
                    let (mut alone, mut queue) = (Queue::new(), Queue::new());
                    let (piece, edges) =
                        (&text[start..start + len], ([start as u32], [(start + len) as u32]));
                    alone.pieces(path, &cache, piece, 0, &[0, len as u32], true);
                    queue.apart(path, &cache, &data, 2, &edges.0, &edges.1, true);
                    let (expected, event) = (alone.events()[0], queue.events()[0]);
                    assert_eq!((event.line, event.len), (expected.line, len as u32));
                    let place = if len > LONGEST_KEY { start as u64 + 2 } else { expected.key[0] };
                    assert_eq!(event.key, [place, expected.key[1]]);
                    assert_eq!(queue.starts()[0].at, start as u32 + 2);
                }
            }
        }
    }
}
