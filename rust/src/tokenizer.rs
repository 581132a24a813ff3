//! A compiled pipeline, and the loop that takes texts through it.

use crate::added::{Match, Matcher};
use crate::cache::{Cache, Entry, ID_MASK, LONGEST_KEY};
use crate::merge::{Rules, Scratch, Token};
use crate::normal;
use crate::queue::{Event, Queue, ADDED, CAPACITY, END, LONG};
use crate::split::{cpu_path, CpuPath, Grammar, Splitter};
use crate::unicode::{is_continuation, Characters};
use crate::vocabulary::Vocabulary;
use std::sync::{Arc, Mutex};

/// A byte-level BPE vocabulary, and the caches of what it made of pieces.
pub struct Model {
    pub vocabulary: Vocabulary,
    pub rules: Rules,
    /// By entry of the vocabulary: whether its text, as a piece, is this one token.
    pub whole: Vec<bool>,
    caches: Mutex<Vec<Cache>>,
    cache_limit: usize,
}

/// How many caches a model keeps between calls: as many threads start warm.
const CACHES: usize = 4;

impl Model {
    /// cache_limit: bytes of all caches together. Entries that encode to themselves are
    /// found here, so that a word of the vocabulary is a lookup even at first sight.
    pub fn new(vocabulary: Vocabulary, rules: Rules, ignore_merges: bool, cache_limit: usize) -> Self {
        let mut scratch = Scratch::default();
        let mut tokens = Vec::new();
        let mut encodes_to_itself = |entry: usize| {
            tokens.clear();
            rules.merge(vocabulary.token(entry), &mut scratch, &mut tokens);
            matches!(tokens[..], [only] if only.id == vocabulary.id(entry))
        };
        let whole = (0..vocabulary.len()).map(|entry| ignore_merges || encodes_to_itself(entry)).collect();
        Model { vocabulary, rules, whole, caches: Mutex::default(), cache_limit: cache_limit / CACHES }
    }

    /// A cache for one thread to work with; a warm one when there is one.
    ///
    /// The lock is only tried: where another thread holds it, or held it in the process
    /// that this one was forked from, a new cache does as well.
    pub fn take_cache(&self) -> Cache {
        let kept = self.caches.try_lock().ok().and_then(|mut caches| caches.pop());
        kept.unwrap_or_else(|| Cache::new(self.cache_limit))
    }

    pub fn return_cache(&self, cache: Cache) {
        if let Ok(mut caches) = self.caches.try_lock() {
            if caches.len() < CACHES {
                caches.push(cache);
            }
        }
    }

    fn tokenize(&self, piece: &[u8], scratch: &mut Scratch, out: &mut Vec<Token>) {
        out.clear();
        if piece.len() <= self.vocabulary.longest {
            if let Some(entry) = self.vocabulary.find(piece).filter(|&entry| self.whole[entry]) {
                out.push(Token { id: self.vocabulary.id(entry), start: 0 });
                return;
            }
        }
        self.rules.merge(piece, scratch, out);
    }
}

/// All that decides the ids of a text.
///
/// in_raw: added tokens that are looked for in the text as given; in_normalized: the others
pub struct Tokenizer {
    pub model: Arc<Model>,
    pub grammar: Grammar,
    pub nfc: bool,
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

/// One thread's work on some texts. TRACE: whether places and words are wanted too
pub struct Worker<'a, const TRACE: bool> {
    tokenizer: &'a Tokenizer,
    data: &'a [u8],
    cache: Cache,
    path: CpuPath,
    table: &'static Characters,
    queue: Queue,
    scratch: Scratch,
    tokens: Vec<Token>,
    matches: [Vec<Match>; 2],
    texts: Vec<(usize, usize)>, // whose end has not left the queue; the first is the current one
    text: usize,                // number of the current one in `texts`
    word: u32,
    normalized: Vec<u8>,
    out: Tokens,
}

/// Starts of pieces that are found at once: what is left of a queue after them is never too small.
const STARTS: usize = 256;

impl<'a, const TRACE: bool> Worker<'a, TRACE> {
    /// data: where the texts are, and what may be read around them
    pub fn new(tokenizer: &'a Tokenizer, data: &'a [u8]) -> Self {
        Worker {
            tokenizer,
            data,
            cache: tokenizer.model.take_cache(),
            path: cpu_path(),
            table: Characters::get(),
            queue: Queue::default(),
            scratch: Scratch::default(),
            tokens: Vec::new(),
            matches: Default::default(),
            texts: Vec::new(),
            text: 0,
            word: 0,
            normalized: Vec::new(),
            out: Tokens::default(),
        }
    }

