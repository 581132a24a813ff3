//! Patterns that no splitter was written for, as programs.
//!
//! Characters come as classes ("atoms") such that no set of the pattern has some of a class and
//! not the rest; up to 64 of them, so that a set is a mask. The caller parses the pattern, and
//! asks the reference engine for the sets: what is left here is what alternatives, repetitions
//! and looks mean, by backtracking, leftmost first, as the reference's own engine does.

/// One step. Places are numbers of steps.
#[derive(Clone, Copy, Debug)]
enum Step {
    Set(u64),
    /// As many as there are, from `least` to `most`; fewer when what follows fails, unless `keeps`.
    Run {
        set: u64,
        least: usize,
        most: usize,
        keeps: bool,
    },
    /// Go on; when that fails, from the place.
    Fork(usize),
    Jump(usize),
    /// Whether the steps up to `Done` match ahead, without moving; then from the place.
    Look {
        wanted: bool,
        then: usize,
    },
    /// The steps up to `Done` once, whatever follows; then from the place.
    Atomic {
        then: usize,
    },
    /// Whether one of the set is behind, with `further` characters between.
    Behind {
        set: u64,
        further: usize,
        wanted: bool,
    },
    /// The end, or before one of the set.
    End(u64),
    Done,
}

/// A pattern: its alternatives in order, each with the atoms that it may begin with.
pub struct Program {
    alternatives: Vec<(usize, u64)>,
    steps: Vec<Step>,
}

/// What a match needs; kept between calls.
#[derive(Default)]
pub struct Effort {
    stack: Vec<Choice>,
    /// how many more steps are allowed: patterns can be made that take exponential time
    pub left: usize,
}

/// Where to go on after a failure: from step `to` at `at`, and then at each place before, down to `lowest`.
struct Choice {
    to: usize,
    at: usize,
    lowest: usize,
}

const DEEPEST: usize = 16; // looks inside of looks
const ANYWHERE: u64 = u64::MAX; // as the atoms that a match begins with: also with none

#[inline(always)]
fn has(set: u64, atom: u8) -> bool {
    set >> (atom & 63) & 1 != 0
}

impl Program {
    /// words: (place of its first step, atoms it may begin with) for each alternative, then three words a step
    pub fn read(alternatives: &[u64], steps: &[u64]) -> Option<Program> {
        let count = steps.len() / 3;
        let place = |word: u64| usize::try_from(word).ok().filter(|&place| place < count);
        let alternatives = alternatives.chunks_exact(2).map(|pair| Some((place(pair[0])?, pair[1])));
        let steps = steps.chunks_exact(3).map(|words| {
            let &[head, a, b] = words else { return None };
            let number = |word: u64| usize::try_from(word).unwrap_or(usize::MAX);
            Some(match head & 0xff {
                0 => Step::Set(a),
                1 => Step::Run {
                    set: a,
                    least: number(head >> 32),
                    most: number(b),
                    keeps: head >> 8 & 1 != 0,
                },
                2 => Step::Fork(place(a)?),
                3 => Step::Jump(place(a)?),
                4 => Step::Look { wanted: b != 0, then: place(a)? },
                5 => Step::Atomic { then: place(a)? },
                6 => Step::Behind { set: a, further: number(head >> 32), wanted: b != 0 },
                7 => Step::End(a),
                8 => Step::Done,
                _ => return None,
            })
        });
        let steps: Vec<Step> = steps.collect::<Option<_>>()?;
        matches!(steps.last(), Some(Step::Done | Step::Jump(_)))
            .then_some(Program { alternatives: alternatives.collect::<Option<_>>()?, steps })
    }

    /// Whether a match may be empty, and so stand behind the last character.
    pub fn may_be_empty(&self) -> bool {
        self.alternatives.iter().any(|&(_, begins)| begins == ANYWHERE)
    }

    /// Where the match that begins at `at` ends, if one does.
    pub fn match_at(&self, text: &[u8], at: usize, effort: &mut Effort) -> Option<usize> {
        let possible = self.alternatives.iter().filter(|(_, begins)| match text.get(at) {
            Some(&first) => has(*begins, first),
            None => *begins == ANYWHERE,
        });
        possible.filter_map(|&(step, _)| self.run(step, text, at, effort, 0)).next()
    }

    fn run(&self, step: usize, text: &[u8], at: usize, effort: &mut Effort, depth: usize) -> Option<usize> {
        let base = effort.stack.len();
        let end = self.search(step, text, at, effort, depth);
        effort.stack.truncate(base);
        end
    }

    fn search(
        &self,
        mut step: usize,
        text: &[u8],
        mut at: usize,
        effort: &mut Effort,
        depth: usize,
    ) -> Option<usize> {
        let base = effort.stack.len();
        loop {
            if effort.left == 0 || depth > DEEPEST {
                effort.left = 0;
                return None;
            }
            effort.left -= 1;
            let goes_on = match self.steps[step] {
                Step::Set(set) => {
                    let found = text.get(at).is_some_and(|&atom| has(set, atom));
                    at += 1;
                    found
                }
                Step::Run { set, least, most, keeps } => {
                    let within = &text[at..at + most.min(text.len() - at)];
                    let count = within.iter().position(|&atom| !has(set, atom)).unwrap_or(within.len());
                    effort.left = effort.left.saturating_sub(count / 8);
                    if !keeps && count > least {
                        effort.stack.push(Choice { to: step + 1, at: at + count - 1, lowest: at + least });
                    }
                    at += count;
                    count >= least
                }
                Step::Fork(other) => {
                    effort.stack.push(Choice { to: other, at, lowest: at });
                    true
                }
                Step::Jump(to) => {
                    step = to;
                    continue;
                }
                Step::Look { wanted, then } => {
                    if self.run(step + 1, text, at, effort, depth + 1).is_some() == wanted {
                        step = then;
                        continue;
                    }
                    false
                }
                Step::Atomic { then } => {
                    if let Some(end) = self.run(step + 1, text, at, effort, depth + 1) {
                        (step, at) = (then, end);
                        continue;
                    }
                    false
                }
                Step::Behind { set, further, wanted } => {
                    (at > further && has(set, text[at - further - 1])) == wanted
                }
                Step::End(set) => text.get(at).map_or(true, |&atom| has(set, atom)),
                Step::Done => return Some(at),
            };
            if goes_on {
                step += 1;
                continue;
            }
            if effort.stack.len() == base {
                return None;
            }
            let choice = effort.stack.last_mut()?;
            (step, at) = (choice.to, choice.at);
            if choice.at > choice.lowest {
                choice.at -= 1;
            } else {
                effort.stack.pop();
            }
        }
    }
}
