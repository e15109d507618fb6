//! Rewrites a template before it runs: every operation of unbounded time or memory goes through a
//! filter that charges its work to the budget. Templates can neither call nor shadow these filters,
//! because their names are not valid identifiers.

use minijinja::Value;
use minijinja::machinery::ast::*;

use super::library::{
    NAMESPACE_SET, REMAINDER, SETTLE, TEXT, TEXTS, TIMES, TOUCH, WEIGH, WEIGH_ITEMS,
};

/// The variable for the text between `{% set ns.x %}` and `{% endset %}`.
const CAPTURED: &str = "!captured";

/// Filters that read only the top level of their input.
const SHALLOW_FILTERS: &[&str] = &[
    "length", "count", "default", "d", "first", "last", "list", "items", "attr", "safe", "abs",
    "int", "float", "round",
];

/// Filters that iterate over the characters of a string as over the items of a list.
const LIST_FILTERS: &[&str] = &[
    "sort",
    "unique",
    "min",
    "max",
    "batch",
    "slice",
    "groupby",
    "map",
    "select",
    "reject",
    "selectattr",
    "rejectattr",
    "dictsort",
    "reverse",
    "sum",
];

/// Tests that read only the top level of their input.
const SHALLOW_TESTS: &[&str] = &[
    "defined",
    "undefined",
    "none",
    "boolean",
    "odd",
    "even",
    "divisibleby",
    "number",
    "integer",
    "int",
    "float",
    "string",
    "sequence",
    "iterable",
    "mapping",
    "true",
    "false",
    "safe",
];

/// The template with its work counted, or the unsupported feature that it uses.
pub(super) fn template<'a>(template: &Stmt<'a>) -> Result<Stmt<'a>, String> {
    match template {
        Stmt::Template(node) => {
            let children = statements(&node.children)?;
            Ok(Stmt::Template(Spanned::new(Template { children }, node.span())))
        }
        _ => Err("it is not a template".to_owned()),
    }
}

fn statements<'a>(statements: &[Stmt<'a>]) -> Result<Vec<Stmt<'a>>, String> {
    let mut rewritten = Vec::with_capacity(statements.len());
    for stmt in statements {
        rewritten.push(statement(stmt)?);
        // The captured text is assigned to the namespace in a separate statement.
        if let Stmt::SetBlock(node) = stmt
            && let Expr::GetAttr(target) = &node.target
        {
            rewritten.push(set_attribute(target, variable(CAPTURED, node)));
        }
    }
    Ok(rewritten)
}

