//! The masks of small grammars by trying every text, the ways to spell a text, and token healing.

use std::collections::{BTreeMap, BTreeSet};

use slowburn::model::Input;

use super::*;

/// The characters of the small grammars, the last of which is the two bytes c3 and a9.
const CHARACTERS: [&str; 3] = ["a", "b", "é"];

/// The most bytes of a text whose masks are looked at, and of a token.
const LONGEST: usize = 3;
const TOKEN: usize = 2;

/// Alternatives of at most four characters, each of which may repeat: from wherever a text is inside,
/// it is completed by four characters at most.
fn small_expression() -> impl Strategy<Value = String> {
    let character = prop::sample::select(vec!["a", "b", "é", "[ab]", "[bé]", "."]);
    let repeated = prop::sample::select(vec!["", "", "?", "*", "+", "{0,2}", "??"]);
    let part = (character, repeated).prop_map(|(of, times)| format!("{of}{times}"));
    let branch = prop::collection::vec(part, 1..5).prop_map(|parts| parts.concat());
    prop::collection::vec(branch, 1..4).prop_map(|branches| branches.join("|"))
}

/// Some of the strings of one and two bytes that texts are made of. The first is in it twice.
fn small_tokens() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let bytes = [b'a', b'b', 0xc3, 0xa9];
    let pairs = bytes.iter().flat_map(|&a| bytes.map(|b| vec![a, b]));
    let all: Vec<Vec<u8>> = bytes.iter().map(|&byte| vec![byte]).chain(pairs).collect();
    let some = prop::sample::subsequence(all.clone(), 1..all.len());
    prop_oneof![some, Just(all)].prop_map(|mut tokens| {
        tokens.push(tokens[0].clone());
        tokens
    })
}

/// All texts up to the length that decides, of those that an expression matches.
struct Language {
    texts: BTreeSet<Vec<u8>>,
    /// What they begin with.
    beginnings: BTreeSet<Vec<u8>>,
}

impl Language {
    fn new(pattern: &str, all: &[String]) -> Self {
        let whole = Regex::new(&format!("^(?:{pattern})$")).unwrap();
        let (mut texts, mut beginnings) = (BTreeSet::new(), BTreeSet::new());
        for text in all.iter().filter(|text| whole.is_match(text)) {
            let bytes = text.as_bytes();
            if bytes.len() <= LONGEST {
                texts.insert(bytes.to_vec());
            }
            let most = bytes.len().min(LONGEST + TOKEN);
            beginnings.extend((0..=most).map(|length| bytes[..length].to_vec()));
        }
        Self { texts, beginnings }
    }

    /// The tokens that may come after these bytes, without the end.
    fn next(&self, before: &[u8], tokens: &[Vec<u8>]) -> Vec<u32> {
        let fits = |token: &Vec<u8>| self.beginnings.contains(&[before, token].concat());
        (0..).zip(tokens).filter(|(_, token)| fits(token)).map(|(id, _)| id).collect()
    }
}

/// Every text of these characters, up to as many as decide.
fn all_texts() -> Vec<String> {
    let (mut all, mut longest) = (vec![String::new()], vec![String::new()]);
    for _ in 0..LONGEST + TOKEN + 4 {
        let longer = longest.iter().flat_map(|text| CHARACTERS.map(|c| format!("{text}{c}")));
        longest = longer.collect();
        all.extend_from_slice(&longest);
    }
    all
}

#[test]
fn the_masks_of_small_grammars_are_those_of_trying_every_text() {
    let all = all_texts();
    let seen = std::cell::RefCell::new(BTreeMap::new());
    let count = |what: &'static str| *seen.borrow_mut().entry(what).or_insert(0) += 1;
    runner(256)
        .run(&(small_expression(), small_tokens()), |(pattern, tokens)| {
            let language = Language::new(&pattern, &all);
            let end = tokens.len() as u32;
            let automaton = Automaton::from_regex(&pattern).unwrap();
            let compiled = Constraint::new(automaton, vocabulary(&tokens));
            if language.next(&[], &tokens).is_empty() {
                let empty = matches!(compiled, Err(Error::Request(RequestError::GrammarEmpty)));
                prop_assert_eq!(empty, language.texts.contains(&[][..]), "{}", pattern);
                prop_assert!(compiled.is_err());
                count("refused");
                return Ok(());
            }
            let constraint = compiled.unwrap();
            let mut outputs = vec![(Vec::new(), Vec::new())];
            while let Some((output, bytes)) = outputs.pop() {
                let follower = constraint.follow();
                let fits = language.next(&bytes, &tokens);
                let may_end = language.texts.contains(&bytes);
                let found = follower.next(&output);
                if fits.is_empty() && !may_end {
                    let refused = Error::Request(RequestError::NoTokenFits { step: output.len() });
                    prop_assert_eq!(found.unwrap_err().to_string(), refused.to_string());
                    count("without a token");
                    continue;
                }
                let found = found.unwrap();
                let mut expected = fits.clone();
                expected.extend(may_end.then_some(end));
                let mask: Vec<u32> = found.mask().ids().collect();
                prop_assert_eq!(&mask, &expected, "{}: {:?}", pattern, bytes);
                prop_assert_eq!(found.is_complete(), fits.is_empty());
                let forced = if mask.len() == 1 {
                    fits.clone()
                } else {
                    Vec::new()
                };
                count(if forced.is_empty() {
                    "a choice"
                } else {
                    "no choice"
                });
                prop_assert_eq!(follower.forced(&output, 1).unwrap(), forced);
                if let Some(outside) = (0..=end).find(|id| !mask.contains(id)) {
                    let outside = [output.as_slice(), &[outside]].concat();
                    prop_assert!(follower.next(&outside).is_err());
                }
                for id in fits {
                    let longer = [bytes.as_slice(), &tokens[id as usize]].concat();
                    if longer.len() <= LONGEST {
                        outputs.push(([output.as_slice(), &[id]].concat(), longer));
                    }
                }
            }
            Ok(())
        })
        .unwrap();
    // None of these is a test of nothing.
    for what in ["refused", "without a token", "a choice", "no choice"] {
        assert!(seen.borrow().get(what).is_some_and(|&count| count > 10), "{what}: {seen:?}");
    }
}

