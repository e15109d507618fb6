//! Plots about doing: learning and moving.
//!
//! Long: one plot each, told from begin to end.

use super::{any2, begin, ending, third};
use crate::corpus::choose::Chooser;
use crate::corpus::tell::Tale;
use crate::corpus::world::{DAY, FAIR};

/// What to learn, what went wrong, the advice, and what went right.
type Skill = (&'static str, &'static [&'static str], &'static [&'static str], &'static str);

const SKILLS: &[Skill] = &[
    (
        "whistle",
        &[
            "only air came out",
            "it sounded like a wet sock",
            "{A:he} blew crumbs everywhere",
        ],
        &[
            "Wet your lips first",
            "Make your mouth small and round",
            "Blow softly, not hard",
        ],
        "a clear, high note flew over the [roofs|trees|meadow]",
    ),
    (
        "juggle",
        &[
            "the apples fell on {A:his} head",
            "all {#number} plums rolled away",
            "an apple landed in the soup",
        ],
        &[
            "Start with two",
            "Watch the top, not the bottom",
            "Throw a little higher",
        ],
        "{#number} apples flew up and came down again, round and round",
    ),
    (
        "fly a kite",
        &[
            "the kite fell into a bush",
            "the string got tied in knots",
            "the kite pulled {A:o} into a ditch",
        ],
        &[
            "Wait for the wind",
            "Run into the wind, not away from it",
            "Let the string out slowly",
        ],
        "the {#colour} kite went up, up, up, [over the trees|as high as the clouds]",
    ),
    (
        "bake bread",
        &[
            "it came out as hard as a [rock|brick]",
            "the dough stuck to the [ceiling|table]",
            "smoke came out of the oven",
        ],
        &[
            "Give the dough time to rest",
            "Use warm water",
            "Do not open the oven so soon",
        ],
        "the bread came out [round and golden|soft and brown]",
    ),
    (
        "skip with a rope",
        &[
            "the rope caught {A:his} feet",
            "{A:he} fell flat on {A:his} nose",
            "the rope wrapped itself around a post",
        ],
        &["Listen to the rope", "Jump small", "Count out loud"],
        "the rope went round {#number} times without a stop",
    ),
    (
        "play the drum",
        &[
            "it sounded like falling pots",
            "everyone covered their ears",
            "the stick flew out of the window",
        ],
        &[
            "Tap softly at first",
            "Listen to your own heart",
            "Count to four, again and again",
        ],
        "it was a [real|fine] beat, and [feet began to dance|the spoons hopped on the table]",
    ),
    (
        "skate on ice",
        &[
            "{A:his} feet went in two directions",
            "{A:he} sat down hard",
            "{A:he} slid into a snowman",
        ],
        &[
            "Bend your knees",
            "Look ahead, not down",
            "Push gently to the side",
        ],
        "{A:he} glided [across the ice|all the way around] like a [leaf|swan]",
    ),
    (
        "swim",
        &[
            "{A:he} splashed and swallowed water",
            "{A:he} sank like a stone",
            "{A:he} went round in a circle",
        ],
        &[
            "Breathe out slowly",
            "Kick gently",
            "The water will hold you if you let it",
        ],
        "{A:he} floated, and kicked, and swam [to the other side|all the way to the reeds]",
    ),
];

/// Somebody learns something by practice.
pub fn skill(ch: Chooser) -> Tale {
    let mut t = begin(ch, |k| !k.swims && !k.flies, any2, FAIR, DAY);
    let all: Vec<&Skill> = SKILLS
        .iter()
        .filter(|s| {
            (s.0 != "swim" || t.cast[1].kind.swims)
                && (s.0 != "fly a kite" || t.place.weather == "windy")
        })
        .collect();
    let &&(what, fails, advice, right) = t.ch.pick(&all);
    if what == "skate on ice" {
        t.place.weather = "frosty";
    }
    t.set("what", what);
    if what == "swim" {
        t.place.spot = *t.ch.pick(&["by the pond", "beside the lake", "near the river"]);
    }
    t.open("was watching [the others|the children|some friends] [with a sigh|closely]");
    t.one(&[
        "{A} wanted to {what} more than anything[ in the world|], but {A:he} did not know how.",
        "[They could all|Every one of them could] {what}. Only {A} could not.",
    ]);
    let first = t.ch.below(fails.len());
    let f = fails[first];
    let again = fails[(first + 1 + t.ch.below(fails.len() - 1)) % fails.len()];
    t.one(&[
        &format!("{{A}} tried it [at once|alone|in secret], but {f}."),
        &format!("The first time {{A}} tried, {f}."),
    ]);
    t.para();
    t.one(&[
        "\"[May I show you|Shall I help]?\" asked {+B}, who [had seen it all|was good at it].",
        "Nearby sat {+B}, who [tried not to laugh|had once been bad at it too].",
        "So {A} went to {+B}, who could {what} [better than anyone|with both eyes shut].",
    ]);
    let tip = *t.ch.pick(advice);
    t.set("tip", tip);
    if t.ch.chance(25) {
        t.favour();
    }
    t.one(&[
        "\"{tip},\" {B!said}.",
        "\"The trick is simple,\" {B!said}. \"{tip}.\"",
        "\"You are trying too hard,\" {B!said}. \"{tip}, and [have fun|do not hurry].\"",
    ]);
    t.one(&[
        &format!("{{A}} tried again, and {again}. [But it was a little better|It was a start|They both laughed]."),
        &format!("On the second day, {again}, [but {{A}} did not give up|and {{A}} only laughed]."),
        &format!("That did not help at first, because {again}."),
    ]);
    t.one(&[
        "{A} practised before [breakfast|school|lunch] and after [supper|tea|dinner].",
        "For {#number} days {A} did nothing else[, even in the rain|].",
        "Every [day|morning|afternoon] {B} came to watch and [clapped|said something kind].",
    ]);
    t.para();
    t.say(&format!("[And then|Then, one morning|At last], when {{A}} [least expected it|was about to stop|had nearly given up], {right}."));
    t.one(&[
        "\"[I can do it|I did it|Did you see that]!\" {A!cried}.",
        "{A} was so [surprised|{#glad}] that {A:he} [fell over|forgot to stop|did it again].",
        "Everybody [cheered|clapped], and {B} cheered loudest of all.",
    ]);
    ending(
        &mut t,
        &[
            "Now {A} teaches the little ones, and [always says the same thing|the first thing they hear is this]: \"{tip}.\"",
            "\"Who taught you?\" the others asked. {A} pointed at {B}, and {AB:they} [smiled|grinned].",
            "It turns out that things are hard until, one day, they are not.",
        ],
    );
    t
}

/// Something is too heavy for one.
pub fn heavy(ch: Chooser) -> Tale {
    let mut t = begin(ch, |k| k.size < 3 && !k.flies, |_, k| k.size > 1, FAIR, DAY);
    third(&mut t, |k| k.size == 1);
    t.set("x", "[pumpkin|log|stone|chest|turnip|cheese]");
    t.set(
        "goal",
        "[the kitchen|the fair|Grandmother's house|the village|the top of the hill]",
    );
    t.open("was [staring at|walking around|trying to lift] a huge [thing|load]");
    t.say("It was a {x} as big as a [barn|house|barn door|boat], and {A} had to get it to {goal} before [dark|supper|the rain came|noon].");
    t.one(&[
        "{A} pushed until {A:his} face turned [red|purple], but the {x} did not move.",
        "First {A} pulled. Then {A:he} pushed. The {x} [stayed where it was|did not care].",
    ]);
    t.para();
    t.one(&[
        "\"[Let me try|I am strong],\" said {+B}, who was passing by.",
        "{+B} came along and [offered to help|took off {B:his} hat|laughed].",
    ]);
    if t.ch.chance(55) {
        t.looks("B");
    }
    t.one(&[
        "Together {AB:they} [heaved|pulled] and [puffed|panted], and the {x} moved [one inch|a tiny bit]. [Then it rolled back|Then it got stuck].",
        "With two of {AB:them}, the {x} shook a little, but that was all.",
    ]);
    t.one(&[
        "\"May I help?\" asked {+C}. {B} [smiled|laughed]. \"You are [so small|no bigger than a bun],\" {B!said}.",
        "Then {+C} came to see what the noise was about. \"[You are too small to push|It is too heavy for you],\" {B!said}.",
    ]);
    t.para();
    match t.ch.below(4) {
        0 => t.one(&["\"I do not push, I think,\" {C!said}. \"Put [round sticks|little logs] under it.\" They did, and the {x} rolled along [like a cart|as if by magic]."]),
        1 => t.say("But {C} had seen a [stone|root|wedge] that the others had missed. {C} [dug|pulled] it out from under the {x}, and [all at once|with one push] it began to roll."),
        2 => t.say("\"Use a long [pole|branch] and a stone,\" {C!said}. \"Push down here, and it goes up there.\" It worked so well that {B} [sat down in surprise|said sorry]."),
        _ => t.say("\"Perhaps I am only a little help,\" {C!said}. So all three pushed. One, two, three, and the {x} [moved|began to slide]!"),
    }
    t.one(&[
        "By the time {#dusk}, it stood where it belonged.",
        "{#soon} the {x} was on the way to {goal}, and [everyone sang|nobody laughed at {C} now].",
        "It went [down the lane|over the bridge|past the mill], and [the ducks had to jump aside|people came out to look].",
    ]);
    t.para();
    let own: &[&str] = match t.get("x") {
        "pumpkin" | "turnip" | "cheese" => &[
            "There was enough {x} for {#number} [days|pots of soup], and {C} got the [first|biggest] bowl.",
            "They ate {x} until {#dusk}, and nobody could [move|stand up] any more.",
        ],
        "log" => {
            &["The log became a [bench|bridge|boat], and all three [sat|carved their names] on it."]
        }
        "stone" => &["The stone became a [table|seat], and all three had {#food} on it."],
        _ => &[
            "And what was in the chest? [Old books|Warm blankets|{#colour} hats|Pots and pans], enough for everyone.",
            "The chest was full of [books|blankets|{#colour} hats], and {C} got the first pick.",
        ],
    };
    t.one(own);
    t.one(&[
        "\"[Small|Little] is not the same as weak,\" {A!said}.",
        "Since then {B} has never called anyone too small.",
        "{A} thanked {B} and {C} {#number} times.",
        "\"Next time I will ask sooner,\" {A!said}.",
    ]);
    t
}