/// An arm for each kind: a node can neither be cloned nor changed in place, so each is made again.
fn statement<'a>(stmt: &Stmt<'a>) -> Result<Stmt<'a>, String> {
    let unsupported = |what: &str| Err(format!("`{what}` is not supported"));
    Ok(match stmt {
        Stmt::Template(_) => return unsupported("template"),
        Stmt::EmitExpr(node) => {
            Stmt::EmitExpr(Spanned::new(EmitExpr { expr: expr(&node.expr) }, node.span()))
        }
        // Raw text becomes an expression, so that it is counted; a safe string is not escaped.
        Stmt::EmitRaw(node) => {
            let raw = Const { value: Value::from_safe_string(node.raw.to_owned()) };
            let expr = Expr::Const(Spanned::new(raw, node.span()));
            Stmt::EmitExpr(Spanned::new(EmitExpr { expr }, node.span()))
        }
        Stmt::ForLoop(node) => {
            let new = ForLoop {
                target: target(&node.target),
                iter: filter(TOUCH, expr(&node.iter)),
                filter_expr: node.filter_expr.as_ref().map(expr),
                recursive: node.recursive,
                body: statements(&node.body)?,
                else_body: statements(&node.else_body)?,
            };
            Stmt::ForLoop(Spanned::new(new, node.span()))
        }
        Stmt::IfCond(node) => {
            let new = IfCond {
                expr: expr(&node.expr),
                true_body: statements(&node.true_body)?,
                false_body: statements(&node.false_body)?,
            };
            Stmt::IfCond(Spanned::new(new, node.span()))
        }
        Stmt::WithBlock(node) => {
            let assignments = node.assignments.iter().map(|(a, b)| (target(a), expr(b))).collect();
            let new = WithBlock { assignments, body: statements(&node.body)? };
            Stmt::WithBlock(Spanned::new(new, node.span()))
        }
        Stmt::Set(node) => match &node.target {
            Expr::GetAttr(attribute) => set_attribute(attribute, expr(&node.expr)),
            name => {
                let new = Set { target: target(name), expr: expr(&node.expr) };
                Stmt::Set(Spanned::new(new, node.span()))
            }
        },
        Stmt::SetBlock(node) => {
            let new = SetBlock {
                target: match &node.target {
                    Expr::GetAttr(_) => variable(CAPTURED, node),
                    name => target(name),
                },
                filter: node.filter.as_ref().map(expr),
                body: statements(&node.body)?,
            };
            Stmt::SetBlock(Spanned::new(new, node.span()))
        }
        Stmt::AutoEscape(node) => {
            let new = AutoEscape { enabled: expr(&node.enabled), body: statements(&node.body)? };
            Stmt::AutoEscape(Spanned::new(new, node.span()))
        }
        Stmt::FilterBlock(node) => {
            let new = FilterBlock { filter: expr(&node.filter), body: statements(&node.body)? };
            Stmt::FilterBlock(Spanned::new(new, node.span()))
        }
        Stmt::Macro(node) => Stmt::Macro(declaration(node)?),
        Stmt::CallBlock(node) => {
            let new = CallBlock {
                call: call(&node.call),
                macro_decl: declaration(&node.macro_decl)?,
            };
            Stmt::CallBlock(Spanned::new(new, node.span()))
        }
        Stmt::Continue(node) => Stmt::Continue(Spanned::new(Continue, node.span())),
        Stmt::Break(node) => Stmt::Break(Spanned::new(Break, node.span())),
        Stmt::Do(node) => Stmt::Do(Spanned::new(Do { call: call(&node.call) }, node.span())),
        // A template stands alone: there are no others to import or extend.
        Stmt::Block(_) => return unsupported("block"),
        Stmt::Import(_) | Stmt::FromImport(_) => return unsupported("import"),
        Stmt::Extends(_) => return unsupported("extends"),
        Stmt::Include(_) => return unsupported("include"),
    })
}

fn declaration<'a>(node: &Spanned<Macro<'a>>) -> Result<Spanned<Macro<'a>>, String> {
    let new = Macro {
        name: node.name,
        args: node.args.iter().map(target).collect(),
        defaults: node.defaults.iter().map(expr).collect(),
        body: statements(&node.body)?,
    };
    Ok(Spanned::new(new, node.span()))
}

/// `{% set ns.name = value %}` as a call.
fn set_attribute<'a>(attribute: &Spanned<GetAttr<'a>>, value: Expr<'a>) -> Stmt<'a> {
    let span = attribute.span();
    let name = Const { value: Value::from(attribute.name) };
    let call = Call {
        expr: variable(NAMESPACE_SET, attribute),
        args: vec![
            CallArg::Pos(expr(&attribute.expr)),
            CallArg::Pos(Expr::Const(Spanned::new(name, span))),
            CallArg::Pos(value),
        ],
    };
    Stmt::Do(Spanned::new(Do { call: Spanned::new(call, span) }, span))
}

fn variable<'a, T>(id: &'static str, at: &Spanned<T>) -> Expr<'a> {
    Expr::Var(Spanned::new(Var { id }, at.span()))
}

/// The target of an assignment: names, which do no work.
fn target<'a>(target_expr: &Expr<'a>) -> Expr<'a> {
    match target_expr {
        Expr::List(node) => {
            let items = node.items.iter().map(target).collect();
            Expr::List(Spanned::new(List { items }, node.span()))
        }
        Expr::GetAttr(node) => {
            let new = GetAttr { expr: target(&node.expr), name: node.name };
            Expr::GetAttr(Spanned::new(new, node.span()))
        }
        other => expr(other),
    }
}

