use your_engine::Parts;

use super::group_product::{Group, product};

pub fn take_over(parts: &mut Parts) {
    parts.group_product = |groups, x| {
        let group = |group: &your_engine::parts::Group| Group {
            scale: group.scale,
            integers: group.integers,
        };
        let groups: Vec<Group> = groups.iter().map(group).collect();
        product(&groups, x)
    };
}
