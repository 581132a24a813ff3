//! Pieces four at a time, with AVX-512: their keys, lines and places as vectors.

use super::{Event, Source};
use crate::cache::{prefetch, HASH_FACTOR, HASH_ROTATION, LONGEST_KEY};
use std::arch::x86_64::*;

/// The last byte of each key, which has its length.
const LAST: u64 = 0x8000_8000_8000_8000;

impl<const TRACE: bool> Source<'_, TRACE> {
    /// As `put`.
    ///
    /// # Safety
    /// The CPU must have the features.
    #[target_feature(
        enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2"
    )]
    pub(super) unsafe fn put_avx512(self, starts: &[u32], stops: &[u32], events: &mut [Event]) {
        let safe = self.safe();
        let fours = events.len().min(starts.len()).min(stops.len()) / 4;
        let in_lane =
            _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
        // for each byte of a lane the lowest byte of the lane's number
        let lowest = _mm512_inserti64x4::<1>(
            _mm512_castsi256_si512(_mm256_setr_m128i(_mm_set1_epi8(0), _mm_set1_epi8(4))),
            _mm256_setr_m128i(_mm_set1_epi8(8), _mm_set1_epi8(12)),
        );
        let firsts = _mm512_castsi128_si512(_mm_setr_epi32(0, 4, 8, 12)); // of each lane
        let factor = _mm512_set1_epi64(HASH_FACTOR as i64);
        let shift = _mm_cvtsi32_si128(self.shift as i32 & 63);
        let longest = _mm_set1_epi32(LONGEST_KEY as i32);
        // from where on 16 bytes cannot be read
        let unsafely = _mm_set1_epi32(safe.min(u32::MAX as usize) as u32 as i32);
        let base = _mm_set1_epi32(self.base as i32);
        let text = self.text();
        for (starts, (stops, events)) in
            starts.chunks_exact(4).zip(stops.chunks_exact(4).zip(events.chunks_exact_mut(4)))
        {
            // SAFETY: four numbers and four events each; 16 bytes of text from before `safe` on
            unsafe {
                let begin = _mm_loadu_si128(starts.as_ptr().cast());
                let lens = _mm_sub_epi32(_mm_loadu_si128(stops.as_ptr().cast()), begin);
                if _mm_cmpgt_epu32_mask(lens, longest) | _mm_cmpge_epu32_mask(begin, unsafely) != 0 {
                    self.put_four(starts, stops, events);
                    continue;
                }
                let piece = |i: usize| _mm_loadu_si128(text.as_ptr().add(starts[i] as usize).cast());
                let low = _mm256_setr_m128i(piece(0), piece(1));
                let high = _mm256_setr_m128i(piece(2), piece(3));
                let bytes = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high);
                let len = _mm512_permutexvar_epi8(lowest, _mm512_castsi128_si512(lens));
                let keys = _mm512_maskz_mov_epi8(_mm512_cmplt_epu8_mask(in_lane, len), bytes);
                let keys = _mm512_mask_mov_epi8(keys, LAST, len);
                // `line_of` of each
                let rotated =
                    _mm512_shuffle_epi32::<0x4e>(_mm512_rol_epi64::<{ HASH_ROTATION as i32 }>(keys));
                let products = _mm512_mullo_epi64(_mm512_xor_si512(keys, rotated), factor);
                let lines = _mm512_permutexvar_epi32(firsts, _mm512_srl_epi64(products, shift));
                let lines = _mm512_castsi512_si128(lines);
                let at = if TRACE { _mm_add_epi32(begin, base) } else { _mm_setzero_si128() };
                let rest = [_mm_unpacklo_epi32(lines, at), _mm_unpackhi_epi32(lines, at)];
                let event = events.as_mut_ptr();
                let key_at = |i: usize| event.add(i).cast::<__m128i>();
                _mm_storeu_si128(key_at(0), _mm512_castsi512_si128(keys));
                _mm_storeu_si128(key_at(1), _mm512_extracti32x4_epi32::<1>(keys));
                _mm_storeu_si128(key_at(2), _mm512_extracti32x4_epi32::<2>(keys));
                _mm_storeu_si128(key_at(3), _mm512_extracti32x4_epi32::<3>(keys));
                let rest_at = |i: usize| event.add(i).cast::<f64>().add(2);
                _mm_storel_pd(rest_at(0), _mm_castsi128_pd(rest[0]));
                _mm_storeh_pd(rest_at(1), _mm_castsi128_pd(rest[0]));
                _mm_storel_pd(rest_at(2), _mm_castsi128_pd(rest[1]));
                _mm_storeh_pd(rest_at(3), _mm_castsi128_pd(rest[1]));
                for i in 0..4 {
                    // from memory, for to take numbers out of a vector costs two steps each
                    let line = std::ptr::addr_of!((*event.add(i)).line).read_volatile();
                    prefetch(self.lines.as_ptr().wrapping_add(line as usize));
                }
            }
        }
        self.put(&starts[4 * fours..], &stops[4 * fours..], &mut events[4 * fours..]);
    }

    /// Four of which one has no key, or ends near the end of the text.
    #[cold]
    #[inline(never)]
    fn put_four(self, starts: &[u32], stops: &[u32], events: &mut [Event]) {
        self.put(starts, stops, events);
    }
}