    /// Encode `data[start..stop]`, which is UTF-8, as the next text.
    pub fn text(&mut self, start: usize, stop: usize) {
        if self.queue.room() == 0 {
            self.flush(self.data);
        }
        self.texts.push((start, stop));
        let data = self.data;
        let mut last = start;
        if let Some(matcher) = &self.tokenizer.in_raw {
            let mut matches = std::mem::take(&mut self.matches[0]);
            matcher.find(self.table, &data[start..stop], &mut matches);
            for found in &matches {
                if last < start + found.start {
                    self.raw_stretch(last, start + found.start);
                }
                self.added(start, found);
                last = start + found.stop;
            }
            self.matches[0] = matches;
        }
        if last < stop {
            self.raw_stretch(last, stop);
        }
        if self.queue.room() == 0 {
            self.flush(data);
        }
        self.queue.end_of_text();
    }

    fn added(&mut self, base: usize, found: &Match) {
        if self.queue.room() == 0 {
            self.flush(self.data);
        }
        self.queue.added(found.id, base + found.start, found.stop - found.start);
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
        let mut normalized = std::mem::take(&mut self.normalized);
        normalized.clear();
        let same = !normal::nfc(self.table, &self.data[start..stop], &mut normalized);
        if same {
            self.stretch(self.data, start, stop);
        } else if TRACE {
            let number = self.out.stops.len() + self.texts.len() - self.text - 1;
            if self.out.left.last() != Some(&number) {
                self.out.left.push(number);
            }
        } else {
            self.flush(self.data);
            let data = normalized.as_slice();
            self.stretch(data, 0, data.len());
            self.flush(data);
        }
        self.normalized = normalized;
    }

    /// Normalized text, which may hold added tokens.
    fn stretch(&mut self, data: &[u8], start: usize, stop: usize) {
        let Some(matcher) = &self.tokenizer.in_normalized else { return self.pieces(data, start, stop) };
        let mut last = start;
        let mut matches = std::mem::take(&mut self.matches[1]);
        matcher.find(self.table, &data[start..stop], &mut matches);
        for found in &matches {
            if last < start + found.start {
                self.pieces(data, last, start + found.start);
            }
            if self.queue.room() == 0 {
                self.flush(data);
            }
            self.queue.added(found.id, start + found.start, found.stop - found.start);
            last = start + found.stop;
        }
        self.matches[1] = matches;
        if last < stop {
            self.pieces(data, last, stop);
        }
    }

