//! Checks on the source of a stub, its solution and its suite.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use exercises_runner::manifest::{Exercise, Kind};
use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::visit_mut::VisitMut;
use syn::{Field, Fields, File, ImplItem, Item, ItemStruct, Signature, Visibility};

use super::edits;
use crate::only_code::OnlyCode;

/// The problems in the source of one exercise.
pub fn problems(root: &Path, exercise: &Exercise) -> Result<Vec<String>> {
    let stub = parse(&root.join(exercise.file()))?;
    let solution = parse(&root.join(exercise.solution()))?;
    let suite = parse(&root.join(exercise.suite()))?;
    let mut problems = Vec::new();

    let items = if leaves_fields(&stub) {
        seen_by_suite
    } else {
        public_items
    };
    let (asked, answered) = (items(&stub), items(&solution));
    if asked != answered {
        let only = |these: &[String], those: &[String]| {
            these.iter().filter(|item| !those.contains(item)).cloned().collect::<Vec<_>>()
        };
        problems.push(format!(
            "public items differ: the stub has {:?} where the solution has {:?} (they also come in the same order)",
            only(&asked, &answered),
            only(&answered, &asked)
        ));
    }
    for (file, name) in [(&stub, "stub"), (&solution, "solution")] {
        if looks_outside(file, &[]) {
            problems.push(format!(
                "the {name} uses `crate` or `super`: an exercise stands alone, and uses `slowburn` where it needs more"
            ));
        }
        if module_doc(file).is_empty() {
            problems.push(format!("the {name} has no `//!` at its top"));
        }
    }
    if looks_outside(&suite, &[&["super", &exercise.name], &["crate", "support"]]) {
        problems.push(format!(
            "the suite uses more of `super` and `crate` than `super::{}` and `crate::support`",
            exercise.name
        ));
    }
    if exercise.kind == Kind::Write && !calls_todo(&stub) {
        problems.push("the stub has no `todo!()`, and its kind is not \"bug_hunt\"".into());
    }
    if calls_todo(&solution) {
        problems.push("the solution has a `todo!()`".into());
    }
    problems.extend(problems_of_variants(root, exercise, &stub)?);
    for part in ["Why", "What it costs", "A common wrong turn"] {
        if !module_doc(&solution).contains(part) {
            problems.push(format!("the solution's `//!` has no paragraph \"{part}\""));
        }
    }
    Ok(problems)
}

fn problems_of_variants(root: &Path, exercise: &Exercise, stub: &File) -> Result<Vec<String>> {
    let asked = seen_by_suite(stub);
    let mut problems = Vec::new();
    for variant in edits::variants(root, exercise.chapter.module(), &exercise.name)? {
        let file = syn::parse_file(&variant.text)
            .with_context(|| format!("{} is not Rust", variant.name))?;
        let of_variant = seen_by_suite(&file);
        if of_variant != asked {
            problems.push(format!(
                "{} has the public items {of_variant:?}, and the stub has {asked:?}",
                variant.name
            ));
        }
        if looks_outside(&file, &[]) {
            problems.push(format!("{} uses `crate` or `super`", variant.name));
        }
    }
    Ok(problems)
}

fn parse(path: &Path) -> Result<File> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {path:?}"))?;
    syn::parse_file(&text).with_context(|| format!("{path:?} is not Rust"))
}

fn module_doc(file: &File) -> String {
    file.attrs.iter().map(|attribute| attribute.to_token_stream().to_string()).collect()
}

/// The public API: signatures, and types with all fields, without comments.
fn public_items(file: &File) -> Vec<String> {
    file.items.iter().flat_map(public_item).collect()
}

/// Whether the fields of a struct are the reader's, as in a capstone.
fn leaves_fields(stub: &File) -> bool {
    stub.items.iter().any(|item| match item {
        Item::Struct(ItemStruct { fields: Fields::Named(fields), .. }) => fields.named.is_empty(),
        _ => false,
    })
}

