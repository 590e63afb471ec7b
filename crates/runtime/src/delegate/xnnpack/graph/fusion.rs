//! What XNNPACK makes of a graph before it runs it, as far as that can go wrong.
//!
//! It replaces chains of elementwise nodes from one 8-bit value to another by a table of 256 results, computed by a small
//! graph of its own. Room for that graph is on the stack, for ten nodes; with all ten taken, XNNPACK tries to grow it as if it
//! were on the heap (`xnn_subgraph_fuse_unary_quantized_into_lut` in `src/subgraph.c`). Also: where an operator can't be made after such a
//! table was, the table is freed twice; and nodes that nothing depends on are removed by recursion.

use super::datatype::Datatype;
use super::structure::{Graph, Links};
use super::values::{Place, Value};
use std::collections::HashSet;

/// Nodes of a chain that XNNPACK has room for.
const CHAIN: usize = 10;
/// Processors without fp16 need conversions around each such node.
const F16_STEPS: usize = 3;
/// What a sum of products can't be multiplied by any more.
const MAX_FACTOR: f32 = 256.0;
/// Nodes that nothing depends on: exporters leave none or a few.
const MAX_UNUSED: usize = 64;

/// Checks what XNNPACK would do to `graph`.
///
/// # Errors
/// One sentence that says what would go wrong.
pub(super) fn check(graph: &Graph) -> Result<(), String> {
    let uses = Uses::new(graph);
    let unused = uses.used.iter().filter(|used| !**used).count();
    if unused > MAX_UNUSED {
        return Err(format!("nothing depends on {unused} of its nodes"));
    }
    if graph.values.iter().any(is_8_bit) {
        check_half(graph)?;
        check_differences(graph)?;
        check_scales(graph)?;
        check_chains(graph, &uses)?;
    }
    Ok(())
}

fn is_8_bit(value: &Value) -> bool {
    !value.is_constant() && matches!(value.datatype, Datatype::QInt8 | Datatype::QUint8)
}

/// XNNPACK refuses ranges that are empty in fp16, which may come about as it joins nodes.
fn check_half(graph: &Graph) -> Result<(), String> {
    let half =
        |links: &Links| links.outputs.iter().any(|&output| graph.values[output].datatype == Datatype::F16);
    let mut nodes = graph.nodes.iter().zip(&graph.links).enumerate();
    match nodes.find(|(_, (node, links))| node.has_range_in_half() && half(links)) {
        Some((index, (node, _))) => {
            Err(format!("node {index} ({}) is of fp16 in a graph of int8", node.kind))
        }
        None => Ok(()),
    }
}

/// XNNPACK knows the result of a value less itself, or by itself, and then leaves out more than it should.
fn check_differences(graph: &Graph) -> Result<(), String> {
    let same = |links: &Links| matches!(links.inputs[..], [first, second] if first == second);
    let mut nodes = graph.nodes.iter().zip(&graph.links).enumerate();
    match nodes.find(|(_, (node, links))| matches!(node.kind, "Subtract" | "Div") && same(links)) {
        Some((index, (node, _))) => Err(format!("node {index} ({}) takes one value twice", node.kind)),
        None => Ok(()),
    }
}

/// Checks that int8 times int8 can be brought to the output's scale. XNNPACK refuses factors of 256 and more. It leaves out nodes that only
/// clamp or move, so that a scale on their other side counts too.
fn check_scales(graph: &Graph) -> Result<(), String> {
    let mut scales: Vec<_> =
        graph.values.iter().map(|value| value.largest_scale().map(|one| (one, one))).collect();
    let moves = || graph.nodes.iter().zip(&graph.links).filter(|(node, _)| node.only_clamps_or_moves());
    let spread = |links: &Links, scales: &mut Vec<Option<(f32, f32)>>| {
        let all = || links.inputs.iter().chain(&links.outputs).copied();
        let both = all().filter_map(|value| scales[value]).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        all().for_each(|value| {
            scales[value] = both.filter(|_| is_8_bit(&graph.values[value])).or(scales[value])
        });
    };
    // Nodes are in order, so that twice in either direction reaches all of a chain.
    moves().for_each(|(_, links)| spread(links, &mut scales));
    moves().rev().for_each(|(_, links)| spread(links, &mut scales));
    moves().for_each(|(_, links)| spread(links, &mut scales));
    for (index, (node, links)) in graph.nodes.iter().zip(&graph.links).enumerate() {
        let ([input, filter, ..], [output]) = (&links.inputs[..], &links.outputs[..]) else { continue };
        if !node.has_weights() || !is_8_bit(&graph.values[*output]) {
            continue;
        }
        let (Some((_, input)), Some((_, filter)), Some((output, _))) =
            (scales[*input], scales[*filter], scales[*output])
        else {
            continue;
        };
        let factor = input * filter / output;
        if factor.is_nan() || factor >= MAX_FACTOR {
            return Err(format!(
                "node {index} ({}) has an input of scale {input}, weights of {filter} and an output of {output}",
                node.kind
            ));
        }
    }
    Ok(())
}

