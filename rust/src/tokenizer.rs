//! A compiled pipeline, and the loop that takes texts through it.

use crate::added::{Match, Matcher};
use crate::cache::{bytes_of, entry_of, key_of, line_of, Cache, Entry, Key, LONGEST_KEY};
use crate::cuts::Memo;
use crate::memory::ask_for_large_pages;
use crate::merge::{Lane, Rules, Scratch, Token, LANES};
use crate::normal;
use crate::queue::{is_short, Queue, ADDED, CAPACITY, END, LONG};
use crate::split::{cpu_path, CpuPath, Grammar, Layers, Pieces, Splitter};
use crate::unicode::{is_continuation, Characters};
use crate::vocabulary::Vocabulary;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, OnceLock};

/// A byte-level BPE vocabulary, and the caches of what it made of pieces.
pub struct Model {
    pub vocabulary: Vocabulary,
    pub rules: Rules,
    ignore_merges: bool,
    /// Tokens that as pieces are themselves, but not by merging; found when first asked for.
    odd: OnceLock<HashSet<Key>>,
    spaces: Mutex<Vec<Box<Space>>>,
    cache_limit: usize,
}

/// How many spaces a model keeps between calls: as many threads start warm.
const SPACES: usize = 4;

impl Model {
    /// cache_limit: bytes of all caches together. Entries that encode to themselves are
    /// found here, so that a word of the vocabulary is a lookup even at first sight.
    pub fn new(mut vocabulary: Vocabulary, rules: Rules, ignore_merges: bool, cache_limit: usize) -> Self {
        let mut scratch = Scratch::default();
        let mut tokens = Vec::new();
        vocabulary.mark_whole(|token, id| {
            if !ignore_merges {
                tokens.clear();
                rules.merge(token, &mut scratch, &mut tokens);
            }
            ignore_merges || matches!(tokens[..], [only] if only.id == id)
        });
        let odd = OnceLock::new();
        Model {
            vocabulary,
            rules,
            ignore_merges,
            odd,
            spaces: Mutex::default(),
            cache_limit: cache_limit / SPACES,
        }
    }

    /// What one thread works with; with a warm cache when there is one.
    ///
    /// The lock is only tried: where another thread holds it, or held it in the process
    /// that this one was forked from, a new one does as well.
    pub fn take_space(&self) -> Box<Space> {
        let kept = self.spaces.try_lock().ok().and_then(|mut spaces| spaces.pop());
        kept.unwrap_or_else(|| Box::new(Space::new(self.cache_limit)))
    }

    fn return_space(&self, space: Box<Space>) {
        if let Ok(mut spaces) = self.spaces.try_lock() {
            if spaces.len() < SPACES {
                spaces.push(space);
            }
        }
    }

    /// Whether a unit, which is part of a piece, has the tokens that it has as a piece.
    fn is_plain(&self, key: Key) -> bool {
        !self.ignore_merges || !self.odd().contains(&key)
    }

    fn odd(&self) -> &HashSet<Key> {
        self.odd.get_or_init(|| {
            let (mut scratch, mut tokens, mut odd) = (Scratch::default(), Vec::new(), HashSet::new());
            for (key, id) in self.vocabulary.short_tokens() {
                let (bytes, len) = bytes_of(key);
                tokens.clear();
                self.rules.merge(&bytes[..len], &mut scratch, &mut tokens);
                if !matches!(tokens[..], [only] if only.id == id) {
                    odd.insert(key);
                }
            }
            odd
        })
    }

    /// The tokens of a piece. known: its id where it is a token of the vocabulary as it is
    fn tokenize(&self, piece: &[u8], known: Option<u32>, scratch: &mut Scratch, out: &mut Vec<Token>) {
        out.clear();
        match known {
            Some(id) => out.push(Token { id, start: 0 }),
            None => self.rules.merge(piece, scratch, out),
        }
    }
}

