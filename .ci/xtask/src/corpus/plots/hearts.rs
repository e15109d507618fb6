//! Plots about kindness: sharing, surprises, cheering up, welcoming.
//!
//! Long: one plot each, told from begin to end.

use super::{any, any2, begin, ending, third};
use crate::corpus::choose::Chooser;
use crate::corpus::tell::Tale;
use crate::corpus::world::{ANY, DAY, FAIR};

/// Food is shared with someone hungry.
pub fn hungry(ch: Chooser) -> Tale {
    let mut t = begin(ch, any, any2, ANY, DAY);
    t.cast[1].friend = false;
    t.set("f", "{#food}");
    t.helper = true;
    t.open("was about to eat {f}");
    t.one(&[
        "{A} had waited for it all [day|morning|week], and it smelled [wonderful|of butter|like home].",
        "There was nothing else in the house, and {A} was hungry.",
        "{A} had made it {A:self}, and only burned [one finger|one side|it a little].",
    ]);
    t.one(&[
        "Then {A} saw {+B}, who [looked thin and tired|sat all alone|was looking at the ground].",
        "\"[Excuse me|Hello],\" said {+B}. \"Do I smell {f}?\"",
        "Just then {+B} came by, [limping|shivering|sniffing the air].",
    ]);
    if t.ch.chance(60) {
        t.looks("B");
    }
    t.one(&[
        "\"[My cupboard is empty|The flood took my bread|I have walked for {#number} days],\" {B!said}, and {B:his} belly [growled|rumbled].",
        "^{B} [looked away|kept quiet], but {B:his} belly [growled|rumbled] like [a cart|thunder|a drum].",
    ]);
    t.para();
    t.one(&[
        "{A} looked at the food. It was [not much|just enough for one]. Still, {A:he} [cut|divided] it in two.",
        "\"I am not hungry at all,\" {A!said}, but {A:his} own belly [growled|rumbled] too. So {AB:they} [laughed and shared it|each took half].",
        "{A} thought for [a moment|as long as it takes to blink]. \"[Sit down|Come here]. There is enough for two,\" {A!said}.",
    ]);
    t.one(&[
        "{AB:they} ate [slowly|without a word|every crumb], and {B} told {A:o} about [the sea|a far land|{B:his} long journey].",
        "{B} ate [politely|quickly], and with every bite {B:he} [smiled more|sat up straighter].",
        "\"This is the best meal of my life,\" {B!said}, [licking {B:his} lips|with a full mouth].",
    ]);
    t.para();
    match t.ch.below(4) {
        0 => t.say("{#number} weeks later, {A} [fell ill|broke a leg|had no firewood]. Who [came to|stood at] the door with [{#food}|a pot of stew]? It was {B}."),
        1 => t.say("The next morning, there was a [basket|bag] of [nuts|apples|berries] on the step, and a note: \"[Half for you|For a friend|Thank you]. {B:n}.\""),
        2 => t.say("As thanks, {B} [taught {A:o} a song|mended {A's} gate|gave {A:o} a {#colour} {#smalltreasure}], and {A:he} was {#glad}."),
        _ => t.say("\"I know where the [wild berries|sweetest pears|best nuts] grow,\" {B!said}. So {AB:they} went there, and for supper there was [more than enough|a mountain of them]."),
    }
    ending(
        &mut t,
        &[
            "Since then, {A} always [sets two plates|bakes a little more], in case somebody comes by.",
            "Half a meal and a friend is [more than|better than] a whole meal alone.",
            "{A} went to bed a little hungry and very [happy|pleased|proud].",
        ],
    );
    t
}

