//! The meaning of a computation for its members, in words.

use crate::{Computation, Member, Op, Type, Value, Visibility, text::promise};
use std::fmt::Write;

impl Computation {
    /// Each member's inputs and outputs, what all learn on the way and parties see, and that nothing else is told: for people who are to
    /// agree.
    #[must_use]
    pub fn explain(&self) -> String {
        let mut out = format!("{}\n", self.name());
        for (at, name) in self.members().iter().enumerate() {
            let me = Member(at as u16);
            let brought = self.brought(Visibility::Private(me));
            let learnt: Vec<String> = self
                .outputs()
                .iter()
                .filter(|output| output.to.contains(&me))
                .map(|output| format!("{}: {}", output.name, self.node(output.value).ty))
                .chain(self.opened(Some(me)))
                .collect();
            let told = |list: &[String]| if list.is_empty() { "nothing".into() } else { list.join(", ") };
            let _ = writeln!(out, "  {name} brings {} and learns {}", told(&brought), told(&learnt));
        }
        for (visibility, words) in
            [(Visibility::Public, "known to all"), (Visibility::Secret, "brought as shares")]
        {
            let inputs = self.brought(visibility);
            if !inputs.is_empty() {
                let _ = writeln!(out, "  {words}: {}", inputs.join(", "));
            }
        }
        let opened = self.opened(None);
        if !opened.is_empty() {
            let _ = writeln!(out, "  opened to all on the way: {}", opened.join(", "));
        }
        let mut leaks: Vec<String> = vec![];
        for node in self.nodes().iter().filter(|node| node.ty.visibility != Visibility::Public) {
            let words = node.op.leaks().map(|leaks| format!("`{}` {leaks}", crate::infer::name(&node.op)));
            leaks.extend(words.filter(|words| !leaks.contains(words)));
        }
        for words in leaks {
            let _ = writeln!(out, "  among three parties {words}");
        }
        let lengths = if self.symbols().is_empty() {
            String::new()
        } else {
            format!(", {}", self.symbols().join(", "))
        };
        let _ = writeln!(out, "  all learn this computation and its lengths{lengths}, and nothing else");
        out
    }

    /// Inputs with what they promise.
    fn brought(&self, visibility: Visibility) -> Vec<String> {
        let all = self.inputs().enumerate().filter(|(_, (_, ty))| ty.visibility == visibility);
        let shown = |(at, (name, ty)): (usize, (&str, &Type))| match self.promised(Value(at as u32)) {
            Some(range) => format!("{name}: {ty} {}", promise(range, ty.scalar)),
            None => format!("{name}: {ty}"),
        };
        all.map(shown).collect()
    }

    /// Secret values that are opened on the way, to one or to all.
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