/// All that decides the ids of a text.
///
/// prefix: whether a space is put before every stretch between added tokens that begins with
/// none. layers: what cuts a text before the grammar does. in_raw: added tokens that are looked for
/// in the text as given; in_normalized: the others
pub struct Tokenizer {
    pub model: Arc<Model>,
    pub grammar: Grammar,
    pub nfc: bool,
    pub prefix: bool,
    pub layers: Option<Layers>,
    pub in_raw: Option<Matcher>,
    pub in_normalized: Option<Matcher>,
}

/// The tokens of texts, one after the other.
///
/// stops: where the tokens of each text end. starts, ends: characters of the text;
/// words: number of the piece; empty unless traced. left: texts that must be
/// encoded in another way, which have no tokens here
#[derive(Default)]
pub struct Tokens {
    pub ids: Vec<u32>,
    pub starts: Vec<u32>,
    pub ends: Vec<u32>,
    pub words: Vec<u32>,
    pub stops: Vec<usize>,
    pub left: Vec<usize>,
}

impl Tokens {
    /// As new; the room of large columns is not kept.
    fn clear(&mut self) {
        if self.ids.capacity() > MOST_KEPT {
            *self = Tokens::default();
        }
        for column in [&mut self.ids, &mut self.starts, &mut self.ends, &mut self.words] {
            column.clear();
        }
        self.stops.clear();
        self.left.clear();
    }

    /// The columns that are filled.
    fn columns<const TRACE: bool>(&mut self) -> impl Iterator<Item = &mut Vec<u32>> {
        let all = [&mut self.ids, &mut self.starts, &mut self.ends, &mut self.words];
        all.into_iter().take(if TRACE { 4 } else { 1 })
    }
}

/// What a thread works with, kept between calls: the cache, and room that is there already.
pub struct Space {
    cache: Cache,
    queue: Queue,
    scratch: Scratch,
    lanes: [Lane; LANES],
    unknown: Vec<Key>,
    memo: Memo,
    units: Vec<(Key, usize, usize)>,
    tokens: Vec<Token>,
    unit: Vec<Token>,
    matches: [Vec<Match>; 2],
    texts: Vec<(usize, usize)>, // whose end has not left the queue; the first is the current one
    normalized: Vec<u8>,
    prefixed: Vec<u8>,
    layered: Pieces,
    out: Tokens,
}

impl Space {
    fn new(cache_limit: usize) -> Self {
        Space {
            cache: Cache::new(cache_limit),
            queue: Queue::new(),
            scratch: Scratch::default(),
            lanes: [Lane::default(); LANES],
            unknown: Vec::new(),
            memo: Memo::default(),
            units: Vec::new(),
            tokens: Vec::new(),
            unit: Vec::new(),
            matches: Default::default(),
            texts: Vec::new(),
            normalized: Vec::new(),
            prefixed: Vec::new(),
            layered: Pieces::default(),
            out: Tokens::default(),
        }
    }
}

/// One thread's work on some texts. TRACE: whether places and words are wanted too
pub struct Worker<'a, const TRACE: bool> {
    tokenizer: &'a Tokenizer,
    data: &'a [u8],
    space: Box<Space>,
    path: CpuPath,
    table: &'static Characters,
    text: usize, // number of the current one in `texts`
    word: u32,
}

/// More tokens than this come to their room by growing: 64 MB a column are reserved, not more.
const MOST_EXPECTED: usize = 16 << 20;

/// Room for so many ids is kept between calls.
const MOST_KEPT: usize = 1 << 14;

/// Starts of pieces that are found at once: what is left of a queue after them is never too small.
const STARTS: usize = 256;

impl<'a, const TRACE: bool> Worker<'a, TRACE> {
    /// data: where the texts are, and what may be read around them
    pub fn new(tokenizer: &'a Tokenizer, data: &'a [u8]) -> Self {
        let space = tokenizer.model.take_space();
        Worker { tokenizer, data, space, path: cpu_path(), table: Characters::get(), text: 0, word: 0 }
    }

