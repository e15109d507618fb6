//! Plots about things: lost, broken, wanted by two, traded.
//!
//! Long: one plot each, told from begin to end.

use super::{any, any2, begin, ending};
use crate::corpus::choose::Chooser;
use crate::corpus::tell::Tale;
use crate::corpus::world::{ANY, DAY, FAIR};

/// Something is lost and found again.
pub fn lost(ch: Chooser) -> Tale {
    let mut t = begin(ch, any, any2, ANY, DAY);
    t.set("x", "{#smalltreasure}");
    t.set("c", "{#colour}");
    if t.ch.chance(12) && !t.first_person {
        t.say("\"{#cry}!\" cried {+A}. \"My {c} {x} is gone!\"");
        t.say("It was a [cold|grey|windy|sunny] morning, and {A} [always kept it close|never went anywhere without it|had looked after it for {#number} years].");
        t.set("spot", "{#place}");
        t.set("weather", "[sunny|windy|grey]");
        t.set("time", "morning");
    } else {
        t.open("was {#act}");
        t.one(&[
            "In {A's} pocket was a {#quality} {c} {x}, and {A} loved it more than {#food}.",
            "Around {A's} neck, on a string, hung a {#quality} {c} {x}.",
            "{A} had brought along a {#quality} {c} {x}, a gift from [an old aunt|a kind uncle|Grandmother].",
        ]);
        t.one(&[
            "But when {A} [stopped to rest|looked down|reached for it], the {x} was gone.",
            "Then {A} [tripped|jumped over a log|chased a butterfly], and after that the {x} was nowhere to be seen.",
            "But at lunch the {x} was not there.",
        ]);
        t.maybe(60, "\"{#cry}!\" {A!cried}. \"[I have lost my {x}|My {x} is gone|It was here a moment ago]!\"");
    }
    t.para();
    t.one(&[
        "{A} looked [under a leaf|under a bush|behind a rock|in the long grass], but found only [a beetle|an old shoe|a sleepy snail|{#number} acorns].",
        "First {A} searched [the path|the tall grass|under every bush], and then [the ditch|behind the wall|the pile of leaves], but there was only [mud|a cross beetle|an old boot].",
        "{A} {A:goes} back the way {A:he} had come, looking [left and right|under every leaf], but the {x} was not there.",
    ]);
    t.one(&[
        "Along came {+B}, who asked, \"[What are you looking for|Have you lost something|Why do you look so {#sad}]?\"",
        "Just then {+B} came by. \"[You look {#sad}|You seem {#sad}|Something is wrong],\" {B!said}.",
        "At the [gate|corner|bridge] {A} met {+B} and [told {B:him} everything|asked for help].",
    ]);
    if t.ch.chance(55) {
        t.looks("B");
    }
    t.maybe(50, "\"I have lost my {c} {x},\" {A!said}[, and nearly cried|].");
    if t.ch.chance(30) {
        t.favour();
    } else {
        t.one(&[
            "\"When did you last have it?\" {B!asked}. {A} thought [hard|for a while]. \"[At breakfast|By the pond|When I climbed over the wall]!\"",
            "\"[Two look better than one|Let us look together|Do not worry],\" {B!said}, and {AB:they} [set off|began to search] at once.",
        ]);
    }
    t.para();
    match t.ch.below(5) {
        0 => t.one(&[
            "{#soon} {B} began to laugh. \"[Look in your other pocket|What is that behind your ear|Look under your own foot]!\" And there it was, [safe and dry|as {c} as ever].",
            "\"Stand still,\" {B!said}. \"[You are standing on something|There is something stuck to your back].\" It was the {x}! {A} [blushed|laughed until it hurt|felt rather silly].",
        ]),
        1 => {
            t.say("High up in a {#tree}, something {c} [shone|moved|caught the light].");
            t.one(&[
                "A magpie had put the {x} in her nest, because she [liked pretty things|thought it was an egg]. [When {A} asked politely|For {#number} berries], she gave it back.",
                "The wind had carried it up there. {B} shook the [branch|tree] until the {x} fell down, right [on {A's} head|into {A's} lap].",
            ]);
        }
        2 => {
            t.say("{#soon} {AB:they} saw [small marks in the mud|tiny prints|some crumbs] and followed them to [a hole in the bank|a heap of leaves|an empty log].");
            t.one(&[
                "Inside sat a baby hamster, [fast asleep|snoring] on the {x}.",
                "An ant family was using the {x} as a [table|roof|bed]. They [swapped it for|took] a [crumb|bun|biscuit] instead.",
            ]);
        }
        3 => t.one(&[
            "{B} looked [into the stream|between two stones|into the well], where the water was clear. Something {c} lay at the bottom! With a [long stick|bent twig], {B:he} pulled the {x} out.",
            "It was {B} who [pushed aside a fern|lifted a stone|shook out a bush], and out [rolled|fell] the {x}, {c} and [wet|muddy|shiny].",
        ]),
        _ => t.one(&[
            "{AB:they} looked until {#dusk}, and then something [twinkled|shone] in the [grass|mud|moss]. It was the {c} {x}!",
            "At {A's} own [door|gate], on the [mat|step], lay the {x}. It had never left home at all!",
        ]),
    }
    t.maybe(50, "\"{#yay}!\" {A!cried}[, and danced in a circle|, and hugged {B:o}|].");
    ending(
        &mut t,
        &[
            "After that, {A} tied the {x} to a [{#colour} ribbon|long string|button], and it never got lost again. [Well, only once.|]",
            "{A} still has the {c} {x}, and keeps it [in a box|under the pillow|on a hook by the door].",
            "\"Next time I will [sew up the hole in my pocket|look twice|leave it at home],\" {A!said}.",
            "[So|And so] {A} gave {B:o} the best [bun|plum|biscuit] in the house, and showed {B:him} the {x} once more.",
        ],
    );
    t
}

