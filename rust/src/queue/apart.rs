//! Pieces with something between them that is none.

use super::{Queue, Source};
use crate::cache::{key_of, key_within, LONGEST_KEY};
use crate::split::CpuPath;

impl Queue {
    /// The pieces from each start to its stop.
    pub fn apart<const TRACE: bool>(
        &mut self,
        path: CpuPath,
        source: Source<TRACE>,
        starts: &[u32],
        stops: &[u32],
    ) {
        match path {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `cpu_path` chose this one, so the CPU has the features
            CpuPath::Avx2 => unsafe { self.apart_avx2(source, starts, stops) },
            _ => self.put_apart(source, starts, stops),
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn apart_avx2<const TRACE: bool>(&mut self, source: Source<TRACE>, starts: &[u32], stops: &[u32]) {
        self.put_apart(source, starts, stops)
    }

    #[inline(always)]
    fn put_apart<const TRACE: bool>(&mut self, source: Source<TRACE>, starts: &[u32], stops: &[u32]) {
        let source = Source { ..source };
        let text = source.text();
        let safe = text.len().saturating_sub(15); // from before here 16 bytes can be read
        let free = self.len..self.len + starts.len();
        for ((event, &start), &stop) in self.events[free.clone()].iter_mut().zip(starts).zip(stops) {
            let (start, len) = (start as usize, (stop - start) as usize);
            *event = if len > LONGEST_KEY {
                source.long(start, len)
            } else if start < safe {
                // SAFETY: start + 16 <= text.len(), for start < safe
                source.short(unsafe { key_within(text, start, len) }, start)
            } else {
                source.short(key_of(&text[start..start + len]), start)
            };
        }
        self.len = free.end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::Cache;
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
                    alone.pieces(path, Source::<true>::new(&cache, piece, 0), &[0, len as u32]);
                    queue.apart(path, Source::<true>::new(&cache, &data, 2), &edges.0, &edges.1);
                    let (expected, event) = (alone.events()[0], queue.events()[0]);
                    assert_eq!((event.line, event.len()), (expected.line, len as u32));
                    let place = if len > LONGEST_KEY { start as u64 + 2 } else { expected.key[0] };
                    assert_eq!(event.key, [place, expected.key[1]]);
                    assert_eq!((expected.at, event.at), (0, start as u32 + 2));
                }
            }
        }
    }
}