    /// Encode `data[start..stop]`, which is UTF-8, as the next text.
    pub fn text(&mut self, start: usize, stop: usize) {
        if self.space.queue.room() == 0 {
            self.flush(self.data);
        }
        self.space.texts.push((start, stop));
        let data = self.data;
        let mut last = start;
        if let Some(matcher) = &self.tokenizer.in_raw {
            let mut matches = std::mem::take(&mut self.space.matches[0]);
            matcher.find(self.table, &data[start..stop], &mut matches);
            for found in &matches {
                if last < start + found.start {
                    self.raw_stretch(last, start + found.start);
                }
                self.added(start, found);
                last = start + found.stop;
            }
            self.space.matches[0] = matches;
        }
        if last < stop {
            self.raw_stretch(last, stop);
        }
        if self.space.queue.room() == 0 {
            self.flush(data);
        }
        self.space.queue.end_of_text();
    }

    fn added(&mut self, base: usize, found: &Match) {
        if self.space.queue.room() == 0 {
            self.flush(self.data);
        }
        self.space.queue.added(found.id, base + found.start, found.stop - found.start);
    }

    fn raw_stretch(&mut self, start: usize, stop: usize) {
        if self.tokenizer.nfc && !normal::is_stable(self.table, &self.data[start..stop]) {
            self.unstable_stretch(start, stop);
            return;
        }
        self.stretch(self.data, start, stop);
    }

    /// A stretch that normalization may change.
    #[cold]
    fn unstable_stretch(&mut self, start: usize, stop: usize) {
        let mut normalized = std::mem::take(&mut self.space.normalized);
        normalized.clear();
        let same = !normal::nfc(self.table, &self.data[start..stop], &mut normalized);
        if same {
            self.stretch(self.data, start, stop);
        } else if TRACE {
            self.leave();
        } else {
            self.flush(self.data);
            let data = normalized.as_slice();
            self.stretch(data, 0, data.len());
            self.flush(data);
        }
        self.space.normalized = normalized;
    }

    /// The current text must be encoded in another way.
    fn leave(&mut self) {
        let number = self.space.out.stops.len() + self.space.texts.len() - self.text - 1;
        if self.space.out.left.last() != Some(&number) {
            self.space.out.left.push(number);
        }
    }

    /// Normalized text, which may hold added tokens.
    fn stretch(&mut self, data: &[u8], start: usize, stop: usize) {
        let Some(matcher) = &self.tokenizer.in_normalized else { return self.plain(data, start, stop) };
        let mut last = start;
        let mut matches = std::mem::take(&mut self.space.matches[1]);
        matcher.find(self.table, &data[start..stop], &mut matches);
        for found in &matches {
            if last < start + found.start {
                self.plain(data, last, start + found.start);
            }
            if self.space.queue.room() == 0 {
                self.flush(data);
            }
            self.space.queue.added(found.id, start + found.start, found.stop - found.start);
            last = start + found.stop;
        }
        self.space.matches[1] = matches;
        if last < stop {
            self.plain(data, last, stop);
        }
    }

    /// Text without added tokens.
    fn plain(&mut self, data: &[u8], start: usize, stop: usize) {
        if !self.tokenizer.prefix || data[start] == b' ' {
            return self.layers(data, start, stop);
        }
        if TRACE {
            return self.leave(); // the space stands for the character behind it
        }
        let mut prefixed = std::mem::take(&mut self.space.prefixed);
        prefixed.clear();
        prefixed.push(b' ');
        prefixed.extend_from_slice(&data[start..stop]);
        self.flush(data);
        self.layers(&prefixed, 0, prefixed.len());
        self.flush(&prefixed);
        self.space.prefixed = prefixed;
    }