/// What breaks, how, what does not mend it and why, and what does.
const BREAKS: &[(&str, &str, &str, &str, &str)] = &[
    (
        "cart",
        "a wheel came off",
        "[mud|string]",
        "it fell off at the first bump",
        "[a hammer and two nails|a new wooden pin]",
    ),
    (
        "kite",
        "a branch tore a hole in it",
        "[a leaf|honey]",
        "the wind blew it away",
        "[a needle and thread|a patch of cloth]",
    ),
    (
        "chair",
        "one leg snapped",
        "[jam|mud]",
        "the chair fell over again",
        "[a hammer and nails|a pot of glue]",
    ),
    (
        "drum",
        "the skin split with a bang",
        "[a big leaf|a pancake]",
        "it only went flop",
        "[a piece of strong cloth|a round tin lid]",
    ),
    (
        "boat",
        "it hit a rock and got a hole",
        "[moss|bread]",
        "it grew soft and let the water in",
        "[a pot of tar|a small board and nails]",
    ),
    (
        "gate",
        "it fell flat on the grass",
        "[grass|a ribbon]",
        "the goats walked over it",
        "[a hammer and a hinge|two strong ropes]",
    ),
    (
        "clock",
        "it stopped with a clunk",
        "[a tickle|a kick]",
        "it only rattled",
        "[a drop of oil|a tiny screw]",
    ),
    (
        "umbrella",
        "the wind turned it inside out",
        "[honey|grass]",
        "it dripped on everyone",
        "[a piece of wire|a needle and thread]",
    ),
    (
        "basket",
        "the bottom fell out",
        "[leaves|moss]",
        "all the apples rolled away",
        "[willow twigs|a roll of string]",
    ),
    (
        "teapot",
        "the handle broke off",
        "[jam|butter]",
        "it slid off again",
        "[a pot of glue|a bit of wire]",
    ),
];

