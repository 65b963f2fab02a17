//! Binds GROUP BY: keys, ROLLUP, CUBE and GROUPING SETS, and the figures of groups.
//!
//! Several grouping sets become a union: one group operator for each set, over one shared input. A
//! key that a set lacks is NULL in its rows.

use super::{
    Binder, Env,
    expr::{Calls, Staged},
    ordinal,
    scope::means,
};
use crate::{
    Fault,
    error::{At, refused_at, unsupported},
    logical::{Id, Ids, LogicalPlan, OrderKey, RowFacts, map, reads},
};
use hushwire_tables::{
    aggregates::MIN,
    algebra::{Aggregate, Expr, SetOperation, Value, WindowFunction, whole},
};
use sqlparser::ast;

/// LOCAL: the largest number of grouping sets of a SELECT.
const MOST_SETS: usize = 256;

/// A bound GROUP BY.
#[derive(Default)]
pub(super) struct GroupBy {
    /// The distinct keys.
    pub(super) keys: Vec<Expr>,
    /// The grouping sets, as places of keys; `None` for one set of all keys.
    pub(super) sets: Option<Vec<Vec<usize>>>,
    /// Whether the keys are the items of the list without aggregates.
    pub(super) all: bool,
}

impl GroupBy {
    /// The place of a key. A new key is added.
    pub(super) fn add(&mut self, key: Expr) -> usize {
        let place = self.keys.iter().position(|known| *known == key);
        place.unwrap_or_else(|| {
            self.keys.push(key);
            self.keys.len() - 1
        })
    }
}

/// The figures of groups.
#[derive(Clone, Copy)]
pub(super) struct Figures<'a> {
    pub(super) all: &'a [(Id, Aggregate)],
    /// Window functions within groups, from which figures are computed.
    pub(super) staged: &'a [Staged],
    /// The columns of GROUPING calls, each with its arguments.
    pub(super) levels: &'a [(Vec<Expr>, Id)],
}

/// The expressions by which rows are grouped, and their columns.
#[derive(Default)]
pub(super) struct Groups {
    pub(super) keys: Vec<(Expr, Id)>,
}

impl Groups {
    /// Rewrites an expression so that it reads the columns of the groups: keys and figures.
    pub(super) fn of(&self, expr: &Expr) -> Expr {
        map(expr, &mut |e| match self.keys.iter().find(|(key, _)| *key == e) {
            Some((_, id)) => Expr::Column(*id),
            None => e,
        })
    }
}

/// All ways to take one element of each list.
fn products(all: Vec<Vec<Vec<usize>>>) -> Vec<Vec<usize>> {
    all.into_iter().fold(vec![vec![]], |sets, next| {
        let with = |set: &Vec<usize>| {
            let set = set.clone();
            next.iter().map(move |more| [set.clone(), more.clone()].concat()).collect::<Vec<_>>()
        };
        sets.iter().flat_map(with).collect()
    })
}

/// The sets of ROLLUP: all, then one fewer, down to none.
fn rollup(parts: &[Vec<usize>]) -> Vec<Vec<usize>> {
    (0..=parts.len()).rev().map(|n| parts[..n].concat()).collect()
}

/// The sets of CUBE: every choice of parts.
fn cube(parts: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let chosen = |mask: usize| {
        let parts = parts.iter().enumerate().filter(|(k, _)| mask >> (parts.len() - 1 - k) & 1 == 1);
        parts.flat_map(|(_, part)| part.clone()).collect()
    };
    (0..1usize << parts.len().min(16)).rev().map(chosen).collect()
}