/// Who takes each value, without nodes that no output depends on: XNNPACK removes these first.
struct Uses {
    used: Vec<bool>,
    /// How many nodes; being an output counts as one more.
    count: Vec<usize>,
    first: Vec<Option<usize>>,
}

impl Uses {
    fn new(graph: &Graph) -> Self {
        let is_output = |value: &Value| usize::from(matches!(value.place, Place::Output(_)));
        let mut count: Vec<_> = graph.values.iter().map(is_output).collect();
        let mut first = vec![None; graph.values.len()];
        let mut used = vec![false; graph.nodes.len()];
        for (index, links) in graph.links.iter().enumerate().rev() {
            if links.outputs.iter().all(|&output| count[output] == 0) {
                continue;
            }
            used[index] = true;
            let inputs: HashSet<_> = links.inputs.iter().copied().collect();
            for input in inputs {
                count[input] += 1;
                first[input] = Some(index);
            }
        }
        Self { used, count, first }
    }

    /// The node that alone takes `value`, if it is one.
    fn only(&self, value: usize) -> Option<usize> {
        self.first[value].filter(|_| self.count[value] == 1)
    }
}

/// Goes through the chains as XNNPACK does.
fn check_chains(graph: &Graph, uses: &Uses) -> Result<(), String> {
    let mut replaced = vec![false; graph.nodes.len()];
    for start in 0..graph.nodes.len() {
        let free = uses.used[start] && !replaced[start];
        let Some(input) = free.then(|| varying(graph, start, None)).flatten() else { continue };
        if !is_8_bit(&graph.values[input]) {
            continue;
        }
        let chain = chain(graph, uses, start, &replaced);
        // What is behind the last 8-bit value is left out again.
        let end = chain.iter().rposition(|link| is_8_bit(&graph.values[graph.links[link.node].outputs[0]]));
        let Some(end) = end else { continue };
        let steps = chain[..=end].last().map_or(0, |link| link.steps);
        if steps >= CHAIN {
            return Err(format!(
                "node {start} ({}) begins a chain of {steps} elementwise steps between 8-bit values, XNNPACK has room for {}",
                graph.nodes[start].kind,
                CHAIN - 1
            ));
        }
        if end > 0 {
            chain[..=end].iter().for_each(|link| replaced[link.node] = true);
        }
    }
    Ok(())
}

/// A node of a chain and the steps up to it, itself included.
struct Link {
    node: usize,
    steps: usize,
}

fn chain(graph: &Graph, uses: &Uses, start: usize, replaced: &[bool]) -> Vec<Link> {
    let mut values = HashSet::new();
    let mut chain = Vec::new();
    let (mut node, mut steps) = (start, 0);
    loop {
        let links = &graph.links[node];
        values.extend(links.inputs.iter().chain(&links.outputs).copied());
        let half = graph.values[links.outputs[0]].datatype == Datatype::F16;
        steps += graph.nodes[node].steps() * if half { F16_STEPS } else { 1 };
        chain.push(Link { node, steps });
        let next = uses.only(links.outputs[0]).filter(|&next| !replaced[next]);
        let next = next.filter(|&next| varying(graph, next, Some(&values)).is_some());
        match next.filter(|_| steps < CHAIN) {
            Some(next) => node = next,
            None => return chain,
        }
    }
}

/// The input of an elementwise node whose other input, if any, is a constant number or, like the first, of `chain`.
fn varying(graph: &Graph, node: usize, chain: Option<&HashSet<usize>>) -> Option<usize> {
    let number = |input: usize| {
        let value = &graph.values[input];
        value.is_constant() && value.shape.elements() == 1
    };
    let inside = |input: usize| chain.is_some_and(|chain| chain.contains(&input));
    let links = &graph.links[node];
    if !graph.nodes[node].is_elementwise() || graph.values[links.outputs[0]].datatype == Datatype::QdInt8 {
        return None;
    }
    match links.inputs[..] {
        [input] => Some(input),
        [first, second] if number(first) && !graph.values[second].is_constant() => Some(second),
        [first, second] if number(second) && !graph.values[first].is_constant() => Some(first),
        [first, second] if inside(first) && inside(second) => Some(first),
        _ => None,
    }
}