/// As [`public_items`], without private fields and `Drop`, in which variants may differ.
fn seen_by_suite(file: &File) -> Vec<String> {
    let mut file = file.clone();
    for item in &mut file.items {
        if let Item::Struct(ItemStruct { fields: Fields::Named(fields), .. }) = item {
            let is_public = |field: &&Field| matches!(field.vis, Visibility::Public(_));
            fields.named = fields.named.iter().filter(is_public).cloned().collect();
        }
    }
    let mut items = public_items(&file);
    items.retain(|item| !item.starts_with("impl Drop for"));
    items
}

fn public_item(item: &Item) -> Vec<String> {
    let public = |visibility: &Visibility| matches!(visibility, Visibility::Public(_));
    let signature = |signature: &Signature| signature.to_token_stream().to_string();
    match item {
        Item::Fn(function) if public(&function.vis) => vec![signature(&function.sig)],
        Item::Struct(item) if public(&item.vis) => vec![without_docs(item.clone())],
        Item::Enum(item) if public(&item.vis) => vec![without_docs(item.clone())],
        Item::Type(item) if public(&item.vis) => vec![without_docs(item.clone())],
        Item::Trait(item) if public(&item.vis) => vec![without_docs(item.clone())],
        Item::Const(item) if public(&item.vis) => {
            vec![format!(
                "const {}: {}",
                item.ident,
                item.ty.to_token_stream()
            )]
        }
        Item::Impl(item) => {
            let of = match &item.trait_ {
                Some((_, path, _)) => format!("{} for ", path.to_token_stream()),
                None => String::new(),
            };
            let head = format!("impl {of}{}", item.self_ty.to_token_stream());
            let methods = item.items.iter().filter_map(|method| match method {
                ImplItem::Fn(method) if public(&method.vis) || item.trait_.is_some() => {
                    Some(format!("{head}: {}", signature(&method.sig)))
                }
                _ => None,
            });
            methods.collect()
        }
        _ => Vec::new(),
    }
}

/// An item as text, without comments. Private fields are kept: the suite cannot see them, but in a
/// stub they would show the learner the solution's representation.
fn without_docs(item: impl Into<Item>) -> String {
    let mut item = item.into();
    OnlyCode.visit_item_mut(&mut item);
    item.to_token_stream().to_string()
}

/// Whether a path or an import begins with `super` or `crate`, other than with one of `allowed`.
fn looks_outside(file: &File, allowed: &[&[&str]]) -> bool {
    struct Paths<'a> {
        allowed: &'a [&'a [&'a str]],
        found: bool,
    }
    impl Paths<'_> {
        fn check(&mut self, path: &[String]) {
            let outside = path.first().is_some_and(|first| first == "super" || first == "crate");
            let allowed = |allowed: &&[&str]| path.len() >= 2 && path[..2] == **allowed;
            self.found |= outside && !self.allowed.iter().any(allowed);
        }
    }
    impl<'ast> Visit<'ast> for Paths<'_> {
        fn visit_path(&mut self, path: &'ast syn::Path) {
            let names: Vec<String> =
                path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            self.check(&names);
            visit::visit_path(self, path);
        }

        fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
            let mut names = Vec::new();
            let mut tree = &item.tree;
            while let syn::UseTree::Path(path) = tree {
                names.push(path.ident.to_string());
                tree = &path.tree;
            }
            self.check(&names);
        }
    }
    let mut paths = Paths { allowed, found: false };
    paths.visit_file(file);
    paths.found
}

fn calls_todo(file: &File) -> bool {
    struct Todo(bool);
    impl<'ast> Visit<'ast> for Todo {
        fn visit_macro(&mut self, called: &'ast syn::Macro) {
            self.0 |= called.path.is_ident("todo");
        }
    }
    let mut todo = Todo(false);
    todo.visit_file(file);
    todo.0
}

#[cfg(test)]
mod tests {
    use exercises_runner::manifest::Manifest;

    use super::*;

    fn file(text: &str) -> File {
        syn::parse_file(text).unwrap()
    }

