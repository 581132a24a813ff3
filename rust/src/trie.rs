//! Byte strings to numbers, walked byte by byte.

/// A double-array trie: the child of a node by a byte is at base ^ byte, if what is there has the byte as its label.
///
/// No two nodes have the same base, so a label says the parent too. What only one string goes
/// on with is no row of nodes but a text, its tail. Sources: Aoe (1989); Yata's darts-clone.
pub struct Trie {
    nodes: Vec<Node>,
    /// each behind a byte with its length
    tails: Vec<u8>,
}

/// label: 9 bits, FREE where there is no node. value: 24 bits. Whether it is a leaf. Base, or of a leaf its tail: 30 bits
#[derive(Clone, Copy)]
struct Node(u64);

/// The value of a node that ends no string.
pub const NONE: u32 = (1 << 24) - 1;
const ROOT: usize = 0;
const FREE: u64 = 1 << 8;
const LEAF: u64 = 1 << 33;
const LONGEST_TAIL: usize = u8::MAX as usize;
/// Of all strings together.
const MOST_BYTES: usize = 1 << 28;

impl Node {
    fn new(label: u64, value: u32, more: u64) -> Self {
        Node(label | (value as u64) << 9 | more)
    }

    #[inline(always)]
    fn has_label(self, byte: u8) -> bool {
        self.0 & 0x1ff == byte as u64
    }

    #[inline(always)]
    fn value(self) -> u32 {
        (self.0 >> 9) as u32 & NONE
    }

    /// The base, or of a leaf the place of its tail.
    #[inline(always)]
    fn leads_to(self) -> usize {
        (self.0 >> 34) as usize
    }
}

impl Trie {
    /// Of strings, none of them empty, with a value below NONE each; of equal ones the last counts.
    ///
    /// None where they are too many or too long. 250,000 take 70 ms, a quarter of that for their order.
    pub fn new(strings: &[(&[u8], u32)]) -> Option<Self> {
        let bytes: usize = strings.iter().map(|string| string.0.len()).sum();
        if bytes >= MOST_BYTES || strings.iter().any(|string| string.1 >= NONE) {
            return None;
        }
        let mut texts: Vec<Text> =
            strings.iter().zip(0..).map(|((text, _), at)| Text::new(text, at)).collect();
        // by numbers alone first, which is done without branches
        texts.sort_unstable_by_key(|text| text.head);
        for same in texts.chunk_by_mut(|a, b| a.head == b.head).filter(|same| same.len() > 1) {
            same.sort_unstable_by_key(|text| (strings[text.at as usize].0, text.at));
        }
        Some(Builder::default().build(strings, &texts))
    }

    /// Call `found` with the length and the value of each string that `text` begins with, the shortest first.
    #[inline(always)]
    pub fn each_start(&self, text: &[u8], mut found: impl FnMut(usize, u32)) {
        let mut node = self.nodes[ROOT];
        for (&byte, length) in text.iter().zip(1..) {
            // blocks of 256 are there whole, so the place is
            node = self.nodes[node.leads_to() ^ byte as usize];
            if !node.has_label(byte) {
                return;
            }
            if node.0 & LEAF != 0 {
                let tail = self.tail(node);
                if text[length..].starts_with(tail) {
                    found(length + tail.len(), node.value());
                }
                return;
            }
            if node.value() != NONE {
                found(length, node.value());
            }
        }
    }

    #[inline(always)]
    fn tail(&self, node: Node) -> &[u8] {
        let start = node.leads_to() + 1;
        &self.tails[start..start + self.tails[start - 1] as usize]
    }

    pub fn find(&self, text: &[u8]) -> Option<u32> {
        let mut whole = None;
        self.each_start(text, |length, value| whole = (length == text.len()).then_some(value));
        whole
    }
}

/// A string by its number, with what most is asked for at hand: its length, and its first 8 bytes as a number.
struct Text {
    head: u64,
    at: u32,
    len: u32,
}

impl Text {
    fn new(text: &[u8], at: u32) -> Self {
        let mut head = [0; 8];
        let len = text.len().min(8);
        head[..len].copy_from_slice(&text[..len]);
        Text { head: u64::from_be_bytes(head), at, len: text.len() as u32 }
    }

