//! A graph as a whole: its values, its nodes and how they hang together.

use super::constants::Constants;
use super::nodes::Node;
use super::payload::Payload;
use super::values::{Place, Value};
use crate::delegate::DelegateGraph;
use std::collections::{BTreeMap, HashMap};

/// More than any exported graph has, and as many as XNNPACK's own planning takes in a second.
const MAX_NODES: usize = 1 << 13;
/// As many as ExecuTorch 1.5.1 takes.
const MAX_EXTERNALS: u32 = 4096;
/// Values and nodes, each checked by itself; nodes refer to values by index.
pub(super) struct Graph {
    pub(super) values: Vec<Value>,
    pub(super) nodes: Vec<Node>,
    /// Of each node.
    pub(super) links: Vec<Links>,
}

/// The values that a node takes and gives, by index.
pub(super) struct Links {
    pub(super) inputs: Vec<usize>,
    pub(super) outputs: Vec<usize>,
}

impl Graph {
    /// # Errors
    /// One sentence that says what is wrong.
    pub(super) fn read(payload: &Payload<'_>, constants: &Constants<'_>) -> Result<Self, String> {
        let (Some(values), Some(nodes)) = (payload.graph.xvalues(), payload.graph.xnodes()) else {
            return Err("it has no list of values or of nodes".into());
        };
        let externals = payload.graph.num_externs();
        if externals > MAX_EXTERNALS {
            return Err(format!("it has {externals} arguments, ExecuTorch takes {MAX_EXTERNALS}"));
        }
        if nodes.len() > MAX_NODES || values.len() > MAX_NODES * 4 {
            return Err(format!(
                "it has {} nodes and {} values, more than {MAX_NODES} nodes can be planned",
                nodes.len(),
                values.len()
            ));
        }
        let values = values.iter().enumerate().map(|(index, value)| Value::read(index, value, constants));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        let nodes = nodes.iter().enumerate().map(|(index, node)| Node::read(index, node));
        let nodes = nodes.collect::<Result<Vec<_>, _>>()?;
        let by_id = index(&values, externals)?;
        let links = link(&nodes, &values, &by_id)?;
        Ok(Self { values, nodes, links })
    }

    /// What the file alone tells.
    pub(super) fn summary(&self) -> DelegateGraph {
        let mut operators = BTreeMap::new();
        for node in &self.nodes {
            *operators.entry(node.kind.to_owned()).or_insert(0) += 1;
            if node.has_fused_clamp() {
                *operators.entry("Clamp (fused)".to_owned()).or_insert(0) += 1;
            }
        }
        let constant = |value: &Value| match value.place {
            Place::Constant(bytes) => bytes,
            _ => 0,
        };
        let constant_bytes = self.values.iter().map(constant).fold(0, u64::saturating_add);
        DelegateGraph {
            operators,
            constant_bytes,
            packed_bytes: 0,
            reads_in_place: self.reads_in_place(),
            workspace_bytes: 0,
            written: Vec::new(),
        }
    }

    /// Whether a node takes a constant that XNNPACK does not pack, such as the slopes of a `PReLU`.
    fn reads_in_place(&self) -> bool {
        let is_constant = |&value: &usize| matches!(self.values[value].place, Place::Constant(_));
        let links = self.nodes.iter().zip(&self.links);
        links.filter(|(node, _)| !node.packs_weights()).any(|(_, links)| links.inputs.iter().any(is_constant))
    }
}

/// The index of each id, and whether ids and arguments are used once.
fn index(values: &[Value], externals: u32) -> Result<HashMap<u32, usize>, String> {
    let mut by_id = HashMap::with_capacity(values.len());
    let mut positions = HashMap::new();
    for (index, value) in values.iter().enumerate() {
        if by_id.insert(value.id, index).is_some() {
            return Err(format!("two values have the id {}", value.id));
        }
        if let Place::Input(position) | Place::Output(position) = value.place {
            if position >= externals as usize {
                return Err(format!(
                    "value {index} (id {}) is argument {position}, of {externals}",
                    value.id
                ));
            }
            if let Some(other) = positions.insert(position, value.id) {
                return Err(format!(
                    "the values of id {other} and {} are both argument {position}",
                    value.id
                ));
            }
        }
    }
    Ok(by_id)
}

/// Resolves the ids in nodes; each value that is not given must be given by exactly one node.
fn link(nodes: &[Node], values: &[Value], by_id: &HashMap<u32, usize>) -> Result<Vec<Links>, String> {
    let mut given = vec![false; values.len()];
    let mut links = Vec::with_capacity(nodes.len());
    for (index, node) in nodes.iter().enumerate() {
        let at = |what: String| format!("node {index} ({}) {what}", node.kind);
        let resolve = |ids: &[u32]| {
            let indices = ids.iter().map(|id| {
                by_id.get(id).copied().ok_or_else(|| at(format!("refers to the id {id}, which no value has")))
            });
            indices.collect::<Result<Vec<_>, _>>()
        };
        let (inputs, outputs) = (resolve(&node.inputs)?, resolve(&node.outputs)?);
        for &output in &outputs {
            let id = values[output].id;
            if !matches!(values[output].place, Place::Output(_) | Place::Between) {
                return Err(at(format!("writes the value of id {id}, which is given")));
            }
            if std::mem::replace(&mut given[output], true) {
                return Err(at(format!("writes the value of id {id}, as an earlier node does")));
            }
        }
        links.push(Links { inputs, outputs });
    }
    for (value, given) in values.iter().zip(given) {
        if matches!(value.place, Place::Output(_)) && !given {
            return Err(format!("no node gives the output of id {}", value.id));
        }
    }
    Ok(links)
}
