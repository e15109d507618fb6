//! The plot families. Each is a function that tells it from begin to end, however long it is.

mod deeds;
mod hearts;
mod outdoors;
mod quests;
mod things;
mod troubles;

use super::choose::Chooser;
use super::lexicon::Kind;
use super::tell::Tale;
use super::world::{place, who};

/// A plot family: its name, its weight, and how it is told.
pub type Plot = (&'static str, u32, fn(Chooser) -> Tale);

/// All plot families.
pub const PLOTS: &[Plot] = &[
    ("lost thing", 12, things::lost),
    ("broken thing", 10, things::broken),
    ("quarrel", 8, things::quarrel),
    ("trade", 8, things::trade),
    ("stuck", 10, troubles::stuck),
    ("storm", 8, troubles::storm),
    ("lost way", 8, troubles::lost_way),
    ("noise", 8, troubles::noise),
    ("skill", 10, deeds::skill),
    ("heavy", 8, deeds::heavy),
    ("build", 9, outdoors::build),
    ("garden", 8, outdoors::garden),
    ("race", 8, outdoors::race),
    ("hungry", 9, hearts::hungry),
    ("surprise", 8, hearts::surprise),
    ("sick", 8, hearts::sick),
    ("newcomer", 7, hearts::newcomer),
    ("secret", 7, quests::secret),
    ("moon", 6, quests::moon),
    ("parcel", 8, quests::parcel),
];

/// Chooses two characters and a place.
fn begin(
    mut ch: Chooser,
    first: impl Fn(&Kind) -> bool,
    second: impl Fn(&Kind, &Kind) -> bool,
    weathers: &[&'static str],
    times: &[&'static str],
) -> Tale {
    let first_person = ch.chance(8);
    let a = who(&mut ch, &[], first);
    let kind = a.kind;
    let mut b = who(&mut ch, std::slice::from_ref(&a), |k| second(kind, k));
    b.friend = ch.chance(50);
    let place = place(&mut ch, weathers, times);
    Tale::new(ch, vec![a, b], place, first_person)
}

/// Adds a third character.
fn third(t: &mut Tale, fits: impl Fn(&Kind) -> bool) {
    let mut c = who(&mut t.ch, &t.cast, fits);
    c.friend = t.ch.chance(30);
    t.cast.push(c);
}

fn any(_: &Kind) -> bool {
    true
}

fn any2(_: &Kind, _: &Kind) -> bool {
    true
}

/// An ending: one of the plot's own, or one that fits any day out with a friend.
fn ending(t: &mut Tale, own: &[&str]) {
    if t.ch.chance(55) {
        t.one(own);
        return;
    }
    let shared: &[&str] = &[
        "When {#dusk}, {AB} were still [laughing|talking|smiling] about it.",
        "That night, {A} [slept well|fell asleep at once|lay in bed and smiled], and [dreamed of {#food}|the wind sang outside|all was quiet].",
        "Then {AB} [sat down|went inside] and shared {#food} until {#dusk}.",
        "From that day on, {AB} were [the best of friends|hardly ever apart|always ready to help each other].",
        "\"[What a day|What a {time}|Well, well],\" {A!said}, and {B} [nodded|laughed|had to agree].",
        "And if you ever [pass that way|go there], you may [see {AB:them}|hear {AB:them} laugh] [still|on a {weather} {time}].",
        "{AB} went home [side by side|slowly|hungry and {#glad}], and {#dusk}.",
        "It had been [a good|a long|quite a] day, and {A} was {#glad}.",
        "{B} gave {A:o} a [{#snack}|{#colour} {#smalltreasure}] to remember the day by.",
    ];
    let helped: &[&str] = &[
        "\"[Same time|Shall we do it again] tomorrow?\" {B!asked}. \"[Yes|Of course|After breakfast],\" {A!said}.",
        "\"Thank you,\" {A!said}. \"[Any time|That is what friends are for|You would do the same],\" {B!said}, and {AB:they} [both laughed|went to find {#food}].",
    ];
    if t.ch.chance(25) && !t.helper {
        t.one(helped);
    } else {
        t.one(shared);
    }
}
