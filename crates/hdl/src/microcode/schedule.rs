//! Orders instructions and assigns slots to their results.

use super::sums::{ScalarNumber, ScalarTable};
use super::{Instruction, MAX_SCALARS, MAX_SLOTS, MicrocodeError, Scalar};
use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashMap},
};

type Id = u32;

/// The origin of a slot's content.
#[derive(Clone, Copy)]
pub(super) enum Node {
    /// An input row; rows have the order of their nodes.
    In,
    /// A product; products have the order of the ANDs.
    Product,
    Lin(Lin),
}

/// The sum of up to two nodes and a scalar.
#[derive(Clone, Copy)]
pub(super) struct Lin {
    pub(super) sources: [Option<Id>; 2],
    pub(super) scalar: ScalarNumber,
}

/// The nodes of a program, without an order.
pub(super) struct DataFlow {
    nodes: Vec<Node>,
    /// The earliest layer that can make each node.
    layer: Vec<u32>,
    ands: Vec<[Id; 2]>,
    /// The node that each AND makes.
    products: Vec<Id>,
    layer_ands: Vec<usize>,
    outputs: Vec<(Option<Id>, ScalarNumber)>,
    /// Whether something reads each node.
    needed: Vec<bool>,
}

/// An instruction without slots.
#[derive(Clone, Copy)]
enum ScheduleStep {
    /// Products arrive.
    Sync,
    In(Id),
    Lin(Id),
    And(usize),
    Out(usize),
}

/// The time at which a layer's sums are made.
#[derive(Clone, Copy)]
enum SumOrder {
    /// At the first request of an AND or an output.
    OnDemand,
    /// In the circuit's order; an AND runs as soon as it and all ANDs before it can run.
    Early,
}

impl DataFlow {
    pub(super) fn new(
        nodes: Vec<Node>,
        layer: Vec<u32>,
        ands: Vec<[Id; 2]>,
        layer_ands: Vec<usize>,
        outputs: Vec<(Option<Id>, ScalarNumber)>,
    ) -> DataFlow {
        let mut needed = vec![false; nodes.len()];
        let mut stack: Vec<Id> = ands.iter().flatten().copied().collect();
        stack.extend(outputs.iter().filter_map(|(id, _)| *id));
        while let Some(id) = stack.pop() {
            if !std::mem::replace(&mut needed[id as usize], true)
                && let Node::Lin(lin) = nodes[id as usize]
            {
                stack.extend(lin.sources.into_iter().flatten());
            }
        }
        let is_product = |id: &Id| matches!(nodes[*id as usize], Node::Product);
        let products = (0..nodes.len() as Id).filter(is_product).collect();
        DataFlow { nodes, layer, ands, products, layer_ands, outputs, needed }
    }

    /// The program, its scalars in the order of their first use, and its number of slots. The order
    /// with the fewest slots is taken.
    pub(super) fn instructions(
        &self,
        sums: &ScalarTable,
    ) -> Result<(Vec<Instruction>, Vec<Scalar>, usize), MicrocodeError> {
        let orders = [SumOrder::OnDemand, SumOrder::Early].map(|order| {
            let steps = self.steps(order);
            let (slots, count) = self.slots(&steps);
            (steps, slots, count)
        });
        let best = orders.into_iter().min_by_key(|(_, _, count)| *count);
        let (steps, slots, count) = best.expect("there is an order");
        if count > MAX_SLOTS {
            return Err(MicrocodeError::Slots { slots: count });
        }
        let mut numbers: HashMap<ScalarNumber, usize> = HashMap::from([(0, 0)]);
        let mut scalars = vec![Scalar::default()];
        let mut scalar = |sum: ScalarNumber| {
            *numbers.entry(sum).or_insert_with(|| {
                scalars.push(sums.get(sum).clone());
                scalars.len() - 1
            }) as u16
        };
        let slot = |id: Id| slots[id as usize];
        let mut program = Vec::with_capacity(steps.len() + 1);
        let mut sync = false;
        for step in steps {
            let next = match step {
                ScheduleStep::Sync => {
                    sync = true;
                    continue;
                }
                ScheduleStep::In(id) => Instruction::input(slot(id)),
                ScheduleStep::Lin(id) => {
                    let lin = self.lin(id);
                    let [a, b] = lin.sources.map(|source| source.map(slot));
                    Instruction::lin(slot(id), a, b, scalar(lin.scalar))
                }
                ScheduleStep::And(k) => {
                    Instruction::and(slot(self.products[k]), slot(self.ands[k][0]), slot(self.ands[k][1]))
                }
                ScheduleStep::Out(k) => {
                    Instruction::output(self.outputs[k].0.map(slot), scalar(self.outputs[k].1))
                }
            };
            program.push(if std::mem::take(&mut sync) { next.after_products() } else { next });
        }
        program.push(Instruction::END);
        if scalars.len() > MAX_SCALARS {
            return Err(MicrocodeError::Scalars { scalars: scalars.len() });
        }
        Ok((program, scalars, count))
    }

