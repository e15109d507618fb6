use std::collections::BTreeMap;

use super::token_trie::{Node, token_trie};
use crate::support::{Case, Random};

fn vocabulary(tokens: &[&str]) -> Vec<Vec<u8>> {
    tokens.iter().map(|token| token.as_bytes().to_vec()).collect()
}

fn node(tokens: &[u32], children: Vec<(u8, Node)>) -> Node {
    Node {
        tokens: tokens.to_vec(),
        children: children.into_iter().collect(),
    }
}

fn check(rule: &str, tokens: &[&str], expected: Node) {
    let vocabulary = vocabulary(tokens);
    let case = Case::rule(rule).given("vocabulary", tokens);
    case.equal(expected, token_trie(&vocabulary));
}

#[test]
fn the_example_of_the_task() {
    let cat = node(&[2], vec![(b't', node(&[1], Vec::new()))]);
    let root = vec![
        (b'a', node(&[0], Vec::new())),
        (b'b', node(&[3], Vec::new())),
        (b'c', node(&[], vec![(b'a', cat)])),
    ];
    check(
        "the example above the function: a node for each beginning of a token, and each id at the node where its bytes end",
        &["a", "cat", "ca", "b", ""],
        node(&[], root),
    );
}

#[test]
fn a_token_is_where_its_bytes_end() {
    let ab = node(&[0], vec![(b'b', node(&[1], Vec::new()))]);
    check(
        "a token may begin another one",
        &["a", "ab"],
        node(&[], vec![(b'a', ab.clone())]),
    );
    let ab = node(&[1], vec![(b'b', node(&[0], Vec::new()))]);
    check("whatever their order", &["ab", "a"], node(&[], vec![(b'a', ab)]));
    let twice = node(&[], vec![(b'a', node(&[0, 2], Vec::new()))]);
    check("several tokens may have the same bytes", &["a", "", "a"], twice);
    check("an empty vocabulary has only a root", &[], node(&[], Vec::new()));
    check("a token without bytes is nowhere", &["", ""], node(&[], Vec::new()));
    let end = node(&[], vec![(b'>', node(&[0], Vec::new()))]);
    let tag = node(&[], vec![(b'b', end)]);
    check("bytes are bytes, whatever they mean", &["<b>"], node(&[], vec![(b'<', tag)]));
}

#[test]
fn what_looks_special_has_bytes() {
    let rule = "a token is special if it has no bytes, and not by what its bytes look like";
    let looks = [
        "<s>",
        "</s>",
        "<unk>",
        "<pad>",
        "<|endoftext|>",
        "<|im_end|>",
        "[CLS]",
        "[INST]",
        "<0x0A>",
        "<",
        ">",
        "\n",
        " ",
        "\0",
        "\u{2581}",
        "##ing",
    ];
    for token in looks {
        let case = Case::rule(rule).given("vocabulary", [token]);
        let mut found = BTreeMap::new();
        listed(&token_trie(&vocabulary(&[token])), &[], &mut found);
        case.equal(BTreeMap::from([(token.as_bytes().to_vec(), vec![0])]), found);
    }
}

#[test]
fn bytes_are_not_characters() {
    // U+00E9 and U+00E8 share their first byte.
    let accents = vec![
        (0xa8, node(&[1], Vec::new())),
        (0xa9, node(&[0], Vec::new())),
    ];
    let root = node(&[], vec![(0xc3, node(&[], accents))]);
    check("the two bytes of a character are two nodes", &["\u{e9}", "\u{e8}"], root);
    let case = Case::rule("a byte doesn't have to be text").given("vocabulary", [[0xff]]);
    case.equal(node(&[], vec![(0xff, node(&[0], Vec::new()))]), token_trie(&[vec![0xff]]));
}

/// The tokens by their bytes, and the number of nodes.
fn listed(node: &Node, before: &[u8], found: &mut BTreeMap<Vec<u8>, Vec<u32>>) -> usize {
    if !node.tokens.is_empty() {
        found.insert(before.to_vec(), node.tokens.clone());
    }
    let below = node.children.iter().map(|(&byte, child)| {
        let bytes = [before, &[byte]].concat();
        listed(child, &bytes, found)
    });
    1 + below.sum::<usize>()
}

#[test]
fn any_vocabulary() {
    let mut random = Random::new(14);
    for _ in 0..300 {
        let count = random.below(30);
        let letters = 1 + random.below(3);
        let mut token = || -> Vec<u8> {
            let length = random.below(5);
            (0..length).map(|_| b'a' + random.below(letters) as u8).collect()
        };
        let vocabulary: Vec<Vec<u8>> = (0..count).map(|_| token()).collect();
        let case = Case::rule("every token at its bytes").given("vocabulary", &vocabulary);
        let mut expected: BTreeMap<Vec<u8>, Vec<u32>> = BTreeMap::new();
        let mut beginnings = std::collections::BTreeSet::new();
        for (id, bytes) in (0..).zip(&vocabulary).filter(|(_, bytes)| !bytes.is_empty()) {
            expected.entry(bytes.clone()).or_default().push(id);
            beginnings.extend((1..=bytes.len()).map(|end| &bytes[..end]));
        }
        let mut found = BTreeMap::new();
        let nodes = listed(&token_trie(&vocabulary), &[], &mut found);
        case.equal(expected, found);
        let case = Case::rule("a node for each beginning of a token, and the root")
            .given("vocabulary", &vocabulary);
        case.equal(1 + beginnings.len(), nodes);
    }
}

#[test]
fn a_vocabulary_may_be_large() {
    let token = |id: u32| id.to_be_bytes()[1..].to_vec();
    let case = Case::rule("the id of a token is its index, and all of its bytes count")
        .given("vocabulary", "70,000 tokens of three bytes: 00 00 00, 00 00 01, and so on");
    let vocabulary: Vec<Vec<u8>> = (0..70_000).map(token).collect();
    let mut found = BTreeMap::new();
    listed(&token_trie(&vocabulary), &[], &mut found);
    let ids = [0, 255, 256, 65_535, 65_536, 69_999];
    let listed: Vec<_> = ids.iter().map(|&id| found.get(&token(id)).cloned()).collect();
    case.equal(ids.map(|id| Some(vec![id])).to_vec(), listed);
}

#[test]
fn a_token_may_be_long() {
    let vocabulary = [vec![b' '; 64], vec![b' '; 63]];
    let case = Case::rule("a node for each byte").given("vocabulary", "64 spaces, and 63 spaces");
    let mut found = BTreeMap::new();
    let nodes = listed(&token_trie(&vocabulary), &[], &mut found);
    case.equal(("nodes", 65), ("nodes", nodes));
    let lengths: Vec<_> = found.iter().map(|(bytes, ids)| (bytes.len(), ids.clone())).collect();
    case.equal(vec![(63, vec![1]), (64, vec![0])], lengths);
}