    /// Text cut by the layers, and what comes of it by the grammar.
    fn layers(&mut self, data: &[u8], start: usize, stop: usize) {
        let Some(layers) = &self.tokenizer.layers else { return self.pieces(data, start, stop) };
        let mut room = std::mem::take(&mut self.space.layered);
        match layers.cut(&data[start..stop], &mut room) {
            None => self.leave(),
            Some(spans) if self.tokenizer.grammar == Grammar::Whole => self.spans(data, start, spans),
            Some(spans) => spans.for_each(|(from, to)| self.pieces(data, start + from, start + to)),
        }
        self.space.layered = room;
    }

    /// Pieces at places of `data[base..]`.
    fn spans(&mut self, data: &[u8], base: usize, spans: impl Iterator<Item = (usize, usize)>) {
        let mut starts = [0u32; STARTS + 1];
        let mut count = 0; // of pieces that stand side by side
        for (start, stop) in spans {
            if count > 0 && (count == STARTS || starts[count] as usize != start) {
                self.queue_pieces(data, base, &starts[..=count]);
                count = 0;
            }
            (starts[count], starts[count + 1]) = (start as u32, stop as u32);
            count += 1;
        }
        if count > 0 {
            self.queue_pieces(data, base, &starts[..=count]);
        }
    }

    #[inline(always)]
    fn queue_pieces(&mut self, data: &[u8], base: usize, starts: &[u32]) {
        if self.space.queue.room() < starts.len() - 1 {
            self.flush(data);
        }
        let Space { queue, cache, .. } = &mut *self.space;
        queue.pieces(self.path, cache, data, base, starts, TRACE);
    }

    /// Text cut by the grammar.
    fn pieces(&mut self, data: &[u8], start: usize, stop: usize) {
        let mut splitter = Splitter::new(self.tokenizer.grammar, self.path, &data[start..stop]);
        let mut starts = [0u32; STARTS + 2];
        let mut open = 0; // whether a piece has begun whose end is not known
        loop {
            let found = open + splitter.fill(&mut starts[open..STARTS]);
            let count = if splitter.done() {
                starts[found] = (stop - start) as u32;
                found
            } else {
                found - 1
            };
            self.queue_pieces(data, start, &starts[..=count]);
            if splitter.done() {
                return;
            }
            starts[0] = starts[count];
            open = 1;
        }
    }

    /// Turn the events that wait into tokens.
    fn flush(&mut self, data: &[u8]) {
        self.reserve(0);
        let mut at = self.known(0);
        if self.space.queue.events().get(at).is_some_and(|event| is_short(event.key)) {
            self.learn(at);
            at = self.known(at);
        }
        while at < self.space.queue.events().len() {
            self.rare(data, at);
            at = self.known(at + 1);
        }
        self.space.queue.clear();
    }

    /// Emit events from `at` on as long as the first look at the cache answers them; where that ends.
    #[inline(always)]
    fn known(&mut self, at: usize) -> usize {
        let text = self.space.texts.get(self.text).map_or(0, |text| text.0);
        let mut out = Emitter::<TRACE>::new(&mut self.space.out, text, self.word);
        let lines = self.space.cache.lines();
        let events = &self.space.queue.events()[at..];
        let starts = self.space.queue.starts();
        let mut done = 0;
        while let Some(event) = events.get(done) {
            // a table that has grown since has other lines: not found there is only slower
            let Some(line) = lines.get(event.line as usize) else { break };
            let (entry, found) = entry_of(line, event.key);
            let count = (entry.lanes[0] >> 24) as usize;
            if !found | (count == 0) {
                break;
            }
            let start = if TRACE { starts[at + done] } else { 0 };
            // SAFETY: `reserve` made room for four tokens for each event that is left
            unsafe { out.put(start, event.len, entry, count) };
            done += 1;
        }
        self.word = out.finish();
        at + done
    }