#[test]
fn an_automaton_behind_bytes_reads_these_first_and_then_what_it_read_before() {
    let bytes = prop::sample::select(vec![b'a', b'b', b'z', 0xc3, 0xa9]);
    let strings = (prop::collection::vec(bytes.clone(), 0..5), prop::collection::vec(bytes, 0..5));
    runner(512)
        .run(&(small_expression(), strings), |(pattern, (before, text))| {
            for automaton in [
                Automaton::from_regex(&pattern).unwrap(),
                Automaton::anything(),
            ] {
                let behind = automaton.behind(&before);
                prop_assert_eq!(behind.states(), automaton.states() + before.len());
                let accepts = |automaton: &Automaton, text: &[u8]| {
                    automaton.read(Automaton::START, text).map(|state| automaton.accepts(state))
                };
                let whole = [before.as_slice(), &text].concat();
                prop_assert_eq!(accepts(&behind, &whole), accepts(&automaton, &text));
                if let Some(rest) = text.strip_prefix(before.as_slice()) {
                    prop_assert_eq!(accepts(&behind, &text), accepts(&automaton, rest));
                } else {
                    let is_inside = before.starts_with(&text);
                    prop_assert_eq!(accepts(&behind, &text), is_inside.then_some(false));
                }
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_token_without_a_choice_takes_a_number_of_the_generator() {
    let automaton = Automaton::from_regex("ab[ab]c").unwrap();
    let constraint = Constraint::new(automaton, vocabulary(&["a", "b", "c"])).unwrap();
    for seed in 0..20 {
        let params = SamplingParams { seed, ..SamplingParams::default() };
        let mut free = Sampler::new(&params).unwrap();
        let mut bound = free.clone().with_constraint(&constraint);
        let mut output = Vec::new();
        for _ in 0..4 {
            free.sample(&[0.0; 4], &[], &[]).unwrap();
            output.push(bound.sample(&[0.0; 4], &[], &output).unwrap());
        }
        assert!(output.starts_with(&[0, 1]) && output[3] == 2, "{output:?}");
        assert_eq!(bound.uniform(), free.uniform(), "four tokens, and as many numbers");
    }
}

/// All ways to write the texts of a constraint behind a prompt: their tokens, their probability under
/// the constraint, and that of the model.
fn ways(
    pretrained: &Pretrained,
    prompt: &[u32],
    constraint: &Constraint,
) -> BTreeMap<Vec<u32>, (f64, f64)> {
    let (follower, mut found) = (constraint.follow(), BTreeMap::new());
    let mut open = vec![(Vec::new(), 1.0, 1.0)];
    while let Some((output, bound, free)) = open.pop() {
        let next = follower.next(&output).unwrap();
        if next.is_complete() {
            found.insert(output, (bound, free));
            continue;
        }
        let tokens = [prompt, &output].concat();
        let logits = pretrained.model.forward(&mut [Input::whole(&tokens)]).unwrap().remove(0);
        let probabilities = softmax(&logits);
        let share: f64 = next.mask().ids().map(|id| f64::from(probabilities[id as usize])).sum();
        for id in next.mask().ids() {
            let probability = f64::from(probabilities[id as usize]);
            let output = [output.as_slice(), &[id]].concat();
            open.push((output, bound * probability / share, free * probability));
        }
    }
    found
}

/// How many sequences of tokens have these bytes.
fn spellings(vocabulary: &Vocabulary, text: &[u8]) -> usize {
    let mut ways = vec![1];
    for end in 1..=text.len() {
        let is_last = |begin: &usize| {
            let mut ids = 0..vocabulary.size() as u32;
            ids.any(|id| *vocabulary.bytes(id) == text[*begin..end])
        };
        ways.push((0..end).filter(is_last).map(|begin| ways[begin]).sum());
    }
    ways[text.len()]
}

#[test]
fn a_text_has_the_probability_of_all_ways_to_write_it() {
    let pretrained = bundled(&device());
    let texts = [" hedgehog", " dog"];
    let grammar = Grammar::Choice(texts.map(str::to_owned).into());
    let constraint = pretrained.constraint(&grammar).unwrap();
    let prompt = pretrained.prompt_ids("One day, a small").unwrap();
    let ways = ways(&pretrained, &prompt, &constraint);

    let vocabulary = constraint.vocabulary();
    let mut sum = 0.0;
    for text in texts {
        let of_text =
            |(ids, _): &(&Vec<u32>, &(f64, f64))| bytes(vocabulary, ids) == text.as_bytes();
        let all: Vec<_> = ways.iter().filter(of_text).collect();
        assert_eq!(all.len(), spellings(vocabulary, text.as_bytes()), "{text:?}");
        assert!(all.len() > 4);
        let canonical = &ways[&pretrained.tokenizer.encode_bare(text).unwrap()];
        let [bound, free] =
            [0, 1].map(|which| all.iter().map(|(_, way)| [way.0, way.1][which]).sum::<f64>());
        sum += bound;
        // The others are a little, and not nothing.
        assert!(canonical.0 < bound && canonical.0 > 0.9 * bound, "{canonical:?} of {bound}");
        assert!(canonical.1 < free && canonical.1 > 0.9 * free, "{canonical:?} of {free}");
    }
    // Whatever is written is one of them.
    assert!((sum - 1.0).abs() < 1e-5, "{sum}");
    for seed in 0..20 {
        let options = Options {
            sampling: SamplingParams { seed, ..SamplingParams::default() },
            constraint: Some(constraint.clone()),
            logprobs: Some(0),
            ..Options::default()
        };
        let found = alone(&pretrained.model, &prompt, &options);
        let logprob: f64 = found.logprobs.iter().map(|token| f64::from(token.logprob)).sum();
        let way = ways[&found.ids].0;
        assert!((logprob.exp() - way).abs() < 1e-4, "{:?}: {logprob} and {way}", found.ids);
    }
}

#[test]
fn a_healed_prompt_goes_on_with_its_last_token_or_a_longer_one() {
    let pretrained = bundled(&device());
    let tokenizer = &pretrained.tokenizer;
    let text = "There was a ";
    let whole = pretrained.prompt_ids(text).unwrap();
    assert_eq!(tokenizer.token_bytes(whole[whole.len() - 1]).unwrap(), b" ");
    let animals = pretrained.constraint(&Grammar::Regex("(fox|cat|dog)".to_owned())).unwrap();
    for seed in 0..10 {
        for constraint in [None, Some(&animals)] {
            let mut prompt = whole.clone();
            let healed = pretrained.heal(&mut prompt, constraint).unwrap();
            assert_eq!(prompt, whole[..whole.len() - 1]);
            let options = Options {
                max_tokens: 5,
                sampling: SamplingParams { seed, ..SamplingParams::default() },
                constraint: healed,
                ..Options::default()
            };
            let found = alone(&pretrained.model, &prompt, &options);
            let first = tokenizer.token_bytes(found.ids[0]).unwrap();
            assert!(first.len() > 1, "a word begins with its space: {first:?}");
            let all = tokenizer.decode(&[prompt, found.ids].concat()).unwrap();
            let rest = all.strip_prefix(text).unwrap();
            assert!(constraint.is_none() || ["fox", "cat", "dog"].contains(&rest), "{all:?}");
        }
    }
}

#[test]
fn half_a_character_is_healed_and_what_has_no_text_stays() {
    let pretrained = bundled(&device());
    let vocabulary = pretrained.vocabulary();
    let half = (0..vocabulary.size() as u32).find(|&id| vocabulary.bytes(id) == [0xc3]).unwrap();
    let mut prompt = vec![0, 5, half];
    let healed = pretrained.heal(&mut prompt, None).unwrap().unwrap();
    assert_eq!(prompt, [0, 5]);
    let first = healed.follow().next(&[]).unwrap();
    assert!(first.mask().contains(half));
    assert!(first.mask().ids().all(|id| vocabulary.bytes(id).starts_with(&[0xc3])));

    let end = pretrained.model.config().eos_token_ids[0];
    for whole in [vec![5], vec![5, end]] {
        let mut prompt = whole.clone();
        assert!(pretrained.heal(&mut prompt, None).unwrap().is_none());
        assert_eq!(prompt, whole);
    }
}
