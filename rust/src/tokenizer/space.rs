//! What a thread works with, kept between calls.

use crate::added::Match;
use crate::cache::{Cache, Key, Placed};
use crate::merge::{Scratch, Token};
use crate::models::Bench;
use crate::queue::Queue;
use crate::split::Pieces;
use crate::steps::Spare;
use crate::tokens::Tokens;

/// The cache, and room that is there already.
pub struct Space {
    pub(super) cache: Cache,
    pub(super) queue: Queue,
    pub(super) scratch: Scratch,
    pub(super) bench: Bench,
    pub(super) unknown: Vec<Key>,
    pub(super) tokens: Vec<Token>,
    pub(super) placed: Vec<Placed>,
    pub(super) matches: [Vec<Match>; 2],
    pub(super) starts: Vec<u32>,           // of pieces that are not queued yet
    pub(super) texts: Vec<(usize, usize)>, // whose end has not left the queue; the first is the current one
    pub(super) spare: Spare,
    pub(super) layered: Pieces,
    pub(super) out: Tokens,
}

impl Space {
    pub fn new(cache_limit: usize) -> Self {
        Space::over(Cache::new(cache_limit))
    }

    /// Another one, which knows what this one does: 4 MB are copied in the time in which 100 KB of new text are learnt.
    pub fn with_a_copy(&self) -> Self {
        Space::over(self.cache.clone())
    }

    fn over(cache: Cache) -> Self {
        Space {
            cache,
            queue: Queue::new(),
            scratch: Scratch::default(),
            bench: Bench::default(),
            unknown: Vec::new(),
            tokens: Vec::new(),
            placed: Vec::new(),
            matches: Default::default(),
            starts: Vec::new(),
            texts: Vec::new(),
            spare: Spare::default(),
            layered: Pieces::default(),
            out: Tokens::default(),
        }
    }
}