    /// Work out the short pieces from `from` on that are not known, several at a time, and keep them.
    ///
    /// Changes no result, for what is kept may be lost again: it only makes `rare` rare.
    #[inline(never)]
    fn learn(&mut self, from: usize) {
        let Model { vocabulary, rules, .. } = &*self.tokenizer.model;
        let unknown = &mut self.space.unknown;
        unknown.clear();
        let lines = self.space.cache.lines();
        for event in self.space.queue.events()[from..].iter().filter(|event| is_short(event.key)) {
            let at_home = lines.get(event.line as usize).is_some_and(|line| entry_of(line, event.key).1);
            if !at_home && !self.space.cache.has(event.key) {
                vocabulary.prefetch(event.key);
                unknown.push(event.key);
            }
        }
        let cache = &mut self.space.cache;
        let shift = cache.shift();
        unknown.retain(|&key| match vocabulary.whole_by_key(key) {
            Some(id) => {
                if !cache.has(key) {
                    cache.insert(key, &[Token { id, start: 0 }]);
                }
                false
            }
            None => true,
        });
        let Space { cache, unknown, lanes, tokens, queue, .. } = &mut *self.space;
        let mut rest = unknown.iter();
        let mut keys = [[0; 2]; LANES];
        loop {
            let mut count = 0;
            for &key in rest.by_ref() {
                if !keys[..count].contains(&key) && !cache.has(key) {
                    keys[count] = key;
                    count += 1;
                    if count == LANES {
                        break;
                    }
                }
            }
            if count == 0 {
                break;
            }
            rules.merge_short(&keys[..count], lanes);
            for (&key, lane) in keys[..count].iter().zip(&*lanes) {
                tokens.clear();
                lane.tokens(tokens);
                cache.insert(key, tokens);
            }
        }
        if cache.shift() != shift {
            queue.find_lines(cache);
        }
    }

    /// Room for the tokens that `bytes` of text come to, roughly: growing later copies what is there.
    pub fn expect(&mut self, bytes: usize) {
        let tokens = (bytes / 3).min(MOST_EXPECTED) + 4 * CAPACITY;
        for column in self.space.out.columns::<TRACE>() {
            column.reserve_exact(tokens);
            ask_for_large_pages(column.as_ptr() as usize, column.capacity() * 4);
        }
    }

    /// Room for the tokens of a whole queue out of the cache, and `more`.
    fn reserve(&mut self, more: usize) {
        let more = more + 4 * CAPACITY + 4;
        for column in self.space.out.columns::<TRACE>() {
            column.reserve(more);
        }
    }

    /// What the first look at the cache does not answer.
    #[inline(never)]
    fn rare(&mut self, data: &[u8], at: usize) {
        let event = self.space.queue.events()[at];
        let kind = event.key[1] & 0xff << 56;
        if kind == END {
            return self.finish_text();
        }
        let model = &self.tokenizer.model;
        let place = self.place(at, event.len);
        self.reserve(event.len as usize); // no token is empty
        if kind == ADDED {
            return place.append(&mut self.space.out, &[Token { id: event.line, start: 0 }]);
        }
        if kind == LONG {
            let piece = &data[event.key[0] as usize..][..event.len as usize];
            match self.space.cache.find_long(piece) {
                Some(known) => place.append(&mut self.space.out, known),
                None => {
                    let worth_keeping = match model.vocabulary.whole_by_bytes(piece) {
                        Some(id) => {
                            self.space.tokens.clear();
                            self.space.tokens.push(Token { id, start: 0 });
                            true
                        }
                        None => self.by_units(piece),
                    };
                    // of what is cut into many units, most never comes again
                    if worth_keeping || self.space.cache.is_worth(piece) {
                        self.space.cache.insert_long(piece, &self.space.tokens);
                    }
                    place.append(&mut self.space.out, &self.space.tokens);
                }
            }
            return;
        }
        match self.space.cache.find(event.key) {
            Some(entry) if entry.lanes[0] >> 24 == 0 => {
                place.append(&mut self.space.out, self.space.cache.spilled(&entry))
            }
            Some(entry) => {
                let tokens: [Token; 4] = std::array::from_fn(|i| entry.token(i));
                place.append(&mut self.space.out, &tokens[..(entry.lanes[0] >> 24) as usize]);
            }
            None => {
                let (bytes, len) = bytes_of(event.key);
                let piece = &bytes[..len];
                let known = model.vocabulary.whole_by_key(event.key);
                model.tokenize(piece, known, &mut self.space.scratch, &mut self.space.tokens);
                self.space.cache.insert(event.key, &self.space.tokens);
                place.append(&mut self.space.out, &self.space.tokens);
            }
        }
    }

