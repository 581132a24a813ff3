//! Byte strings to numbers, walked byte by byte.

/// A double-array trie: the child of node n by a byte is base[n] ^ byte, if that names n as its parent.
///
/// Source: Aoe (1989).
pub struct Trie {
    nodes: Vec<Node>,
}

#[derive(Clone, Copy)]
struct Node {
    base: u32,
    parent: u32,
    value: u32,
}

pub const ROOT: u32 = 0;
/// The value of a node that ends no string.
pub const NONE: u32 = u32::MAX;
const FREE: Node = Node { base: 0, parent: NONE, value: NONE };

impl Trie {
    /// Of strings, none of them empty, with a value each; of equal ones the last counts.
    pub fn new(strings: &[(Vec<u8>, u32)]) -> Self {
        let mut order: Vec<u32> = (0..strings.len() as u32).collect();
        order.sort_by(|&a, &b| strings[a as usize].0.cmp(&strings[b as usize].0));
        let mut trie = Trie { nodes: vec![FREE; 256] };
        trie.nodes[ROOT as usize].parent = ROOT;
        let mut first_free = 1;
        let mut open = vec![(ROOT, 0usize, order.len(), 0usize)]; // node, strings below it, bytes so far
        let mut children = Vec::new();
        while let Some((node, mut first, stop, depth)) = open.pop() {
            let text = |at: usize| &strings[order[at] as usize];
            while first < stop && text(first).0.len() == depth {
                trie.nodes[node as usize].value = text(first).1;
                first += 1;
            }
            children.clear();
            while first < stop {
                let byte = text(first).0[depth];
                let next = (first..stop).find(|&at| text(at).0[depth] != byte).unwrap_or(stop);
                children.push((byte, first, next));
                first = next;
            }
            if children.is_empty() {
                continue;
            }
            let base = trie.base_for(&children, &mut first_free);
            trie.nodes[node as usize].base = base;
            for &(byte, first, stop) in &children {
                let child = base ^ byte as u32;
                trie.nodes[child as usize].parent = node;
                open.push((child, first, stop, depth + 1));
            }
        }
        trie
    }

    /// A base whose places for all children are free. first_free: nothing before it is
    fn base_for(&mut self, children: &[(u8, usize, usize)], first_free: &mut usize) -> u32 {
        while self.nodes.get(*first_free).is_some_and(|node| node.parent != NONE) {
            *first_free += 1;
        }
        let first = children[0].0 as u32;
        let mut tried = 0;
        for at in *first_free..self.nodes.len() {
            if self.nodes[at].parent != NONE {
                continue;
            }
            let base = at as u32 ^ first;
            if children.iter().all(|child| self.nodes[(base ^ child.0 as u32) as usize].parent == NONE) {
                return base;
            }
            tried += 1;
            if tried == MOST_TRIED {
                // what is full of holes too small for most is not looked at again
                *first_free = at.max(*first_free + MOST_TRIED / 2).min(self.nodes.len());
                break;
            }
        }
        let base = self.nodes.len() as u32;
        self.nodes.resize(self.nodes.len() + 256, FREE);
        base
    }

    /// From a node on by a byte.
    #[inline(always)]
    pub fn next(&self, node: u32, byte: u8) -> Option<u32> {
        let child = self.nodes[node as usize].base ^ byte as u32;
        // blocks of 256 are there whole, so the place is
        (self.nodes[child as usize].parent == node && child != ROOT).then_some(child)
    }

    /// The value of a node, or NONE.
    #[inline(always)]
    pub fn value(&self, node: u32) -> u32 {
        self.nodes[node as usize].value
    }

    pub fn find(&self, text: &[u8]) -> Option<u32> {
        let node = text.iter().try_fold(ROOT, |node, &byte| self.next(node, byte))?;
        Some(self.value(node)).filter(|&value| value != NONE)
    }
}

/// So many free places are tried before new ones are made.
const MOST_TRIED: usize = 200;

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
        for letters in [2, 4, 255] {
            let strings: Vec<(Vec<u8>, u32)> = (0..3000)
                .map(|value| ((0..1 + random(8)).map(|_| random(letters) as u8).collect(), value))
                .collect();
            let trie = Trie::new(&strings);
            let known: std::collections::HashMap<_, _> = strings.iter().cloned().collect();
            for (text, value) in &known {
                assert_eq!(trie.find(text), Some(*value));
            }
            for _ in 0..3000 {
                let text: Vec<u8> = (0..random(8)).map(|_| random(letters) as u8).collect();
                assert_eq!(trie.find(&text), known.get(&text).copied());
            }
        }
        assert_eq!(Trie::new(&[]).find(b"a"), None);
    }
}
