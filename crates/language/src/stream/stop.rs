//! Stop strings, all of them looked for at once.

use crate::{Error, Result};

/// An automaton after Aho and Corasick (1975): a state is the longest end of the text that begins a stop string. Its
/// length is what has to be held back, no byte more.
#[derive(Debug)]
pub(super) struct StopStrings {
    states: Vec<State>,
    /// Of all states, each state's in a row, ascending by byte.
    edges: Vec<(u8, u32)>,
    lengths: Vec<usize>,
}

#[derive(Debug, Clone, Default)]
struct State {
    edges: std::ops::Range<u32>,
    /// The state of the longest proper end that begins a stop string too.
    shorter: u32,
    depth: u32,
    /// The longest stop string that ends here.
    found: Option<u32>,
}

/// Where matching begins.
pub(super) const START: u32 = 0;

/// All stop strings together, in bytes: room for any list written by hand, and a bound for those that are not.
const MAX_BYTES: usize = 1 << 20;

impl StopStrings {
    /// # Errors
    /// [`Error::Options`] if one is empty, or all together have more than 1 MiB.
    pub(super) fn new(stops: &[String]) -> Result<Self> {
        if let Some(at) = stops.iter().position(String::is_empty) {
            return Err(Error::Options(format!(
                "the stop string number {at} is empty: it would end every text"
            )));
        }
        let bytes: usize = stops.iter().map(String::len).sum();
        if bytes > MAX_BYTES {
            return Err(Error::Options(format!(
                "the stop strings have {bytes} bytes: up to {MAX_BYTES} are possible, all together"
            )));
        }
        let trie = Trie::new(stops);
        Ok(trie.into_automaton(stops.iter().map(String::len).collect()))
    }

    /// Bytes of the longest one.
    pub(super) fn longest(&self) -> usize {
        self.lengths.iter().copied().max().unwrap_or(0)
    }

    /// Bytes of one.
    pub(super) fn length(&self, stop: usize) -> usize {
        self.lengths[stop]
    }

    /// The state after one more byte.
    pub(super) fn step(&self, mut state: u32, byte: u8) -> u32 {
        loop {
            let here = &self.states[state as usize];
            let edges = &self.edges[here.edges.start as usize..here.edges.end as usize];
            if let Ok(at) = edges.binary_search_by_key(&byte, |edge| edge.0) {
                return edges[at].1;
            }
            if state == START {
                return START;
            }
            state = here.shorter;
        }
    }

    /// Bytes at the end of the text that may yet become a stop string.
    pub(super) fn held(&self, state: u32) -> usize {
        self.states[state as usize].depth as usize
    }

    /// The stop string that has just been completed, the longest if there are several.
    pub(super) fn found(&self, state: u32) -> Option<usize> {
        self.states[state as usize].found.map(|stop| stop as usize)
    }
}

/// The automaton while it is built.
struct Trie {
    children: Vec<Vec<(u8, u32)>>,
    states: Vec<State>,
}

impl Trie {
    fn new(stops: &[String]) -> Self {
        let mut trie = Self { children: vec![Vec::new()], states: vec![State::default()] };
        for (stop, text) in stops.iter().enumerate() {
            let last = text.bytes().fold(START, |state, byte| trie.child(state, byte));
            trie.states[last as usize].found.get_or_insert(stop as u32);
        }
        trie
    }

    fn child(&mut self, state: u32, byte: u8) -> u32 {
        let next = self.states.len() as u32;
        let children = &mut self.children[state as usize];
        match children.binary_search_by_key(&byte, |child| child.0) {
            Ok(at) => children[at].1,
            Err(at) => {
                children.insert(at, (byte, next));
                let depth = self.states[state as usize].depth + 1;
                self.children.push(Vec::new());
                self.states.push(State { depth, ..State::default() });
                next
            }
        }
    }

    fn into_automaton(self, lengths: Vec<usize>) -> StopStrings {
        let Self { children, states } = self;
        let mut automaton = StopStrings { states, edges: Vec::new(), lengths };
        for (state, children) in automaton.states.iter_mut().zip(&children) {
            let start = automaton.edges.len() as u32;
            automaton.edges.extend(children);
            state.edges = start..automaton.edges.len() as u32;
        }
        // Breadth first: the shorter ends are ready before the longer ones ask for them.
        let mut queue: std::collections::VecDeque<u32> = [START].into();
        while let Some(state) = queue.pop_front() {
            for &(byte, child) in &children[state as usize] {
                let shorter = automaton.states[state as usize].shorter;
                let shorter = if state == START { START } else { automaton.step(shorter, byte) };
                let found = automaton.states[shorter as usize].found;
                let child_state = &mut automaton.states[child as usize];
                child_state.shorter = shorter;
                child_state.found = child_state.found.or(found);
                queue.push_back(child);
            }
        }
        automaton
    }
}
