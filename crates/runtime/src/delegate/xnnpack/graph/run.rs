//! A run as it will be: the shapes of a call's arguments, followed from node to node.

use super::arguments::argument;
use super::memory::{Memory, Need};
use super::nodes::{Node, Operand, Outcome};
use super::shape::Shape;
use super::structure::{Graph, Links};
use super::values::{Place, Value};
use crate::file::FileValue;

/// A value's shape as a run finds it.
struct Found {
    shape: Shape,
    fixed: bool,
}

impl Graph {
    /// Follows the shapes of a call's arguments, or of the file without one, through the graph.
    /// # Errors
    /// One sentence that says what is wrong.
    pub(super) fn run(&self, call: Option<&Vec<&FileValue>>) -> Result<Need, String> {
        let mut found: Vec<Option<Found>> = Vec::with_capacity(self.values.len());
        for value in &self.values {
            found.push(match (value.place, call) {
                (Place::Constant(_), _) => Some(Found { shape: value.shape.clone(), fixed: true }),
                (Place::Input(_), Some(call)) => {
                    let argument = argument(value, call)?;
                    argument.map(|argument| Found { shape: argument.shape, fixed: argument.fixed })
                }
                (Place::Input(_), None) => Some(Found { shape: value.shape.clone(), fixed: true }),
                (Place::Output(_) | Place::Between, _) => None,
            });
        }
        for (value, found) in self.values.iter().zip(&found) {
            check_declared(value, found.as_ref())?;
        }
        let mut memory = Memory::new(self.values.len());
        for (index, (node, links)) in self.nodes.iter().zip(&self.links).enumerate() {
            let at = |what: String| format!("node {index} ({}) {what}", node.kind);
            let outcome = self.step(node, links, &found).map_err(at)?;
            let fixed =
                links.inputs.iter().all(|&input| found[input].as_ref().is_none_or(|found| found.fixed));
            memory.step(index, &links.inputs, &outcome).map_err(at)?;
            for (&output, shape) in links.outputs.iter().zip(outcome.shapes) {
                let value = &self.values[output];
                if value.place == Place::Between {
                    memory.begin(output, index, value.bytes(&shape));
                }
                found[output] = Some(Found { shape, fixed });
                check_declared(value, found[output].as_ref()).map_err(at)?;
            }
        }
        if let Some(call) = call {
            for (value, found) in self.values.iter().zip(&found) {
                check_output(value, found.as_ref(), call)?;
            }
        }
        memory.finish()
    }

    fn step(&self, node: &Node, links: &Links, found: &[Option<Found>]) -> Result<Outcome, String> {
        let inputs = links.inputs.iter().map(|&input| {
            let value = &self.values[input];
            match &found[input] {
                Some(found) => Ok(Operand { value, shape: &found.shape, fixed: found.fixed }),
                None => Err(format!("takes the value of id {}, which no node before it gives", value.id)),
            }
        });
        let inputs = inputs.collect::<Result<Vec<_>, _>>()?;
        let outputs: Vec<_> = links.outputs.iter().map(|&output| &self.values[output]).collect();
        node.run(&inputs, &outputs)
    }
}

/// XNNPACK sizes values by the shape in the file until it finds a larger one. Scalars are written as `[1]`, and some images with their
/// dimensions in another order.
fn check_declared(value: &Value, found: Option<&Found>) -> Result<(), String> {
    let Some(Found { shape, fixed }) = found else { return Ok(()) };
    let declared = &value.shape;
    let rank_fits = declared.rank() == shape.rank() || shape.rank() == 0;
    // Bounds of dimensions that depend on each other may be told in more than one way.
    let size_fits = match fixed {
        true => declared.elements() == shape.elements(),
        false => declared.elements() <= shape.elements(),
    };
    if rank_fits && size_fits {
        return Ok(());
    }
    Err(format!("the value of id {} is written down as {declared}, yet comes as {shape}", value.id))
}

fn check_output(value: &Value, found: Option<&Found>, call: &[&FileValue]) -> Result<(), String> {
    let (Place::Output(position), Some(found)) = (value.place, found) else { return Ok(()) };
    let Some(argument) = argument(value, call)? else { return Ok(()) };
    let fits = match argument.fixed {
        true => found.shape == argument.shape,
        false => {
            found.shape.rank() == argument.shape.rank() && found.shape.elements() <= argument.shape.elements()
        }
    };
    if fits {
        return Ok(());
    }
    Err(format!(
        "output argument {position} comes out as {}, the program has room for {}",
        found.shape, argument.shape
    ))
}
