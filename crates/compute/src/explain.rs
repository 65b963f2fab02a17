//! Explains to members what a computation means for them.

use crate::{Computation, Member, Op, Type, Value, Visibility, text::promise};
use std::fmt::Write;

/// The meaning of a computation for its members. Values are shown as `name: type`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explanation {
    /// Each member's part.
    pub members: Vec<MembersPart>,
    /// The inputs that all members know.
    pub public: Vec<String>,
    /// The inputs that are shared by the members that a job names.
    pub secret: Vec<String>,
    /// The intermediate values that are opened to all.
    pub opened: Vec<String>,
    /// The other values that three parties see, in words.
    pub leaks: Vec<String>,
    /// The names of lengths, which all members learn.
    pub lengths: Vec<String>,
}

/// One member's part of a computation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MembersPart {
    /// The member.
    pub name: String,
    /// Its inputs, with the ranges that they promise.
    pub brings: Vec<String>,
    /// The outputs that it learns, and the values that are opened to it alone.
    pub learns: Vec<String>,
}

impl Computation {
    /// Each member's inputs and outputs, and what all members learn and parties see during a run.
    /// It is meant for people who must agree on the computation.
    #[must_use]
    pub fn explained(&self) -> Explanation {
        let part = |(at, name): (usize, &String)| {
            let me = Member(at as u16);
            let learnt = self.outputs().iter().filter(|output| output.to.contains(&me));
            let learnt = learnt.map(|output| format!("{}: {}", output.name, self.node(output.value).ty));
            MembersPart {
                name: name.clone(),
                brings: self.brought(Visibility::Private(me)),
                learns: learnt.chain(self.opened(Some(me))).collect(),
            }
        };
        let mut leaks: Vec<String> = vec![];
        for node in self.nodes().iter().filter(|node| node.ty.visibility != Visibility::Public) {
            let words = node.op.leaks().map(|leaks| format!("`{}` {leaks}", node.op.name()));
            leaks.extend(words.filter(|words| !leaks.contains(words)));
        }
        Explanation {
            members: self.members().iter().enumerate().map(part).collect(),
            public: self.brought(Visibility::Public),
            secret: self.brought(Visibility::Secret),
            opened: self.opened(None),
            leaks,
            lengths: self.symbols().to_vec(),
        }
    }

    /// The explanation as text. It ends by saying that nothing else is revealed.
    #[must_use]
    pub fn explain(&self) -> String {
        let Explanation { members, public, secret, opened, leaks, lengths } = self.explained();
        let mut out = format!("{}\n", self.name());
        let told = |list: &[String]| if list.is_empty() { "nothing".into() } else { list.join(", ") };
        for MembersPart { name, brings, learns } in members {
            let _ = writeln!(out, "  {name} brings {} and learns {}", told(&brings), told(&learns));
        }
        for (words, list) in
            [("known to all", public), ("brought as shares", secret), ("opened to all on the way", opened)]
        {
            if !list.is_empty() {
                let _ = writeln!(out, "  {words}: {}", list.join(", "));
            }
        }
        for words in leaks {
            let _ = writeln!(out, "  among three parties {words}");
        }
        let lengths = if lengths.is_empty() { String::new() } else { format!(", {}", lengths.join(", ")) };
        let _ = writeln!(out, "  all learn this computation and its lengths{lengths}, and nothing else");
        out
    }

    /// Inputs with their promised ranges.
    fn brought(&self, visibility: Visibility) -> Vec<String> {
        let all = self.inputs().enumerate().filter(|(_, (_, ty))| ty.visibility == visibility);
        let shown = |(at, (name, ty)): (usize, (&str, &Type))| match self.promised(Value(at as u32)) {
            Some(range) => format!("{name}: {ty} {}", promise(range, ty.scalar)),
            None => format!("{name}: {ty}"),
        };
        all.map(shown).collect()
    }

    /// The secret intermediate values that are opened, to one member or to all.
    fn opened(&self, to: Option<Member>) -> Vec<String> {
        let opened = self.nodes().iter().filter(|node| {
            let secret = |v: &Value| self.node(*v).ty.visibility != node.ty.visibility;
            node.op == Op::Reveal(to) && node.arguments.iter().any(secret)
        });
        let shown = |node: &crate::Node| {
            let of = node.arguments[0];
            let name = self.value_name(of).map_or_else(|| "a value in between".to_owned(), str::to_owned);
            format!("{name}: {}", node.ty)
        };
        opened.map(shown).collect()
    }
}
