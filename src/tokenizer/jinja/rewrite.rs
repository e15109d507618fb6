//! Rewrites a compiled template before it runs: every instruction of unbounded time or memory is
//! charged to the budget, by filters of [`operators`](super::operators). Templates cannot call
//! these filters, because their names are not valid identifiers.

use minijinja::Value;
use minijinja::machinery::Instruction::{self, *};
use minijinja::machinery::Instructions;

use super::methods;
use super::operators::{
    AT_LEAST, AT_MOST, ATTRIBUTE, CONCAT, LESS, LOOP, MACRO, MORE, NAMESPACE_SET, PRODUCT,
    REMAINDER, SETTLE, TOUCH, UNPACK, WEIGH, WEIGH_ITEMS, WITHIN,
};

/// The place in the engine's cache of filters, of a filter that is not in it.
const UNCACHED: u8 = u8::MAX;

/// The instructions with their work counted.
pub(super) fn counted<'a>(old: &Instructions<'a>) -> Instructions<'a> {
    let mut new = Instructions::new(old.name(), old.source());
    // Where each of the old instructions begins, and the end.
    let mut starts = Vec::new();
    let mut length = 0;
    for at in 0.. {
        starts.push(length);
        let Some(instruction) = old.get(at) else {
            break;
        };
        for part in [set_in_macro(old, at), parts(instruction)].concat() {
            match old.get_span(at) {
                Some(span) => new.add_with_span(part, span),
                None => new.add_with_line(part, old.get_line(at).unwrap_or(0) as u16),
            };
            length += 1;
        }
    }
    for at in 0..length {
        if let Some(
            Jump(to)
            | JumpIfFalse(to)
            | JumpIfFalseOrPop(to)
            | JumpIfTrueOrPop(to)
            | Iterate(to)
            | BuildMacro(_, to, _),
        ) = new.get_mut(at)
        {
            *to = starts[*to as usize];
        }
    }
    new
}

/// Before the closure of a macro is made: the namespaces that the macro sets, as the engine includes
/// only variables that it reads.
fn set_in_macro<'a>(old: &Instructions<'a>, at: u32) -> Vec<Instruction<'a>> {
    let (Some(GetClosure), Some(BuildMacro(_, body, _))) = (old.get(at), old.get(at + 2)) else {
        return Vec::new();
    };
    let set = |index| match (old.get(index), old.get(index + 1)) {
        (Some(Lookup(namespace)), Some(SetAttr(_))) => Some(Enclose(namespace)),
        _ => None,
    };
    (*body..at).filter_map(set).collect()
}

/// An instruction, with what counts its work before and after it.
fn parts<'a>(instruction: &Instruction<'a>) -> Vec<Instruction<'a>> {
    let mut parts = match instruction {
        Slice => charge(TOUCH, 4),
        GetItem => charge(TOUCH, 2),
        PushLoop(_) => charge(LOOP, 1),
        BuildMap(pairs) => charge(WEIGH, 2 * pairs),
        UnpackLists(count) | MergeKwargs(count) => charge(WEIGH_ITEMS, *count),
        In => charge(WITHIN, 2),
        Eq | Ne | CompareAndPreserve(_) => charge(WEIGH, 2),
        // The other tests without an argument read only the top level of their input.
        PerformTest(name, Some(count), _) if *count > 1 || matches!(*name, "lower" | "upper") => {
            charge(WEIGH, (*count).into())
        }
        // `loop.changed` compares its arguments with those of the previous iteration.
        CallMethod("changed", Some(count)) => charge(WEIGH, (*count).into()),
        _ => Vec::new(),
    };
    match instruction {
        StringConcat => parts.push(filter(CONCAT, 2)),
        Rem => parts.push(filter(REMAINDER, 2)),
        Mul => parts.push(filter(PRODUCT, 2)),
        Lt => parts.push(filter(LESS, 2)),
        Lte => parts.push(filter(AT_MOST, 2)),
        Gt => parts.push(filter(MORE, 2)),
        Gte => parts.push(filter(AT_LEAST, 2)),
        // As a list, since a loop over a text would not know which character is the last.
        UnpackList(_) | PushLoop(_) => parts.extend([filter(UNPACK, 1), instruction.clone()]),
        GetAttr(name) if methods::is_method(name) => {
            parts.extend([LoadConst(Value::from(*name)), filter(ATTRIBUTE, 2)]);
        }
        // What `{% call %}` passes on has no more arguments than it names.
        BuildMacro(name, ..) if *name != "caller" => {
            parts.extend([instruction.clone(), filter(MACRO, 1)]);
        }
        // A value, which is counted when it is written. A safe string is not escaped.
        EmitRaw(raw) => {
            let raw = Value::from_safe_string((*raw).to_owned());
            parts.extend([LoadConst(raw), Emit]);
        }
        SetAttr(name) => {
            let name = Value::from(*name);
            parts.extend([LoadConst(name), filter(NAMESPACE_SET, 3), DiscardTop]);
        }
        other => parts.push(other.clone()),
    }
    let makes_list = match instruction {
        LoadConst(value) => value.as_object().is_some() && !value.is_kwargs(),
        Add | Mul | Slice | BuildList(_) | BuildTuple(_) | BuildMap(_) | CallMethod(..) => true,
        _ => false,
    };
    if makes_list {
        parts.push(filter(SETTLE, 1));
    }
    parts
}

/// Charges the topmost values, and leaves them as they are.
fn charge<'a>(name: &'static str, count: usize) -> Vec<Instruction<'a>> {
    vec![
        LoadConst(Value::from(count)),
        ApplyFilter(name, None, UNCACHED),
        UnpackList(count),
    ]
}

fn filter<'a>(name: &'static str, count: u16) -> Instruction<'a> {
    ApplyFilter(name, Some(count), UNCACHED)
}