    fn text<'a>(&self, strings: &[(&'a [u8], u32)]) -> &'a [u8] {
        strings[self.at as usize].0
    }

    fn value(&self, strings: &[(&[u8], u32)]) -> u32 {
        strings[self.at as usize].1
    }

    #[inline]
    fn is_equal(&self, other: &Text, strings: &[(&[u8], u32)]) -> bool {
        self.head == other.head && self.len == other.len && self.text(strings) == other.text(strings)
    }

    #[inline]
    fn byte(&self, depth: usize, strings: &[(&[u8], u32)]) -> u8 {
        if depth < 8 {
            (self.head >> (56 - 8 * depth)) as u8
        } else {
            self.text(strings)[depth]
        }
    }
}

/// 256 bits: a set of places in a block.
#[derive(Clone, Copy)]
struct Places([u64; 4]);

impl Places {
    const ALL: Places = Places([u64::MAX; 4]);

    fn both(self, other: Places) -> Places {
        Places(std::array::from_fn(|i| self.0[i] & other.0[i]))
    }

    /// Of each place p the place p ^ byte.
    fn moved(self, byte: u8) -> Places {
        const LOW: [u64; 6] = [
            0x5555_5555_5555_5555,
            0x3333_3333_3333_3333,
            0x0f0f_0f0f_0f0f_0f0f,
            0x00ff_00ff_00ff_00ff,
            0x0000_ffff_0000_ffff,
            0x0000_0000_ffff_ffff,
        ];
        let mut words: [u64; 4] = std::array::from_fn(|i| self.0[i ^ (byte >> 6) as usize]);
        for (bit, low) in LOW.iter().enumerate() {
            let wanted = ((byte >> bit & 1) as u64).wrapping_neg(); // a branch would be guessed wrong half the time
            for word in &mut words {
                let swapped = (*word & low) << (1 << bit) | *word >> (1 << bit) & low;
                *word ^= (*word ^ swapped) & wanted;
            }
        }
        Places(words)
    }

    fn first(self) -> Option<usize> {
        let word = self.0.iter().position(|&word| word != 0)?;
        Some(word * 64 + self.0[word].trailing_zeros() as usize)
    }

    fn has(self, place: usize) -> bool {
        self.0[place / 64] >> (place % 64) & 1 != 0
    }

    fn take(&mut self, place: usize) {
        self.0[place / 64] &= !(1 << (place % 64));
    }
}

/// 256 places of nodes. nodes: which are free; bases: which are no node's base
struct Block {
    nodes: Places,
    bases: Places,
}

/// So many blocks are tried for several children before a new one is made.
const TRIED: usize = 8;

#[derive(Default)]
struct Builder {
    nodes: Vec<Node>,
    tails: Vec<u8>,
    blocks: Vec<Block>,
    /// blocks before it are as good as full
    first_open: usize,
}

impl Builder {
    fn build(mut self, strings: &[(&[u8], u32)], texts: &[Text]) -> Trie {
        self.add_block();
        self.blocks[0].nodes.take(ROOT);
        self.tails.push(0); // the empty tail
        let mut open = vec![(ROOT, FREE, texts, 0)]; // node, its label, the strings below it, bytes so far
        let mut children = Vec::new();
        while let Some((node, label, mut below, depth)) = open.pop() {
            let mut value = NONE;
            while let Some((first, rest)) =
                below.split_first().filter(|(first, _)| first.len as usize == depth)
            {
                (value, below) = (first.value(strings), rest);
            }
            if let Some(leaf) = self.leaf(strings, below, value, label, depth) {
                self.nodes[node] = leaf;
                continue;
            }
            children.clear();
            while let Some(first) = below.first() {
                let byte = first.byte(depth, strings);
                let stop =
                    below.iter().position(|text| text.byte(depth, strings) != byte).unwrap_or(below.len());
                children.push((byte, &below[..stop]));
                below = &below[stop..];
            }
            let base = self.base_for(&children);
            self.nodes[node] = Node::new(label, value, (base as u64) << 34);
            open.extend(
                children.iter().map(|&(byte, below)| (base ^ byte as usize, byte as u64, below, depth + 1)),
            );
        }
        self.nodes.shrink_to_fit();
        Trie { nodes: self.nodes, tails: self.tails }
    }