    /// Work out a long piece, cut where no merge crosses. Whether it has few units.
    fn by_units(&mut self, piece: &[u8]) -> bool {
        let model = &*self.tokenizer.model;
        let Space { cache, memo, units, tokens, unit, scratch, .. } = &mut *self.space;
        tokens.clear();
        units.clear();
        let mut at = 0;
        while at < piece.len() {
            let end = model.rules.cuts.end(memo, piece, at);
            let key = if end - at <= LONGEST_KEY { key_of(&piece[at..end]) } else { [0, 0] };
            cache.prefetch(line_of(key, cache.shift()));
            units.push((key, at, end));
            at = end;
        }
        for &(key, start, end) in &*units {
            let (bytes, start) = (&piece[start..end], start as u32);
            if key == [0, 0] || !model.is_plain(key) {
                let first = tokens.len();
                model.rules.merge(bytes, scratch, tokens);
                tokens[first..].iter_mut().for_each(|token| token.start += start);
                continue;
            }
            match cache.find(key) {
                Some(entry) if entry.lanes[0] >> 24 == 0 => {
                    tokens.extend(cache.spilled(&entry).iter().map(|token| token.from(start)));
                }
                Some(entry) => {
                    let count = (entry.lanes[0] >> 24) as usize;
                    tokens.extend((0..count).map(|i| entry.token(i).from(start)));
                }
                None => {
                    model.tokenize(bytes, model.vocabulary.whole_by_key(key), scratch, unit);
                    cache.insert(key, unit);
                    tokens.extend(unit.iter().map(|token| token.from(start)));
                }
            }
        }
        units.len() < 4
    }

    /// Where an event's tokens are, and the next word's number for them.
    fn place(&mut self, at: usize, len: u32) -> Place<TRACE> {
        if !TRACE {
            return Place { start: 0, len, word: 0 };
        }
        let word = self.word;
        self.word += 1;
        Place { start: (self.space.queue.starts()[at] - self.space.texts[self.text].0) as u32, len, word }
    }

    fn finish_text(&mut self) {
        let first = self.space.out.stops.last().copied().unwrap_or(0);
        if self.space.out.left.binary_search(&self.space.out.stops.len()).is_ok() {
            self.space.out.columns::<TRACE>().for_each(|column| column.truncate(first));
        }
        if TRACE {
            let (start, stop) = self.space.texts[self.text];
            let text = &self.data[start..stop];
            if !text.is_ascii() {
                to_characters(text, &mut self.space.out.starts[first..], &mut self.space.out.ends[first..]);
            }
            self.word = 0;
        }
        self.space.out.stops.push(self.space.out.ids.len());
        self.text += 1;
        if self.text == self.space.texts.len() {
            self.space.texts.clear();
            self.text = 0;
        }
    }

    /// The tokens of the texts since the last time.
    pub fn take(&mut self) -> Tokens {
        self.flush(self.data);
        std::mem::take(&mut self.space.out)
    }

    /// The ids alone of the texts since the last time, which stay where they are; None where
    /// a text was left.
    pub fn ids(&mut self) -> Option<&[u32]> {
        self.flush(self.data);
        self.space.out.left.is_empty().then_some(&self.space.out.ids)
    }