/// Something breaks and is mended.
pub fn broken(ch: Chooser) -> Tale {
    let mut t = begin(ch, any, any2, ANY, DAY);
    let (x, how, bad, why, good) = *t.ch.pick(BREAKS);
    for (name, value) in [
        ("x", x),
        ("how", how),
        ("bad", bad),
        ("why", why),
        ("good", good),
    ] {
        t.set(name, value);
    }
    t.set("c", "{#colour}");
    t.open("was [proudly showing off|trying out|cleaning|busy with|taking care of] a {c} {x}");
    t.one(&[
        "All at once, {how}.",
        "[Crack|Snap|Bang|Clunk]! Before {A} could do anything, {how}.",
        "Everything went well until {how}.",
    ]);
    t.one(&[
        "\"{#cry}!\" {A!cried}. \"[It is broken|It came to bits|I only just got it]!\"",
        "{A} [looked at it|sat down beside it|walked around it twice] and felt {#sad}[, because it had belonged to [Grandfather|an old aunt]|].",
    ]);
    t.para();
    t.one(&[
        "First {A} tried to mend it with {bad}, but {why}.",
        "{A} had no tools, so {A:he} used {bad} instead. Of course {why}.",
        "\"I can fix this with {bad},\" {A!said}. It [looked|seemed] fine for [a moment|a minute], and then {why}.",
    ]);
    t.one(&[
        "So {A} [went|{A:goes}] to see {+B}.",
        "[A noise like that|All that grumbling] could be heard far away, and soon {+B} came to look.",
        "Luckily, {+B} was [coming up the path|sitting nearby|on the way home].",
    ]);
    if t.ch.chance(60) {
        t.looks("B");
    }
    t.one(&[
        "{B} looked at the {x} and [scratched {B:his} head|hummed|nodded].",
        "\"[Who mended it with|Is that] {bad}?\" {B!asked}, and tried not to [laugh|smile].",
        "\"What [a mess|a pity],\" {B!said}. \"But nothing is ever [quite|all the way] broken.\"",
    ]);
    if t.ch.chance(40) {
        t.favour();
    }
    t.para();
    t.one(&[
        "Then {B} [fetched|found|got out] {good}. {A} held the {x} still while {B} worked [slowly|carefully|and hummed].",
        "\"What you need is {good},\" {B!said}. \"[Hold this|Watch me|You do it, and I will help].\" [Bit by bit|Little by little], {AB:they} put the {x} together.",
        "{B} had {good} [in a box|at home|under the bed]. {AB} worked until {#dusk}.",
    ]);
    t.one(&[
        "When it was done, the {x} [looked|was] as good as new[, only with a funny lump|, or even better|].",
        "It was not [pretty|perfect], but it [worked|held].",
        "{#soon} the {x} was whole again, and {A} [clapped|jumped for joy|beamed].",
    ]);
    ending(
        &mut t,
        &[
            "\"Now I know,\" {A!said}. \"Never use {bad}!\"",
            "Since then, {A} has kept {good} [in a box|on a shelf|by the door], just in case.",
            "{B} would not take any money, but {B:he} did take {#number} [buns|biscuits|plums].",
            "{A} painted the {x} {#colour}, and wrote {B's} name on it.",
        ],
    );
    t
}

/// Two friends want the same thing.
pub fn quarrel(ch: Chooser) -> Tale {
    let mut t = begin(ch, any, any2, FAIR, DAY);
    t.cast[1].friend = true;
    t.set("x", "{#treasure}");
    t.set("c", "{#colour}");
    t.open("was playing with a friend");
    let friend = "The friend was {B:n}, a {badj} {B:k}, and [as a rule|most days] {AB:they} [never argued|shared everything]."
        .replace("{badj}", t.cast[1].adj);
    t.say(&friend);
    t.cast[1].known = true;
    t.one(&[
        "Then, [in the grass|under a bush|behind a stone], {AB:they} found a {#quality} {c} {x}.",
        "But that {time} {AB:they} both saw the same thing: a {#quality} {c} {x}, lying in the [grass|mud|leaves].",
    ]);
    t.say("\"[It is mine|I saw it first]!\" {A!said}. \"[No, mine|I touched it first|But I need it more]!\" {B!said}.");
    t.one(&[
        "{A} pulled, and {B} pulled harder, until the {x} [flew into the pond|landed in the mud|shot up into a tree].",
        "{B} [stamped|turned around|grabbed the {x}] and {B:goes} home, while {A} [shouted|sulked|kicked a stone].",
        "{AB:they} shouted so loudly that [the birds flew off|an apple fell from the tree], and then {AB:they} went home without a word.",
    ]);
    t.para();
    t.one(&[
        "At home, {A} [ate {#food}|built a tower|played], but it was [no fun|dull] alone.",
        "All [day|morning|week] long {A} [felt {#sad}|had nobody to talk to], and even {#food} [tasted of nothing|did not help].",
        "The house was very quiet. {A} thought about the {x}, and then about {B}, and {B} [mattered|weighed] more.",
    ]);
    match t.ch.below(3) {
        0 => t.say("[So {A}|In the end {A}] {A:goes} to {B's} door with a [{#snack}|bunch of {#flower}] and knocked. \"I am sorry,\" {A!said}. \"[A {x} is only a {x}|I miss you|You can have it].\""),
        1 => t.say("There was a knock at the door. It was {B}, [looking at the floor|with a wet face|holding {#food}]. \"[I was wrong|I am sorry|I do not want to fight],\" {B!said}. \"[Come in|I am sorry too|Let us forget it],\" {A!said}."),
        _ => t.say("{AB} both set out to say sorry, and [bumped into each other|met] [at the gate|on the bridge|halfway]. \"[I am sorry|It was my fault]!\" {AB:they} [both said|said] at the same time, and then {AB:they} laughed."),
    }
    t.para();
    t.one(&[
        "{AB:they} agreed that {A} would have the {x} on [Mondays|Sundays|Fridays] and {B} on [Tuesdays|Thursdays|Saturdays].",
        "Together {AB:they} thought of a game that needed one {x} and two players.",
        "In the end {AB:they} gave the {x} to [the baker's baby|the old schoolteacher|a passing snail], who [had nothing to play with|was very pleased|said thank you].",
        "\"We could [hide it and take turns to find it|keep it in the old tree for both of us],\" {B!said}, and so {AB:they} did.",
    ]);
    ending(
        &mut t,
        &[
            "A {x} is nice to have, but [it cannot laugh at your jokes|a friend is better|it does not talk back].",
            "{AB} have quarrelled since, but never [for longer than a lunch|about a {x}|past bedtime].",
            "By bedtime nobody could remember who had seen it first.",
        ],
    );
    t
}

