//! `reveal(x)` and `reveal(x, to=client)`.

use super::*;
use crate::{
    Type, Visibility,
    error::wrong,
    text::parse::{Expr, What},
};

pub(super) struct Reveal<'a> {
    pub(super) to: &'a Option<Member>,
}

impl<'a> Reveal<'a> {
    pub(super) const DEF: OpDef<Self> = OpDef {
        syntax: Syntax::Call(&["reveal"], "reveal(x, to=client)", |c| {
            let to = match c.arguments.named("to")? {
                None => None,
                Some(Expr { place, what: What::Name(member) }) => {
                    Some(c.scope.member(&(member.clone(), *place))?)
                }
                Some(other) => return Err(wrong(other.place, "no member stands here", "write to=MEMBER")),
            };
            Ok((Op::Reveal(to), c.operands()?))
        }),
        facts: |_| facts("reveal", 1, OpRole::Moves),
        infer: |p, of| {
            let (_, ty) = of.all[0];
            let visibility = match p.to {
                None => Visibility::Public,
                // A public value stays public.
                Some(_) if ty.visibility == Visibility::Public => Visibility::Public,
                Some(member) => Visibility::Private(*member),
            };
            Ok(Type { visibility, ..ty.clone() })
        },
        range: |_, of| of.same(0),
        evaluate: |_, of| Ok(of.x().clone()),
        lowering: |_| Lowering::moves(|_, lengths| (0..lengths.iter().product()).collect()),
        print: |p, w| {
            w.call(&p.to.map_or(String::new(), |member| format!(", to={}", w.names.member(member))))
        },
    };
}