    #[test]
    fn public_items_are_compared_without_bodies_comments_and_private_items() {
        let stub = file(
            "/// Doc\npub fn f(x: u8) -> u8 { todo!() }\npub struct S { /** field */ pub a: u8 }\nimpl S { pub fn g(&self) { todo!() } }",
        );
        let solution = file(
            "pub fn f(x: u8) -> u8 { help(x) }\nfn help(x: u8) -> u8 { x }\npub struct S { pub a: u8 }\nimpl S { pub fn g(&self) {} fn h() {} }",
        );
        assert_eq!(public_items(&stub), public_items(&solution));
        assert_eq!(public_items(&stub).len(), 3);
        for other in [
            "pub fn f(x: u8) -> u16 { 0 }",
            "pub fn f(y: u8) -> u8 { 0 }",
            "fn f() {}",
        ] {
            assert_ne!(public_items(&stub)[..1], public_items(&file(other)), "{other}");
        }
    }

    #[test]
    fn a_variant_may_keep_things_in_another_way() {
        let stub = "pub struct S { pub a: u8, b: u8 }\nimpl S { pub fn f(&self) {} }";
        let other = "pub struct S { pub a: u8, c: Vec<u8> }\nimpl S { pub fn f(&self) {} }\nimpl Drop for S { fn drop(&mut self) {} }";
        let public = "pub struct S { pub a: u8, pub b: u8 }\nimpl S { pub fn f(&self) {} }";
        assert_eq!(seen_by_suite(&file(stub)), seen_by_suite(&file(other)));
        assert_ne!(seen_by_suite(&file(stub)), seen_by_suite(&file(public)));
    }

    #[test]
    fn an_exercise_that_uses_another_one_is_seen() {
        let allowed: &[&[&str]] = &[&["super", "softmax"], &["crate", "support"]];
        for fine in [
            "use super::softmax::softmax;",
            "use crate::support::{Case, Random};",
            "use slowburn::sampling::softmax;",
        ] {
            assert!(!looks_outside(&file(fine), allowed), "{fine}");
        }
        for outside in [
            "use super::top_k::top_k;",
            "use super::*;",
            "use crate::greedy::softmax::softmax;",
            "fn f() { super::other::g(); }",
        ] {
            assert!(looks_outside(&file(outside), allowed), "{outside}");
        }
    }

    #[test]
    fn a_variant_with_another_signature_or_a_foreign_path_is_seen() {
        let root = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let manifest = Manifest::parse(
            "[[exercise]]\nname = \"ties\"\nchapter = \"top_k\"\ntitle = \"T\"\nlevel = 1\nminutes = 10\nshort_path = true\nhints = [\"a\", \"b\", \"c\"]\n",
        )
        .unwrap();
        write("exercises/src/top_k/ties.rs", "//! T\npub fn f(x: u8) -> u8 { todo!() }");
        write("exercises/suite/top_k/ties.rs", "use super::ties::f;");
        write(
            "solutions/src/top_k/ties.rs",
            "//! Why: a\n//! What it costs: b\n//! A common wrong turn: c\npub fn f(x: u8) -> u8 { x }",
        );
        let problems = || problems(root.path(), &manifest.exercises[0]).unwrap();
        assert_eq!(problems(), [""; 0]);
        write(
            "solutions/variants/top_k/ties.toml",
            "[wrong_a]\nwhy = 'a'\nfrom = 'f(x: u8)'\nto = 'f(x: u16)'\n\
             [wrong_b]\nwhy = 'b'\nfrom = '{ x }'\nto = '{ crate::top_k::g(x) }'\n",
        );
        let problems = problems();
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert!(problems[0].starts_with("wrong_a has the public items"), "{problems:?}");
        assert_eq!(problems[1], "wrong_b uses `crate` or `super`");
    }

    #[test]
    fn a_todo_is_found_in_code_and_not_in_comments() {
        assert!(calls_todo(&file("impl S { fn f() { if true { todo!() } } }")));
        assert!(!calls_todo(&file("/// todo!()\nfn f() {}")));
    }
}