/// As [`statement`].
fn expr<'a>(old: &Expr<'a>) -> Expr<'a> {
    match old {
        Expr::Var(node) => Expr::Var(Spanned::new(Var { id: node.id }, node.span())),
        Expr::Const(node) => {
            Expr::Const(Spanned::new(Const { value: node.value.clone() }, node.span()))
        }
        Expr::Slice(node) => {
            let part = |part: &Option<Expr<'a>>| part.as_ref().map(expr);
            let new = Slice {
                expr: filter(TOUCH, expr(&node.expr)),
                start: part(&node.start),
                stop: part(&node.stop),
                step: part(&node.step),
            };
            filter(SETTLE, Expr::Slice(Spanned::new(new, node.span())))
        }
        Expr::UnaryOp(node) => {
            // `UnaryOpKind` is not `Copy`.
            let op = if matches!(node.op, UnaryOpKind::Not) {
                UnaryOpKind::Not
            } else {
                UnaryOpKind::Neg
            };
            let new = UnaryOp { op, expr: expr(&node.expr) };
            Expr::UnaryOp(Spanned::new(new, node.span()))
        }
        Expr::BinOp(node) => binary(node),
        Expr::Compare(node) => comparison(node),
        Expr::IfExpr(node) => {
            let new = IfExpr {
                test_expr: expr(&node.test_expr),
                true_expr: expr(&node.true_expr),
                false_expr: node.false_expr.as_ref().map(expr),
            };
            Expr::IfExpr(Spanned::new(new, node.span()))
        }
        Expr::Filter(node) => {
            let look = match node.name {
                name if SHALLOW_FILTERS.contains(&name) => TOUCH,
                name if LIST_FILTERS.contains(&name) => WEIGH_ITEMS,
                "join" => TEXTS,
                _ => WEIGH,
            };
            let new = Filter {
                name: node.name,
                expr: node.expr.as_ref().map(|value| filter(look, expr(value))),
                args: arguments(&node.args, Some(WEIGH)),
            };
            filter(SETTLE, Expr::Filter(Spanned::new(new, node.span())))
        }
        Expr::Test(node) => {
            let deep = !SHALLOW_TESTS.contains(&node.name);
            let value = expr(&node.expr);
            let new = Test {
                name: node.name,
                expr: if deep { filter(WEIGH, value) } else { value },
                args: arguments(&node.args, deep.then_some(WEIGH)),
            };
            Expr::Test(Spanned::new(new, node.span()))
        }
        Expr::GetAttr(node) => {
            let new = GetAttr { expr: expr(&node.expr), name: node.name };
            Expr::GetAttr(Spanned::new(new, node.span()))
        }
        Expr::GetItem(node) => {
            let new = GetItem {
                expr: filter(TOUCH, expr(&node.expr)),
                subscript_expr: filter(WEIGH, expr(&node.subscript_expr)),
            };
            Expr::GetItem(Spanned::new(new, node.span()))
        }
        Expr::Call(node) => {
            let is_method = matches!(node.expr, Expr::GetAttr(_));
            let new = Expr::Call(call(node));
            if is_method { filter(SETTLE, new) } else { new }
        }
        Expr::List(node) => {
            let items = node.items.iter().map(expr).collect();
            filter(SETTLE, Expr::List(Spanned::new(List { items }, node.span())))
        }
        Expr::Tuple(node) => {
            let items = node.items.iter().map(expr).collect();
            filter(SETTLE, Expr::Tuple(Spanned::new(Tuple { items }, node.span())))
        }
        Expr::Map(node) => {
            let new = Map {
                keys: node.keys.iter().map(|key| filter(WEIGH, expr(key))).collect(),
                values: node.values.iter().map(expr).collect(),
            };
            filter(SETTLE, Expr::Map(Spanned::new(new, node.span())))
        }
    }
}

fn call<'a>(node: &Spanned<Call<'a>>) -> Spanned<Call<'a>> {
    // `loop.changed` compares its arguments with those of the previous iteration.
    let compares = matches!(&node.expr, Expr::GetAttr(method) if method.name == "changed");
    let new = Call {
        expr: expr(&node.expr),
        args: arguments(&node.args, compares.then_some(WEIGH)),
    };
    Spanned::new(new, node.span())
}