/// A chain of trades ends with the right thing.
pub fn trade(ch: Chooser) -> Tale {
    let mut t = begin(ch, any, any2, FAIR, DAY);
    super::third(&mut t, any);
    t.set("x", "{#smalltreasure}");
    t.set("c", "{#colour}");
    t.set("w", "[loaf of bread|warm blanket|pot of honey|new hat|bag of seeds|bunch of {#flower}|jar of jam]");
    t.set("reason", "[for Grandmother|for an old aunt|for a birthday|because it was {A:his} turn to bring a present|for a sick aunt]");
    t.open("was on the way to market");
    t.one(&[
        "{A} needed a {w} {reason}, but [had no money|there was not one coin in the house]. All {A:he} had was a {#quality} {c} {x}.",
        "{A} wanted a {w} {reason}. But {A:he} had nothing to pay with except a {#quality} {c} {x}.",
    ]);
    t.para();
    t.set("y", "[bucket|candle|broom|ladder|pillow|pan]");
    t.one(&[
        "On the [bridge|road|corner] sat {+B} with a {y}. \"What a fine {x}!\" {B!said}. \"Will you swap it for my {y}?\"",
        "First {A} met {+B}, who [carried|had] a {y} and [looked|seemed] {#sad}. \"[I have always wanted|I lost] a {x} like that,\" {B!said}.",
    ]);
    t.one(&[
        "{A} did not need a {y}, but {B} [looked so hopeful|smiled so nicely|asked so politely] that {A:he} [agreed|said yes].",
        "So the {x} went one way and the {y} went the other, and {AB:they} were both [glad|pleased|happy].",
    ]);
    t.para();
    t.say("[A little further on|Near the market|By the mill], {+C} was [sighing|grumbling|pacing up and down].");
    let why = match t.get("y") {
        "bucket" => "[My roof leaks|My well has no bucket], and the floor is wet",
        "candle" => "My [cellar|room] is so dark that I [bump my head|cannot find my bed]",
        "broom" => "[Guests are coming|My aunt is coming], and there is [flour|dust] everywhere",
        "ladder" => "My [best hat|ball|kite] is on the roof, and I cannot reach it",
        "pillow" => "I have slept on a [stone|log] for {#number} nights",
        _ => "I want to make pancakes, but I have nothing to fry them in",
    };
    t.set("why", why);
    t.say("\"{why},\" {C!said}.");
    t.one(&[
        "{A} held up the {y}. \"Would this help?\" ^{C} [jumped with joy|could hardly believe it|clapped].",
        "\"Then take this {y},\" {A!said}. \"[I do not need it|You need it more than I do].\"",
    ]);
    t.one(&[
        "And what did {C} give in return? A {w}!",
        "\"[Wait|One moment],\" {C!said}, and came back with a {w}. \"[This is for you|A swap is a swap].\"",
        "\"I have no money,\" {C!said}, and held out a {w}. \"Will this do?\"",
    ]);
    t.one(&[
        "{A} [laughed out loud|hugged {C:o}|skipped all the way home].",
        "It was just what {A} had [needed|wanted] all along.",
        "\"It will do very well,\" {A!said}.",
    ]);
    t.one(&[
        "So one {x} made three friends happy, and that is [good trading|not bad for a {x}].",
        "And the {x}? {B} [wears it every Sunday|still has it|shows it to every visitor].",
        "When {#dusk}, {A} was home with the {w}, [tired|hungry] but {#glad}.",
        "[Nobody had paid a coin|No money had been spent], and everybody [was|felt] richer.",
    ]);
    t
}