    /// A node that no more than one string goes on from, and that ends none of others; never the root.
    fn leaf(
        &mut self,
        strings: &[(&[u8], u32)],
        below: &[Text],
        value: u32,
        label: u64,
        depth: usize,
    ) -> Option<Node> {
        let (value, tail) = match below {
            [] => (value, &[][..]),
            // equal strings lie side by side, and the last counts
            [first, .., last] if value == NONE && first.is_equal(last, strings) => {
                (last.value(strings), &last.text(strings)[depth..])
            }
            [text] if value == NONE => (text.value(strings), &text.text(strings)[depth..]),
            _ => return None,
        };
        if label == FREE || tail.len() > LONGEST_TAIL {
            return None;
        }
        let place = if tail.is_empty() { 0 } else { self.tails.len() };
        if !tail.is_empty() {
            self.tails.push(tail.len() as u8);
            self.tails.extend_from_slice(tail);
        }
        Some(Node::new(label, value, LEAF | (place as u64) << 34))
    }

    /// A base whose places for all children are free; they are taken.
    fn base_for(&mut self, children: &[(u8, &[Text])]) -> usize {
        let (block, base) = self.fitting_block(children).unwrap_or_else(|| {
            self.add_block();
            (self.blocks.len() - 1, 0)
        });
        self.blocks[block].bases.take(base);
        for child in children {
            self.blocks[block].nodes.take(base ^ child.0 as usize);
        }
        block * 256 + base
    }

    /// A block and a base in it. A single child fits nearly everywhere, and fills what others leave.
    fn fitting_block(&mut self, children: &[(u8, &[Text])]) -> Option<(usize, usize)> {
        let mut block = self.first_open;
        if children.len() > 1 {
            block = block.max(self.blocks.len().saturating_sub(TRIED));
        }
        while block < self.blocks.len() {
            if let Some(base) = self.fitting(block, children) {
                return Some((block, base));
            }
            block += 1;
            if children.len() == 1 {
                self.first_open = block; // what is left in those before is not worth a look
            }
        }
        None
    }

    fn fitting(&self, block: usize, children: &[(u8, &[Text])]) -> Option<usize> {
        let Block { nodes, bases } = &self.blocks[block];
        if let ([(byte, _)], Some(first)) = (children, nodes.first()) {
            let base = first ^ *byte as usize;
            if bases.has(base) {
                return Some(base);
            }
        }
        let mut fitting = *bases;
        for child in children {
            fitting = fitting.both(nodes.moved(child.0));
            fitting.first()?;
        }
        fitting.first()
    }

    fn add_block(&mut self) {
        self.blocks.push(Block { nodes: Places::ALL, bases: Places::ALL });
        self.nodes.resize(self.nodes.len() + 256, Node(FREE));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_put_in_and_nothing_else() {
        let mut seed = 7u32;
        let mut random = |n: u32| {
            seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
            (seed >> 16) % n
        };
        for (letters, longest) in [(2, 8), (4, 8), (255, 8), (256, 3), (2, 700)] {
            let strings: Vec<(Vec<u8>, u32)> = (0..3000)
                .map(|value| ((0..1 + random(longest)).map(|_| random(letters) as u8).collect(), value))
                .collect();
            let known: std::collections::HashMap<_, _> = strings.iter().cloned().collect();
            let strings: Vec<(&[u8], u32)> =
                strings.iter().map(|(text, value)| (&text[..], *value)).collect();
            let trie = Trie::new(&strings).unwrap();
            for (text, value) in &known {
                assert_eq!(trie.find(text), Some(*value));
                assert_eq!(trie.find(&text[1..]), known.get(&text[1..]).copied());
            }
            for _ in 0..3000 {
                let text: Vec<u8> = (0..random(longest + 2)).map(|_| random(letters) as u8).collect();
                let mut found = Vec::new();
                trie.each_start(&text, |length, value| found.push((length, value)));
                let starts = (1..=text.len()).filter_map(|n| known.get(&text[..n]).map(|&value| (n, value)));
                assert_eq!(found, starts.collect::<Vec<_>>());
            }
        }
        assert_eq!(Trie::new(&[]).unwrap().find(b"a"), None);
        assert!(Trie::new(&[(b"a", NONE)]).is_none());
    }

    #[test]
    fn places_move_one_by_one() {
        let mut places = Places([0; 4]);
        for place in [0usize, 1, 63, 64, 130, 255] {
            places.0[place / 64] |= 1 << (place % 64);
        }
        for byte in 0..=255u8 {
            for place in 0..256 {
                let from = place ^ byte as usize;
                assert_eq!(
                    places.moved(byte).0[place / 64] >> (place % 64) & 1,
                    places.0[from / 64] >> (from % 64) & 1
                );
            }
        }
    }
}