/// A friend seems to have forgotten, but has planned a surprise.
pub fn surprise(ch: Chooser) -> Tale {
    let mut t = begin(ch, any, any2, ANY, &["morning"]);
    t.cast[1].friend = true;
    third(&mut t, any);
    t.place.spot = *t.ch.pick(&[
        "in front of the house",
        "in the garden",
        "by the gate",
        "in the yard",
    ]);
    t.open("was [waiting for the post|watching the road|humming a birthday song]");
    t.one(&[
        "It was {A's} birthday, but nobody had said [a word|a thing] about it.",
        "Today {A} was one year older, and {A:he} [hoped|was sure] that somebody would remember.",
    ]);
    t.one(&[
        "First came {+B}. \"[I am in a hurry|I cannot stop],\" {B!said}, and hid [something {#colour}|a bag|a box] behind {B:his} back.",
        "{A} went to see {+B}. \"[Not today|I am busy|You cannot come in],\" {B!said} through a crack in the door.",
    ]);
    t.one(&[
        "Then {A} met {+C}, who [was carrying flour and eggs|had {#colour} paint on {C:his} nose|was dragging a ladder]. \"[It is nothing|Do not look],\" {C!said}.",
        "Even {+C} only [said good morning|waved] and [ran off|walked faster].",
    ]);
    t.para();
    t.one(&[
        "{A} [walked|went] back inside and felt {#sad}. \"[They have forgotten me|Nobody remembers],\" {A!said}.",
        "By noon {A} was [so {#sad} that {A:he} ate a {#snack} without tasting it|sitting alone under a {#tree}].",
    ]);
    t.one(&[
        "When {#dusk}, there was a knock. Outside lay a [{#colour}|long] [string|ribbon], and it led [around the house|into the wood|down the lane]. {A} followed it.",
        "Then a [paper boat|note] came [under the door|through the window]. \"Come to the [barn|old oak|mill],\" it said. {A} went, [slowly|with a heavy heart|kicking a stone].",
        "In the evening {A} saw a light in the [barn|old mill]. Who could it be? {A} [pushed the door|looked inside].",
    ]);
    t.say("\"Surprise!\" [shouted|cried] {B} and {C}. ^there were [lanterns|candles|paper stars] everywhere, and a huge [honey|plum|cherry|carrot|nut] cake.");
    t.para();
    t.one(&[
        "So that was [why everyone had been so strange|what all the secrets were for]! {A} [laughed and cried|did not know what to say|could not speak].",
        "\"[I thought you forgot|I thought nobody remembered],\" {A!said}. \"[Never|Not us|Not for a minute],\" {B!said}.",
    ]);
    t.one(&[
        "{B} gave {A:o} a {#colour} {#treasure}, and {C} gave {A:o} a [pot of honey|song|drawing].",
        "The present was a {#colour} {#treasure}, [wrapped in leaves|tied with string|painted by {C}].",
    ]);
    t.one(&[
        "They danced until [midnight|the candles went out|the cake was gone].",
        "\"It is hard to keep a secret,\" {C!said}. \"[I nearly burst|My nose gave me away|Never ask me again].\"",
        "It was the best birthday of all, even if the cake was [burned|flat|a bit salty].",
        "{A} blew out the candles and wished for [nothing at all|the same again next year|another slice].",
    ]);
    t
}

/// A sick friend is cheered up.
pub fn sick(ch: Chooser) -> Tale {
    let mut t = begin(ch, any, any2, ANY, DAY);
    t.cast[1].friend = true;
    t.set("ill", "[a bad cold|a sore throat|a fever|{#colour} spots]");
    t.cast[1].known = true;
    t.open("was waiting for a friend");
    t.one(&[
        "But {B:n} the {B:k} did not come, because {B:he} was in bed with {ill}.",
        "Only a note came, from {B:n} the {B:k}: \"[Cannot come|No games today]. I have {ill}.\"",
    ]);
    t.one(&[
        "{A} packed {f={#food}} and [{#flower}|a book|a {#colour} blanket], and {A:goes} to see {B:him}.",
        "So {A} {A:goes} to {B's} home with {f={#food}} and some {#flower}.",
    ]);
    t.para();
    t.one(&[
        "\"[Go away|I feel terrible],\" {B!said} from under the blanket. \"[I am no fun today|My head hurts].\"",
        "{B} [sneezed|coughed] so hard that the [window|lamp|cup] shook. \"I am [bored|tired] and {#sad},\" {B:he} said.",
    ]);
    t.one(&[
        "First {A} told a joke about a [snail|turnip|king], but {B} was too tired to laugh.",
        "{A} sang a song, but it made {B's} head hurt.",
        "{A} tried to juggle [{#number} plums|the spoons], but dropped them [all|in the soup].",
    ]);
    match t.ch.below(4) {
        0 => t.say("Then {A} made a puppet out of a {#colour} sock, and the sock [caught a cold too|sneezed at the king]. {B} began to [laugh|giggle]."),
        1 => t.say("So {A} opened the window, and outside {A:he} [held a snail race|built a tower of pots|did {#number} somersaults] for {B} to watch from bed."),
        2 => t.say("Then {A} sat down and simply read aloud, a story about [a {#colour} dragon|a lost king|a flying cow], until {B} [smiled|fell asleep]."),
        _ => t.say("At last {A} said nothing, but sat by the bed and [knitted|hummed|drew pictures], and that helped [most|more than jokes]."),
    }
    t.para();
    t.one(&[
        "After [a little|some] {f}, {B} [looked better|could sit up|had some colour again].",
        "The {f} did the rest.",
        "The next [day|morning|week], {B} felt [much|a little] better.",
    ]);
    t.one(&[
        "\"[You are the best medicine|Come again tomorrow],\" {B!said}[, and sneezed once more|].",
        "A week later {B} was well, and {A} was in bed with {ill}. Guess who came with {f}!",
        "Two days later {AB:they} were out [in the meadow|by the pond|on the hill] again, and {B} won every game.",
        "\"Will you tell me a joke?\" {B!asked}. This time {B:he} laughed [until the bed shook|out loud|before the end].",
    ]);
    t.maybe(
        40,
        "{A} walked home [along the stream|through the fields|the long way round] and felt {#glad}.",
    );
    t
}