    /// Give the space back to the model, where the next call starts with it.
    pub fn finish(mut self) {
        self.space.out.clear();
        self.tokenizer.model.return_space(self.space);
    }
}

/// The piece that tokens are of: where it is in its text, and its number.
struct Place<const TRACE: bool> {
    start: u32,
    len: u32,
    word: u32,
}

impl<const TRACE: bool> Place<TRACE> {
    fn append(&self, out: &mut Tokens, tokens: &[Token]) {
        out.ids.extend(tokens.iter().map(|token| token.id));
        if TRACE {
            let starts = tokens.iter().map(|token| self.start + token.start);
            out.ends.extend(starts.clone().skip(1).chain([self.start + self.len]));
            out.starts.extend(starts);
            out.words.resize(out.ids.len(), self.word);
        }
    }
}

/// Writes tokens of cache entries to the columns, whose lengths are set at the end.
///
/// It holds the columns' pointers: behind a `&mut Vec` each would be loaded again for every piece.
struct Emitter<'t, const TRACE: bool> {
    out: &'t mut Tokens,
    ids: *mut u32,
    starts: *mut u32,
    ends: *mut u32,
    words: *mut u32,
    len: usize,
    text: usize, // where the current one begins
    word: u32,
}

impl<'t, const TRACE: bool> Emitter<'t, TRACE> {
    #[inline(always)]
    fn new(out: &'t mut Tokens, text: usize, word: u32) -> Self {
        let len = out.ids.len();
        let (ids, starts) = (out.ids.as_mut_ptr(), out.starts.as_mut_ptr());
        let (ends, words) = (out.ends.as_mut_ptr(), out.words.as_mut_ptr());
        Emitter { out, ids, starts, ends, words, len, text, word }
    }

    /// The tokens of an entry: all four lanes are written, and `count` of them count.
    ///
    /// # Safety
    /// The columns have room for four tokens more.
    #[inline(always)]
    unsafe fn put(&mut self, start: usize, len: u32, entry: &Entry, count: usize) {
        debug_assert!(self.len + 4 <= self.out.ids.capacity());
        // SAFETY: the caller's promise, here and below
        let write = |column: *mut u32, values: [u32; 4]| unsafe {
            column.add(self.len).cast::<[u32; 4]>().write_unaligned(values)
        };
        write(self.ids, entry.ids());
        if TRACE {
            let at = (start - self.text) as u32;
            let [_, second, third, fourth] = entry.lanes.map(|lane| at + (lane >> 24));
            write(self.starts, [at, second, third, fourth]);
            write(self.ends, [second, third, fourth, 0]);
            // SAFETY: as above, for count is at most 4
            unsafe { self.ends.add(self.len + count - 1).write(at + len) };
            write(self.words, [self.word; 4]);
            self.word += 1;
        }
        self.len += count;
    }

    /// Returns the number of the next word.
    #[inline(always)]
    fn finish(self) -> u32 {
        // SAFETY: up to `len` everything was written by `put`
        unsafe {
            self.out.ids.set_len(self.len);
            if TRACE {
                self.out.starts.set_len(self.len);
                self.out.ends.set_len(self.len);
                self.out.words.set_len(self.len);
            }
        }
        self.word
    }
}

/// Bytes made characters; a part of a character stands for all of it.
fn to_characters(text: &[u8], starts: &mut [u32], ends: &mut [u32]) {
    let mut counted = (0, 0u32); // bytes, and the characters that begin in them
    let mut count_to = |byte: usize| {
        if byte < counted.0 {
            counted = (0, 0); // only with added tokens that overlap
        }
        counted.1 += text[counted.0..byte].iter().filter(|&&b| !is_continuation(b)).count() as u32;
        counted.0 = byte;
        counted.1
    };
    for (start, end) in starts.iter_mut().zip(ends) {
        *start = count_to(*start as usize + 1) - 1;
        *end = count_to(*end as usize);
    }
}