    /// Text without added tokens, cut by the grammar.
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
            if self.queue.room() < count {
                self.flush(data);
            }
            self.queue.pieces(&self.cache, data, start, &starts[..=count]);
            if splitter.done() {
                return;
            }
            starts[0] = starts[count];
            open = 1;
        }
    }

    /// Turn the events that wait into tokens.
    fn flush(&mut self, data: &[u8]) {
        let queue = std::mem::take(&mut self.queue);
        self.reserve(0);
        for event in queue.events() {
            let line = event.line as usize & (self.cache.lines().len() - 1);
            let [first, second] = &self.cache.lines()[line].0;
            let in_second = second.key == event.key;
            let entry = if in_second { second } else { first };
            let count = (entry.lanes[0] >> 24) as usize;
            if (in_second || first.key == event.key) && count != 0 {
                let entry = *entry;
                self.emit(event, &entry, count);
            } else {
                self.rare(data, event);
            }
        }
        self.queue = queue;
        self.queue.clear();
    }

    /// Room for the tokens of a whole queue out of the cache, and `more`.
    fn reserve(&mut self, more: usize) {
        let more = more + 4 * CAPACITY + 4;
        self.out.ids.reserve(more);
        if TRACE {
            self.out.starts.reserve(more);
            self.out.ends.reserve(more);
            self.out.words.reserve(more);
        }
    }

    /// The tokens of an entry: all four lanes are written, as many as there are count.
    #[inline(always)]
    fn emit(&mut self, event: &Event, entry: &Entry, count: usize) {
        let len = self.out.ids.len();
        debug_assert!(len + 4 <= self.out.ids.capacity());
        // SAFETY: `reserve` made room for four tokens for each event that is left
        unsafe {
            let to = self.out.ids.as_mut_ptr().add(len).cast::<[u32; 4]>();
            to.write_unaligned(entry.lanes.map(|lane| lane & ID_MASK));
            self.out.ids.set_len(len + count);
        }
        if !TRACE {
            return;
        }
        let at = (event.start as usize - self.texts[self.text].0) as u32;
        let [_, second, third, fourth] = entry.lanes.map(|lane| at + (lane >> 24));
        let end = at + event.len;
        // SAFETY: as above; count is at most 4
        unsafe {
            let to = self.out.starts.as_mut_ptr().add(len).cast::<[u32; 4]>();
            to.write_unaligned([at, second, third, fourth]);
            self.out.starts.set_len(len + count);
            let to = self.out.ends.as_mut_ptr().add(len).cast::<[u32; 4]>();
            to.write_unaligned([second, third, fourth, end]);
            self.out.ends.as_mut_ptr().add(len + count - 1).write(end);
            self.out.ends.set_len(len + count);
            let to = self.out.words.as_mut_ptr().add(len).cast::<[u32; 4]>();
            to.write_unaligned([self.word; 4]);
            self.out.words.set_len(len + count);
        }
        self.word += 1;
    }

    /// What the first look at the cache does not answer.
    #[inline(never)]
    fn rare(&mut self, data: &[u8], event: &Event) {
        match event.key[1] & 0xff << 56 {
            END => self.finish_text(),
            ADDED => {
                self.append(event, &[Token { id: event.line, start: 0 }]);
            }
            LONG => self.long(data, event),
            _ => self.short(data, event),
        }
    }

    fn short(&mut self, data: &[u8], event: &Event) {
        debug_assert!(event.len as usize <= LONGEST_KEY);
        if let Some(&entry) = self.cache.find(event.key) {
            let count = (entry.lanes[0] >> 24) as usize;
            if count > 0 {
                return self.emit(event, &entry, count);
            }
            let mut tokens = std::mem::take(&mut self.tokens);
            tokens.clear();
            tokens.extend_from_slice(self.cache.spilled(&entry));
            self.append(event, &tokens);
            self.tokens = tokens;
            return;
        }
        let mut tokens = std::mem::take(&mut self.tokens);
        let piece = &data[event.start as usize..][..event.len as usize];
        self.tokenizer.model.tokenize(piece, &mut self.scratch, &mut tokens);
        self.cache.insert(event.key, &tokens);
        self.append(event, &tokens);
        self.tokens = tokens;
    }

    fn long(&mut self, data: &[u8], event: &Event) {
        let piece = &data[event.start as usize..][..event.len as usize];
        let mut tokens = std::mem::take(&mut self.tokens);
        tokens.clear();
        if let Some(known) = self.cache.find_long(piece) {
            tokens.extend_from_slice(known);
        } else {
            self.tokenizer.model.tokenize(piece, &mut self.scratch, &mut tokens);
            self.cache.insert_long(piece, &tokens);
        }
        self.append(event, &tokens);
        self.tokens = tokens;
    }

    fn append(&mut self, event: &Event, tokens: &[Token]) {
        self.reserve(tokens.len());
        self.out.ids.extend(tokens.iter().map(|token| token.id));
        if TRACE {
            let at = (event.start as usize - self.texts[self.text].0) as u32;
            let ends = tokens.iter().skip(1).map(|token| at + token.start);
            self.out.starts.extend(tokens.iter().map(|token| at + token.start));
            self.out.ends.extend(ends.chain([at + event.len]));
            self.out.words.extend(std::iter::repeat(self.word).take(tokens.len()));
            self.word += 1;
        }
    }

    fn finish_text(&mut self) {
        let first = self.out.stops.last().copied().unwrap_or(0);
        if TRACE {
            let (start, stop) = self.texts[self.text];
            let text = &self.data[start..stop];
            if self.out.left.binary_search(&self.out.stops.len()).is_ok() {
                for column in
                    [&mut self.out.ids, &mut self.out.starts, &mut self.out.ends, &mut self.out.words]
                {
                    column.truncate(first);
                }
            } else if !text.is_ascii() {
                to_characters(text, &mut self.out.starts[first..], &mut self.out.ends[first..]);
            }
            self.word = 0;
        }
        self.out.stops.push(self.out.ids.len());
        self.text += 1;
        if self.text == self.texts.len() {
            self.texts.clear();
            self.text = 0;
        }
    }

    /// The tokens of the texts since the last time.
    pub fn take(&mut self) -> Tokens {
        self.flush(self.data);
        std::mem::take(&mut self.out)
    }

    /// Give the cache back to the model, where the next call starts with it.
    pub fn finish(self) {
        self.tokenizer.model.return_cache(self.cache);
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