impl<'q> Binder<'q> {
    pub(super) fn group_by(&mut self, select: &'q ast::Select, env: &Env<'_>) -> Result<GroupBy, Fault> {
        use ast::{Expr as E, GroupByWithModifier as M};
        let (all, modifiers) = match &select.group_by {
            ast::GroupByExpr::Expressions(all, modifiers) => (all, modifiers),
            ast::GroupByExpr::All(modifiers) if modifiers.is_empty() => {
                return Ok(GroupBy { all: true, ..GroupBy::default() });
            }
            other @ ast::GroupByExpr::All(_) => {
                return Err(unsupported(
                    other,
                    "GROUP BY ALL with ROLLUP, CUBE or TOTALS",
                    "name the keys: GROUP BY ROLLUP (a, b)",
                ));
            }
        };
        let mut made = GroupBy::default();
        let mut sets: Vec<Vec<Vec<usize>>> = vec![];
        for key in all {
            let one = match key {
                E::Rollup(parts) => rollup(&self.parts_of(select, env, parts, &mut made)?),
                E::Cube(parts) => cube(&self.parts_of(select, env, parts, &mut made)?),
                E::GroupingSets(parts) => self.sets_of(select, env, parts, &mut made)?,
                E::Tuple(keys) => {
                    let keys = keys.iter().map(|key| Ok(made.add(self.key(select, env, key)?)));
                    vec![keys.collect::<Result<_, Fault>>()?]
                }
                key => vec![vec![made.add(self.key(select, env, key)?)]],
            };
            sets.push(one);
        }
        let singles =
            |sets: &[Vec<Vec<usize>>]| -> Vec<Vec<usize>> { sets.iter().map(|one| one.concat()).collect() };
        for modifier in modifiers {
            sets = match modifier {
                M::Rollup => vec![rollup(&singles(&sets))],
                M::Cube => vec![cube(&singles(&sets))],
                M::GroupingSets(E::GroupingSets(parts)) => {
                    sets.push(self.sets_of(select, env, parts, &mut made)?);
                    sets
                }
                M::Totals | M::GroupingSets(_) => {
                    return Err(unsupported(
                        &select.group_by,
                        "GROUP BY WITH TOTALS",
                        "write GROUP BY GROUPING SETS ((a, b), ())",
                    ));
                }
            };
        }
        if sets.iter().any(|one| one.len() != 1) || !modifiers.is_empty() {
            let sets = products(sets);
            if sets.len() > MOST_SETS {
                let cause = format!("GROUP BY has {} grouping sets", sets.len());
                let remedy = format!("name at most {MOST_SETS} sets, by GROUPING SETS");
                return Err(refused_at(&select.group_by, cause, remedy));
            }
            made.sets = Some(sets);
        }
        Ok(made)
    }

