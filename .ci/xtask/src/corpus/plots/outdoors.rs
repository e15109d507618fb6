//! Plots out of doors: building, growing, racing.
//!
//! Long: one plot each, told from begin to end.

use super::{any, any2, begin, ending};
use crate::corpus::choose::Chooser;
use crate::corpus::tell::Tale;
use crate::corpus::world::{DAY, FAIR};

/// What to build, its parts, how the first one fails, and the better way.
const BUILDS: &[(&str, &str, &str, &str, &str)] = &[
    (
        "bridge",
        "to get across the stream",
        "[straw|reeds|thin sticks]",
        "it sank with a splash",
        "[thick logs|flat stones]",
    ),
    (
        "raft",
        "to visit the island",
        "[mud and grass|twigs]",
        "it came apart in the water",
        "[dry logs and rope|barrels and boards]",
    ),
    (
        "hut",
        "for rainy days",
        "[leaves|hay]",
        "the wind blew it over",
        "[branches and clay|stones and moss]",
    ),
    (
        "tower",
        "to see the sea",
        "[mud|sand|snail shells]",
        "it leaned to one side and fell",
        "[flat stones|bricks]",
    ),
    (
        "bench",
        "for the old folk of the village",
        "[soft branches|crates]",
        "it broke at the first sit",
        "[oak boards|one long log]",
    ),
    (
        "swing",
        "for the long summer",
        "[grass|wool]",
        "it snapped at the first push",
        "[strong rope and a board|rope and an old tyre]",
    ),
    (
        "sledge",
        "for the snow that was coming",
        "[bark|a tin tray]",
        "it bent in the middle",
        "[smooth boards|ash wood]",
    ),
];

