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

impl OpDef for Reveal<'_> {
    fn syntax() -> Syntax {
        Syntax::Call(&["reveal"], "reveal(x, to=client)", |c| {
            let to = match c.arguments.named("to")? {
                None => None,
                Some(Expr { place, what: What::Name(member) }) => {
                    Some(c.scope.member(&(member.clone(), *place))?)
                }
                Some(other) => return Err(wrong(other.place, "no member stands here", "write to=MEMBER")),
            };
            Ok((Op::Reveal(to), c.operands()?))
        })
    }

    fn facts(&self) -> Facts {
        facts("reveal", 1, Role::Moves)
    }

    fn infer(&self, of: Operands<'_>) -> Typed {
        let (_, ty) = of.all[0];
        let visibility = match self.to {
            None => Visibility::Public,
            // What all know stays known.
            Some(_) if ty.visibility == Visibility::Public => Visibility::Public,
            Some(member) => Visibility::Private(*member),
        };
        Ok(Type { visibility, ..ty.clone() })
    }

    fn range(&self, of: &Ranges<'_>) -> Reach {
        of.same(0)
    }

    fn evaluate(&self, of: Evaluation<'_>) -> Result<Tensor, ComputeError> {
        Ok(of.x().clone())
    }

    fn lowering(&self) -> Lowering<'_> {
        Lowering::moves(|_, lengths| (0..lengths.iter().product()).collect())
    }

    fn print(&self, w: Writing<'_>) -> Printed {
        w.call(&self.to.map_or(String::new(), |member| format!(", to={}", w.names.member(member))))
    }
}