    fn parts_of(
        &mut self,
        select: &'q ast::Select,
        env: &Env<'_>,
        parts: &'q [Vec<ast::Expr>],
        made: &mut GroupBy,
    ) -> Result<Vec<Vec<usize>>, Fault> {
        let mut part = |keys: &'q Vec<ast::Expr>| -> Result<Vec<usize>, Fault> {
            keys.iter().map(|key| Ok(made.add(self.key(select, env, key)?))).collect()
        };
        parts.iter().map(&mut part).collect()
    }

    /// The sets of GROUPING SETS, which may contain ROLLUP and CUBE.
    fn sets_of(
        &mut self,
        select: &'q ast::Select,
        env: &Env<'_>,
        parts: &'q [Vec<ast::Expr>],
        made: &mut GroupBy,
    ) -> Result<Vec<Vec<usize>>, Fault> {
        let mut sets = vec![];
        for part in parts {
            match &part[..] {
                [ast::Expr::Rollup(inner)] => sets.extend(rollup(&self.parts_of(select, env, inner, made)?)),
                [ast::Expr::Cube(inner)] => sets.extend(cube(&self.parts_of(select, env, inner, made)?)),
                _ => sets.push(self.parts_of(select, env, std::slice::from_ref(part), made)?.concat()),
            }
        }
        Ok(sets)
    }

    /// Binds a key: an ordinal or a name of the list, or else an expression.
    fn key(&mut self, select: &'q ast::Select, env: &Env<'_>, key: &'q ast::Expr) -> Result<Expr, Fault> {
        let of_list = |at: usize| match &select.projection[at] {
            ast::SelectItem::UnnamedExpr(expr) | ast::SelectItem::ExprWithAlias { expr, .. } => Some(expr),
            _ => None,
        };
        let mut calls = Calls::none("GROUP BY");
        match (ordinal(key, select.projection.len())?.and_then(of_list), key) {
            (Some(expr), _) => self.expr(env, &mut calls, expr),
            (None, ast::Expr::Nested(inner)) => self.key(select, env, inner),
            (None, ast::Expr::Identifier(name)) => {
                let own = self.expr(env, &mut calls, key);
                let alias = select.projection.iter().find_map(|item| match item {
                    ast::SelectItem::ExprWithAlias { expr, alias } if means(name, &alias.value) => Some(expr),
                    _ => None,
                });
                match (own, alias) {
                    (Err(_), Some(expr)) => self.expr(env, &mut calls, expr),
                    (own, _) => own,
                }
            }
            (None, key) => self.expr(env, &mut calls, key),
        }
    }

    /// The two sides of a correlated equality: one on own columns, one on columns of the enclosing
    /// query.
    fn sides<'e>(condition: &'e Expr, own: &Ids) -> Option<(&'e Expr, &'e Expr)> {
        let Expr::Compare(hushwire_compute::Comparison::Equal, a, b) = condition else { return None };
        let mine = |e: &Expr| !reads(e).is_empty() && reads(e).is_subset(own);
        let theirs = |e: &Expr| reads(e).is_disjoint(own);
        match (mine(a) && theirs(b), mine(b) && theirs(a)) {
            (true, _) => Some((a, b)),
            (_, true) => Some((b, a)),
            _ => None,
        }
    }

    /// The columns by which a subquery is correlated. Its conditions then read these columns.
    pub(super) fn correlated_by(
        &mut self,
        correlated: &mut [(Expr, At)],
        own: &Ids,
        plan: &mut LogicalPlan,
    ) -> Result<Vec<Id>, Fault> {
        let (mut more, mut ids) = (vec![], vec![]);
        let mut own = own.clone();
        own.extend(plan.ids());
        for (condition, at) in correlated {
            let Some((inner, outer)) = Self::sides(condition, &own) else {
                let clause =
                    "a window or LIMIT in a subquery that is not correlated by columns that are equal";
                return Err(unsupported(
                    *at,
                    clause,
                    "compare columns of both by =, as in WHERE b.id = a.id; of other conditions, join in FROM and group",
                ));
            };
            let id = self.id_of("key", inner, &mut more)?;
            if !ids.contains(&id) {
                ids.push(id);
            }
            *condition = Expr::Column(id).equals(outer.clone());
        }
        let was = std::mem::replace(plan, LogicalPlan::One);
        *plan = was.extended(more);
        Ok(ids)
    }

    /// Groups rows by the keys and by the columns that correlated conditions compare with the
    /// enclosing query.
    #[expect(clippy::too_many_arguments, reason = "the parts of one SELECT, used here alone")]
    pub(super) fn grouped(
        &mut self,
        plan: LogicalPlan,
        by: GroupBy,
        correlated: &mut [(Expr, At)],
        own: &Ids,
        figures: Figures<'_>,
        asked: bool,
        groups: &mut Groups,
    ) -> Result<LogicalPlan, Fault> {
        let mut more = vec![];
        let mut places = vec![];
        for key in by.keys {
            let name = match &key {
                Expr::Column(id) => self.columns.of(*id).name.clone(),
                _ => "key".to_owned(),
            };
            let id = self.id_of(&name, &key, &mut more)?;
            places.push(id);
            groups.keys.push((key, id));
        }
        let mut always = vec![];
        for (condition, at) in correlated {
            let Some((inner, outer)) = Self::sides(condition, own) else {
                let clause = "an aggregate in a subquery that is not correlated by columns that are equal";
                return Err(unsupported(
                    *at,
                    clause,
                    "compare columns of both by =, as in WHERE b.id = a.id; of other conditions, join in FROM and group",
                ));
            };
            let id = self.id_of("key", inner, &mut more)?;
            if !groups.keys.iter().any(|(_, known)| *known == id) {
                groups.keys.push((inner.clone(), id));
            }
            always.push(id);
            *condition = Expr::Column(id).equals(outer.clone());
        }
        let plan = plan.extended(more);
        let distinct = |ids: &mut dyn Iterator<Item = Id>| {
            let mut all: Vec<Id> = vec![];
            for id in ids {
                if !all.contains(&id) {
                    all.push(id);
                }
            }
            all
        };
        let Some(sets) = by.sets else {
            let ids = distinct(&mut groups.keys.iter().map(|(_, id)| *id));
            let made = self.staged(plan, figures.staged, &ids)?;
            let made = self.group(made, &ids, figures.all.to_vec(), asked);
            let levels = figures.levels.iter();
            let zeros = levels.map(|(_, id)| (*id, whole(0)));
            return Ok(made.extended(zeros.collect()));
        };
        let level = |set: &[usize], of: &[Expr]| {
            let lacks = |key: &Expr| {
                let place = groups.keys.iter().position(|(known, _)| known == key);
                !place.is_some_and(|place| set.contains(&place))
            };
            of.iter().fold(0, |bits, key| bits << 1 | i128::from(lacks(key)))
        };
        // All keys and figures, with the same numbers for each set.
        let all: Vec<Id> = distinct(&mut groups.keys.iter().map(|(_, id)| *id));
        let columns: Vec<Id> = (all.iter().copied())
            .chain(figures.all.iter().map(|(id, _)| *id))
            .chain(figures.levels.iter().map(|(_, id)| *id))
            .collect();
        let mut sides: Vec<(LogicalPlan, Vec<Id>)> = vec![];
        for set in &sets {
            let ids = distinct(&mut set.iter().map(|place| places[*place]).chain(always.iter().copied()));
            let made = self.staged(plan.clone(), figures.staged, &ids)?;
            let made = self.group(made, &ids, figures.all.to_vec(), asked);
            let mut own: Vec<(Id, Expr)> = vec![];
            let mut of_side = vec![];
            for id in &columns {
                let level_of = figures.levels.iter().find(|(_, of)| of == id);
                let value = match level_of {
                    Some((of, _)) => whole(level(set, of)),
                    None if all.contains(id) && !ids.contains(id) => {
                        Expr::Literal(Value::Null, self.columns.of(*id).ty)
                    }
                    None => {
                        of_side.push(*id);
                        continue;
                    }
                };
                let ty = self.columns.of(*id).ty;
                let made = self.column("level", ty, level_of.is_none());
                own.push((made, value));
                of_side.push(made);
            }
            sides.push((made.extended(own), of_side));
        }
        self.may_be_null(&all);
        let mut sides = sides.into_iter();
        let Some((mut made, mut ids)) = sides.next() else { return Ok(plan) };
        let mut rest = sides.len();
        for (side, of_side) in sides {
            rest -= 1;
            let of = |id: &Id| self.columns.of(*id).clone();
            let fresh: Vec<_> = columns.iter().map(of).collect();
            let joined = match rest {
                0 => columns.clone(),
                _ => fresh.into_iter().map(|column| self.columns.add(column.nullable())).collect(),
            };
            made = LogicalPlan::Set {
                kind: SetOperation::Union,
                all: true,
                left: (Box::new(made), ids),
                right: (Box::new(side), of_side),
                columns: joined.clone(),
            };
            ids = joined;
        }
        if ids != columns {
            let renamed = columns.iter().zip(&ids).map(|(id, from)| (*id, Expr::Column(*from)));
            made = LogicalPlan::Project { input: Box::new(made), columns: renamed.collect() };
        }
        Ok(made)
    }

    /// The window functions within groups from which figures are computed.
    fn staged(
        &mut self,
        mut plan: LogicalPlan,
        staged: &[Staged],
        keys: &[Id],
    ) -> Result<LogicalPlan, Fault> {
        for Staged { id, partition, order, call } in staged {
            let mut more = vec![];
            let mut by = keys.to_vec();
            for expr in partition {
                by.push(self.id_of("key", expr, &mut more)?);
            }
            let mut order_ids = vec![];
            for (expr, descending) in order {
                let id = self.id_of("key", expr, &mut more)?;
                order_ids.push(OrderKey { id, descending: *descending, nulls_first: false });
            }
            let calls = vec![(*id, WindowFunction::clone(call))];
            let input = Box::new(plan.extended(more));
            plan = LogicalPlan::Window { input, partition: by, order: order_ids, calls };
        }
        Ok(plan)
    }

    /// One row for each value of the keys. Keys that follow from other keys become figures, so that
    /// no sort compares them.
    pub(super) fn group(
        &self,
        input: LogicalPlan,
        keys: &[Id],
        figures: Vec<(Id, Aggregate)>,
        asked: bool,
    ) -> LogicalPlan {
        let fewest = RowFacts::of(&input, self.catalog).fewest(keys, &self.columns);
        let carried = keys.iter().filter(|id| !fewest.contains(id)).map(|id| {
            // All rows of a group agree in this column.
            (*id, Aggregate::new("key", &MIN, Expr::Column(*id)))
        });
        let aggregates = carried.chain(figures).collect();
        LogicalPlan::Group { input: Box::new(input), keys: fewest, aggregates, asked }
    }
}