    fn lin(&self, id: Id) -> Lin {
        match self.nodes[id as usize] {
            Node::Lin(lin) => lin,
            _ => unreachable!("only LINs are asked for"),
        }
    }

    fn steps(&self, order: SumOrder) -> Vec<ScheduleStep> {
        let mut steps = vec![];
        let mut done: Vec<bool> = self.nodes.iter().map(|n| !matches!(n, Node::Lin(_))).collect();
        let rows = (0..self.nodes.len() as Id).filter(|id| matches!(self.nodes[*id as usize], Node::In));
        steps.extend(rows.map(ScheduleStep::In));
        let mut lins = vec![vec![]; self.layer_ands.len() + 1];
        for id in (0..self.nodes.len()).filter(|id| self.needed[*id] && !done[*id]) {
            lins[self.layer[id] as usize].push(id as Id);
        }
        let mut k = 0;
        for (d, lins) in lins.iter().enumerate() {
            if d > 0 {
                steps.push(ScheduleStep::Sync);
            }
            let end = k + self.layer_ands.get(d).copied().unwrap_or(0);
            let ready = |done: &[bool], k: usize| self.ands[k].iter().all(|id| done[*id as usize]);
            if let SumOrder::Early = order {
                for &id in lins {
                    while k < end && ready(&done, k) {
                        steps.push(ScheduleStep::And(k));
                        k += 1;
                    }
                    steps.push(ScheduleStep::Lin(id));
                    done[id as usize] = true;
                }
            }
            while k < end {
                self.ands[k].iter().for_each(|id| self.make(*id, &mut done, &mut steps));
                steps.push(ScheduleStep::And(k));
                k += 1;
            }
        }
        let outputs = self.outputs.iter().filter_map(|(id, _)| *id);
        outputs.for_each(|id| self.make(id, &mut done, &mut steps));
        steps.extend((0..self.outputs.len()).map(ScheduleStep::Out));
        steps
    }

    /// Appends the steps that `id` still needs, sources first.
    fn make(&self, id: Id, done: &mut [bool], steps: &mut Vec<ScheduleStep>) {
        let mut stack = vec![id];
        while let Some(&id) = stack.last() {
            if done[id as usize] {
                stack.pop();
                continue;
            }
            let missing = self.lin(id).sources.into_iter().flatten().filter(|s| !done[*s as usize]);
            let before = stack.len();
            stack.extend(missing);
            if stack.len() == before {
                steps.push(ScheduleStep::Lin(id));
                done[id as usize] = true;
                stack.pop();
            }
        }
    }

    fn reads(&self, step: ScheduleStep) -> impl Iterator<Item = Id> {
        let pair = match step {
            ScheduleStep::Lin(id) => self.lin(id).sources,
            ScheduleStep::And(k) => self.ands[k].map(Some),
            ScheduleStep::Out(k) => [self.outputs[k].0, None],
            ScheduleStep::Sync | ScheduleStep::In(_) => [None; 2],
        };
        pair.into_iter().flatten()
    }

    /// Assigns a slot to every node that needs one, by linear scan: the lowest free slot. Also
    /// returns the number of slots.
    fn slots(&self, steps: &[ScheduleStep]) -> (Vec<u16>, usize) {
        let mut last = vec![0; self.nodes.len()];
        for (time, step) in steps.iter().enumerate() {
            self.reads(*step).for_each(|id| last[id as usize] = time);
        }
        let mut slot_of = vec![0; self.nodes.len()];
        let (mut free, mut count) = (BinaryHeap::new(), 0usize);
        // Products that nothing reads keep their slots until they arrive.
        let mut unread: Vec<Id> = vec![];
        for (time, step) in steps.iter().enumerate() {
            let mut dead: Vec<Id> = self.reads(*step).filter(|id| last[*id as usize] == time).collect();
            dead.dedup();
            let made = match *step {
                ScheduleStep::Sync => {
                    dead.append(&mut unread);
                    None
                }
                ScheduleStep::In(id) | ScheduleStep::Lin(id) => Some(id),
                ScheduleStep::And(k) => Some(self.products[k]),
                ScheduleStep::Out(_) => None,
            };
            free.extend(dead.into_iter().map(|id| Reverse(slot_of[id as usize])));
            let Some(id) = made else { continue };
            let slot = free.pop().map_or_else(
                || {
                    count += 1;
                    // A larger number is refused before any code reads these.
                    (count - 1) as u16
                },
                |Reverse(slot)| slot,
            );
            slot_of[id as usize] = slot;
            if !self.needed[id as usize] {
                match step {
                    ScheduleStep::And(_) => unread.push(id),
                    _ => free.push(Reverse(slot)),
                }
            }
        }
        (slot_of, count)
    }
}