/// Somebody new is shy, and is made welcome.
pub fn newcomer(ch: Chooser) -> Tale {
    let mut t = begin(ch, any, any2, FAIR, DAY);
    t.cast[1].friend = false;
    t.set("c", "{#colour}");
    t.helper = true;
    t.open("was watching a [cart|wagon] piled with [boxes|chairs and pots]");
    t.one(&[
        "Somebody was moving into the [empty|old|crooked] house next door. It was {+B}.",
        "{+B} was moving in next door, with {#number} [boxes|bags] and a {c} [lamp|chair|bathtub].",
    ]);
    if t.ch.chance(60) {
        t.looks("B");
    }
    t.one(&[
        "\"Hello!\" {A!called}. But {B} [went inside|hid behind a box|shut the door].",
        "{A} waved. {B} [looked away|blushed|dropped a cup] and hurried inside.",
    ]);
    t.maybe(50, "\"Perhaps {B} does not like me,\" {A!said}[ to {A:self}|].");
    t.para();
    t.one(&[
        "The next day {A} left {#food} on the step. In the evening the plate was [empty|clean], but nobody had said thank you.",
        "{A} knocked and asked, \"Do you want to play?\" \"[Not now|No, thank you],\" said a small voice.",
    ]);
    match t.ch.below(4) {
        0 => t.say("Then {A} saw a {c} ball [roll|come rolling] out of the gate. ^{A:he} rolled it back, and it came out again. [For an hour|Until {#dusk}] {AB:they} played like that, without a word."),
        1 => t.say("Then {A} heard [a flute|a fiddle|singing] from the window. ^{A:he} sat down in the grass and hummed along. The music stopped, and then it went on, [louder|happier]."),
        2 => t.say("So {A} drew a picture of [the village|the two houses|a {c} boat] and put it under the door. [An hour later|In the morning] it came back with {B} drawn [in one corner|beside {A:him}]."),
        _ => t.say("Then came a [storm|heavy rain], and water ran into {B's} [cellar|kitchen]. {A} came with a bucket, and {AB:they} worked [all night|side by side] until it was dry."),
    }
    t.para();
    t.one(&[
        "\"I do like you,\" {B!said} [at last|softly]. \"[I am only shy|I never know what to say|My old friends live so far away].\"",
        "At last the door opened. \"[Where I come from, I had no friends|I was afraid you would laugh at me|I am slow with new things],\" {B!said}.",
    ]);
    t.one(&[
        "\"[You do not have to say anything|Then we will be quiet together|I can talk for two],\" {A!said}.",
        "{A} nodded. \"[I was new here once|I am shy too|So am I, on Mondays],\" {A:he} said.",
    ]);
    ending(
        &mut t,
        &[
            "Now there is a [hole in the fence|path through the hedge|string with two tin cans] between the two houses.",
            "By winter {B} knew [everybody|every path and pond], and talked [all day|in {B:his} sleep].",
            "The {c} [lamp|curtain] in {B's} window means: [come over|the cake is ready].",
        ],
    );
    t
}