/// The arguments of a call, each through the filter `look`, if given.
fn arguments<'a>(args: &[CallArg<'a>], look: Option<&'static str>) -> Vec<CallArg<'a>> {
    let value = |old: &Expr<'a>| match look {
        Some(look) => filter(look, expr(old)),
        None => expr(old),
    };
    let argument = |arg: &CallArg<'a>| match arg {
        CallArg::Pos(arg) => CallArg::Pos(value(arg)),
        CallArg::Kwarg(name, arg) => CallArg::Kwarg(name, value(arg)),
        CallArg::PosSplat(arg) => CallArg::PosSplat(filter(WEIGH_ITEMS, expr(arg))),
        CallArg::KwargSplat(arg) => CallArg::KwargSplat(filter(WEIGH_ITEMS, expr(arg))),
    };
    args.iter().map(argument).collect()
}

fn binary<'a>(node: &Spanned<BinOp<'a>>) -> Expr<'a> {
    let [left, right] = [&node.left, &node.right].map(expr);
    let span = node.span();
    let join = |left, right| Expr::BinOp(Spanned::new(BinOp { op: node.op, left, right }, span));
    match node.op {
        BinOpKind::Add => filter(SETTLE, join(left, right)),
        BinOpKind::Concat => filter(SETTLE, join(text(left), text(right))),
        BinOpKind::Mul => operator(TIMES, left, right),
        BinOpKind::Rem => operator(REMAINDER, left, right),
        BinOpKind::Sub | BinOpKind::Div | BinOpKind::FloorDiv => join(left, right),
        BinOpKind::Pow | BinOpKind::ScAnd | BinOpKind::ScOr => join(left, right),
        BinOpKind::In => join(plain_or_weighed(left), filter(WEIGH, right)),
        BinOpKind::Eq
        | BinOpKind::Ne
        | BinOpKind::Lt
        | BinOpKind::Lte
        | BinOpKind::Gt
        | BinOpKind::Gte => {
            if is_plain(&left) || is_plain(&right) {
                join(left, right)
            } else {
                join(filter(WEIGH, left), filter(WEIGH, right))
            }
        }
    }
}

fn comparison<'a>(node: &Spanned<Compare<'a>>) -> Expr<'a> {
    let operand = |operand: &Expr<'a>| filter(WEIGH, expr(operand));
    let ops = node.ops.iter().map(|op| CompareOp { op: op.op, expr: operand(&op.expr) }).collect();
    Expr::Compare(Spanned::new(Compare { expr: operand(&node.expr), ops }, node.span()))
}

fn plain_or_weighed(value: Expr<'_>) -> Expr<'_> {
    if is_plain(&value) {
        value
    } else {
        filter(WEIGH, value)
    }
}

/// Whether `value` is a literal string or number: comparing with it costs no more than its length.
fn is_plain(value: &Expr<'_>) -> bool {
    matches!(value, Expr::Const(node) if node.value.as_object().is_none())
}

/// An operator that is a filter with an argument.
fn operator<'a>(name: &'static str, left: Expr<'a>, right: Expr<'a>) -> Expr<'a> {
    let span = left.span();
    let new = Filter { name, expr: Some(left), args: vec![CallArg::Pos(right)] };
    Expr::Filter(Spanned::new(new, span))
}

/// Makes the value of an expression a text.
fn text(value: Expr<'_>) -> Expr<'_> {
    let span = value.span();
    Expr::Filter(Spanned::new(Filter { name: TEXT, expr: Some(value), args: Vec::new() }, span))
}

/// Passes the value of an expression through a filter.
fn filter<'a>(name: &'static str, value: Expr<'a>) -> Expr<'a> {
    if matches!(value, Expr::Const(_)) {
        return value;
    }
    let span = value.span();
    Expr::Filter(Spanned::new(Filter { name, expr: Some(value), args: Vec::new() }, span))
}