/// Something is built, at the second try.
pub fn build(ch: Chooser) -> Tale {
    let mut t = begin(ch, |k| !k.flies, any2, FAIR, DAY);
    let (x, why, weak, fall, good) = *t.ch.pick(BUILDS);
    for (name, value) in [
        ("x", x),
        ("why", why),
        ("weak", weak),
        ("fall", fall),
        ("good", good),
    ] {
        t.set(name, value);
    }
    t.open("was [making a plan|drawing in the sand|measuring things with a string|thinking hard]");
    t.one(&[
        "{A} wanted to build a {x} {why}.",
        "\"I shall build a {x} {why},\" {A!said}[ to {A:self}|].",
    ]);
    t.one(&[
        "{A} was in a hurry, so {A:he} took {weak}. It was [quick|easy], but {fall}.",
        "What was nearest was {weak}, so {A} used that. {#soon} the {x} was ready, but {fall}.",
    ]);
    t.maybe(45, "\"{#cry}!\" {A!said}[, and sat down|, and kicked a pebble|].");
    t.para();
    t.one(&[
        "{+B} had been watching[ from behind a bush| all along|]. \"[What is it meant to be|Is that a {x}]?\" {B!asked}.",
        "Along came {+B}, who knew [a thing or two|a lot] about [building|wood and stone].",
        "\"You need help,\" said {+B}, [chewing a straw|sitting on the wall].",
    ]);
    if t.ch.chance(60) {
        t.looks("B");
    }
    t.one(&[
        "\"[Try|Take] {good},\" {B!said}. \"It takes longer, but it [lasts|holds].\"",
        "\"That will never do,\" {B!said}. \"You want {good}.\"",
    ]);
    if t.ch.chance(35) {
        t.favour();
    } else {
        t.maybe(
            30,
            "{A} did not like to be told, but [{B} was right|the first {x} had been very bad].",
        );
    }
    t.one(&[
        "So {AB:they} [carried|dragged|gathered] {good} until [lunch|noon|their legs ached].",
        "One [lifted|held] and the other [tied|hammered|measured], and {AB:they} sang [a silly song|about {#food}] while {AB:they} worked.",
        "It began to rain, but {AB:they} put on [hats|{#colour} hats|coats] and went on.",
    ]);
    t.para();
    t.one(&[
        "When {#dusk}, there it was: a [fine|strong|real|splendid] {x}.",
        "On the [second|third] day the {x} was ready, [strong and straight|a bit crooked but strong].",
    ]);
    t.one(&[
        "{A} tried it first. It [creaked|wobbled], but it held.",
        "{A} tested it {#number} times, just to be sure.",
        "\"You first,\" {B!said}. \"No, you,\" {A!said}. So {AB:they} went together.",
    ]);
    ending(
        &mut t,
        &[
            "{AB:they} named it [Old Wobble|the Second Try].",
            "Everyone [came to see|used] the {x}, and nobody asked about the first one.",
            "\"Slow is [also fast|sometimes quicker],\" {A!said}, and {B} [wrote that down|laughed].",
        ],
    );
    t
}
/// A seed needs care.
pub fn garden(ch: Chooser) -> Tale {
    let mut t = begin(ch, any, any2, &["warm", "fresh", "sunny", "cloudy", "bright"], DAY);
    t.set("p", "[pumpkin|bean|sunflower|pea|strawberry|carrot|tomato|rose]");
    t.set("c", "{#colour}");
    t.place.spot = *t.ch.pick(&[
        "in the garden",
        "behind the shed",
        "by the garden wall",
        "near the gate",
    ]);
    t.open("was [digging a hole|planting something|drawing a line in the earth]");
    t.one(&[
        "{A} had one {p} seed, [a gift from Grandmother|found in an old coat|bought for a {c} button].",
        "It was for a {p} seed, no bigger than [a crumb|an ant|a bead].",
    ]);
    t.one(&[
        "{A} covered it with earth, sat down and waited. Nothing happened.",
        "\"Grow!\" {A!said}. It did not. \"[Please|Hurry up],\" {A!added}.",
        "Every hour {A} [dug it up|lifted the earth] to see if it had grown. It had not.",
    ]);
    t.para();
    t.one(&[
        "{+B} [leaned|looked] over the [fence|wall]. \"What are you [doing|waiting for]?\" {B!asked}. \"It will not grow,\" {A!said}.",
        "\"It is no good,\" {A!said} when {+B} came by.",
    ]);
    if t.ch.chance(55) {
        t.looks("B");
    }
    t.one(&[
        "\"A seed needs water, sun and time,\" {B!said}. \"[Mostly|Above all] time.\"",
        "\"Are you thirsty in the morning?\" {B!asked}. \"[Yes|Very]!\" {A!said}. \"So is your seed.\"",
    ]);
    t.one(&[
        "So {A} [filled a can|carried a bucket] from the [well|stream|pond] every [morning|evening], and {B} [pulled up weeds|kept the snails away|sang to it].",
        "From then on {A} watered it [with a teacup|with a {c} can|from an old pot] every [morning|evening].",
    ]);
    match t.ch.below(4) {
        0 => t.say("Then came a dry week. The [well|stream] was nearly empty, so {AB:they} [carried water up from the river|saved every drop from the dishes]."),
        1 => t.say("One night there was frost, and {A} went out to cover the seed with [a hat|a blanket|straw]."),
        2 => t.say("A [fat|slow|hungry] snail came to eat the first leaf. {B} [carried it|showed it the way] to [the ditch|a heap of old lettuce] instead."),
        _ => t.say("After {#number} days, a [tiny|small|pale] green leaf [came out|looked out] of the earth. {A} [danced around it|told everybody|gave it a name]."),
    }
    t.para();
    t.set(
        "grown",
        match t.get("p") {
            "sunflower" => "the sunflower was taller than the [shed|roof]",
            "rose" => "the rose opened, [{#colour}|pink and white] and sweet",
            "bean" | "pea" => "the plant had climbed up to the [window|roof] and was full of {p}s",
            "strawberry" => "there were {#number} red strawberries under the leaves",
            "carrot" => "a fat carrot was ready to be pulled",
            "tomato" => "there were {#number} round tomatoes on the plant",
            _ => "the pumpkin was so big that {A} could [sit on it|hide behind it]",
        }
        .to_string()
        .as_str(),
    );
    t.one(&[
        "By the end of summer, {grown}.",
        "The weeks went by, and one morning {grown}.",
        "[Slowly|Little by little] it grew, until {grown}.",
    ]);
    let eat: &[&str] = if matches!(t.get("p"), "sunflower" | "rose") {
        &[
            "[Bees|Everyone in the village|Butterflies] came to [visit|see it].",
            "{A} [put a chair|sat down] beside it and [looked at it|smiled] all day.",
        ]
    } else {
        &[
            "{AB:they} [cooked|shared] it all with [the neighbours|the whole lane], and it tasted of [sun|summer].",
            "{A} gave the [first|best] bite to {B}.",
        ]
    };
    t.one(eat);
    t.one(&[
        "And {A} kept one seed for next year.",
        "\"[You were right|It was worth it],\" {A!said}. \"Mostly, it was time.\"",
        "\"What shall we plant next?\" {B!asked}. \"[Pancakes|A pie tree|Something faster],\" {A!said}.",
        "{A} has {#number} seeds this year, and a great deal of patience.",
    ]);
    t
}

