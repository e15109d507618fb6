//! Sources without what is not compiled into the crate.

use syn::punctuated::Punctuated;
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, File, Item, ItemMod, Meta, Token};

/// Removes documentation, and items that are compiled for tests only.
pub struct OnlyCode;

impl VisitMut for OnlyCode {
    fn visit_file_mut(&mut self, file: &mut File) {
        file.items.retain(|item| !is_for_tests(attributes(item)));
        visit_mut::visit_file_mut(self, file);
    }

    fn visit_item_mod_mut(&mut self, module: &mut ItemMod) {
        if let Some((_, items)) = &mut module.content {
            items.retain(|item| !is_for_tests(attributes(item)));
        }
        visit_mut::visit_item_mod_mut(self, module);
    }

    fn visit_attributes_mut(&mut self, attributes: &mut Vec<Attribute>) {
        attributes.retain(|attribute| !attribute.path().is_ident("doc"));
    }
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Mod(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Const(item) => &item.attrs,
        _ => &[],
    }
}

/// Whether there is a `#[cfg(test)]`, or one that asks for more besides, such as
/// `#[cfg(all(test, feature = "flex"))]`.
fn is_for_tests(attributes: &[Attribute]) -> bool {
    let is_cfg_test = |attribute: &Attribute| {
        let asks = attribute.parse_args::<Meta>().is_ok_and(|meta| asks_for_tests(&meta));
        attribute.path().is_ident("cfg") && asks
    };
    attributes.iter().any(is_cfg_test)
}

fn asks_for_tests(condition: &Meta) -> bool {
    match condition {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("all") => list
            .parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)
            .is_ok_and(|all| all.iter().any(asks_for_tests)),
        _ => false,
    }
}