/// A race goes differently from what was expected.
pub fn race(ch: Chooser) -> Tale {
    let mut t = begin(ch, |k| !k.flies, |_, k| !k.flies, FAIR, DAY);
    t.set("goal", "[the old oak|the mill|the big rock|the red gate|the bridge]");
    t.set(
        "prize",
        "[a cherry pie|a {#colour} ribbon|a honey cake|a silver cup|a {#colour} hat]",
    );
    t.open("was [getting ready for a race|stretching]");
    t.one(&[
        "The race went to {goal} and back, and the prize was {prize}.",
        "Everyone wanted to win the great race, because the prize was {prize}.",
    ]);
    t.one(&[
        "The fastest of all was {+B}, who [had never lost|said so every day].",
        "\"I will win, as always,\" said {+B}[, yawning|].",
        "Beside {A:o} stood {+B}, who [grinned|winked|waved].",
    ]);
    if t.ch.chance(60) {
        t.looks("B");
    }
    t.say("\"[Ready|On your marks], [steady|set], go!\"");
    t.para();
    t.one(&[
        "{B} [shot off|was ahead] at once. {A} [ran|went] as fast as {A:he} could, but it was no use.",
        "At first {AB:they} ran side by side. At the [mill|hill|stream], {B} was [ahead|in front].",
        "{A} started [too late|badly] because of a [bee|sneeze|yawn], and {B} was soon far ahead.",
    ]);
    match t.ch.below(4) {
        0 => {
            t.one(&[
                "Then {B} saw [a plum tree|a soft patch of moss|a puddle shaped like a boat] and stopped [for a moment|for a bite|to look]. There was plenty of time, or so {B:he} thought.",
                "Since {B} was so far in front, {B:he} lay down [for a nap|under a {#tree}].",
            ]);
            t.one(&[
                "{A} did not stop. Step after step, {A:he} went around {goal} and passed {B} too.",
                "When {B} looked up, {A} was [nearly home|only a dot far away].",
            ]);
            t.say("{A} won by [a nose|ten steps|a whole minute], and [nobody was more surprised|the crowd went wild].");
            t.set("end", "won");
        }
        1 => {
            t.one(&["Then {B} tripped over a [root|stone|bucket] and [hurt {B:his} foot|could not get up].", "But at {goal}, {B} slipped [in the mud|on wet leaves] and cried out."]);
            t.one(&["{A} could have run on and won. Instead {A:he} stopped and [helped {B:o} up|gave {B:o} a shoulder to lean on].", "\"Go on, you can win now!\" {B!said}. \"[Not without you|Lean on me],\" {A!said}."]);
            t.say("{AB} came in last, [side by side|slowly], and everyone [cheered|clapped] as if {AB:they} had won.");
            t.set("end", "last");
        }
        2 => {
            t.say("Then dark clouds came, and it [rained|poured]. {B} [did not want to get wet|hid under a tree], but {A} [liked rain|only laughed] and ran on, [splashing|singing] through the puddles.");
            t.say("{A} came in first, [dripping|muddy from top to toe] and {#glad}.");
            t.set("end", "won");
        }
        _ => {
            t.say("{A} knew a [short cut|gap in the hedge], but it was not [allowed|fair], so {A:he} stayed on the path.");
            t.say("{B} won. {A} came [second|third|last], but {A:he} had never run so [fast|far] before.");
            t.set("end", "lost");
        }
    }
    t.para();
    let own: &[&str] = match t.get("end") {
        "won" => &[
            "\"[Well run|You were better today],\" {B!said}. {A} took home the prize and [told everyone about {B}|let {B:o} hold it first].",
            "{A} won the prize and gave half of the [glory|cheers] to {B}.",
            "{B} asked for another race. \"[Tomorrow|After lunch|Next year],\" {A!said}, and lay down in the grass.",
        ],
        "last" => &[
            "The judge [thought for a while|wiped her eyes] and gave the prize to both of {AB:them}.",
            "\"You lost because of me,\" {B!said}. \"[I won a friend|I did not notice],\" {A!said}.",
            "And the prize? A [snail|beetle|grandmother] won it, and [nobody minded|it was a great day for her].",
        ],
        _ => &[
            "\"You could have taken the short cut,\" {B!said}. \"[Then I would not know how fast I am|That would not be my race],\" {A!said}.",
            "{B} looked at the prize, then at {A}. \"[Half of this is yours|You have earned it too],\" {B!said}.",
        ],
    };
    t.one(own);
    ending(
        &mut t,
        &[
            "The next day {AB:they} ran again, just for fun.",
            "{A} slept [very well|like a stone] that night, with {#number} [blisters|bruises] and a smile.",
        ],
    );
    t
}
