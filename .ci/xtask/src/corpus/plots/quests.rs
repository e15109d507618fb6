//! Plots about a secret, the moon and a parcel.
//!
//! Long: one plot each, told from begin to end.

use super::{any, any2, begin, ending, third};
use crate::corpus::choose::Chooser;
use crate::corpus::tell::Tale;
use crate::corpus::world::{ANY, DAY};

/// Somebody breaks a thing, hides it, and tells the truth in the end.
pub fn secret(ch: Chooser) -> Tale {
    let mut t = begin(ch, any, any2, ANY, DAY);
    t.cast[1].friend = true;
    t.set("x", "[cup|vase|plate|jar|lamp|mirror|teapot|bowl]");
    t.set("c", "{#colour}");
    t.place.spot = *t.ch.pick(&[
        "in the kitchen",
        "in the hall",
        "by the window",
        "in the big room",
    ]);
    t.helper = true;
    t.open("was [dancing|playing with a ball|chasing a fly|spinning round and round]");
    t.one(&[
        "The house was not {A's} own. It belonged to {+B}, who had gone out to [buy bread|pick plums|post a letter].",
        "{A} was looking after the house for {+B}, who was [at the market|away for the day].",
    ]);
    t.one(&[
        "Crash! Down went {B's} {c} {x}, and it broke into {#number} pieces.",
        "Then {A} bumped into a shelf, and the {c} {x} that {B} loved fell [on the floor|with a crash].",
    ]);
    t.para();
    t.one(&[
        "{A} hid the pieces [under the rug|in a boot|behind the curtain] and tried to look [calm|bored].",
        "\"Nobody saw it,\" {A!said}, and swept the pieces [under the bed|into a basket|behind the stove].",
    ]);
    t.one(&[
        "When {B} came back, {B:he} asked, \"Have you seen my {x}?\" \"[No|A bird took it|Which one],\" {A!said}.",
        "\"How odd,\" {B!said} that evening. \"My {x} is gone.\" \"[Perhaps it went for a walk|The wind must have taken it],\" {A!said}.",
    ]);
    t.one(&[
        "That night {A} could not [sleep|eat]. The [lie|secret] sat in {A:his} belly like a [stone|cold potato].",
        "But all evening {A} felt {#sad}, and even {#food} did not taste good.",
        "Every time {B} smiled, {A} felt [worse|smaller].",
    ]);
    t.para();
    t.one(&[
        "[In the morning|Before breakfast|At last] {A} went to {B} and told {B:him} [everything|the truth]. \"[I broke it|It was me], and I am sorry.\"",
        "\"I [broke your {x}|lied to you],\" {A!said} [at last|the next day]. \"I was [afraid|scared] that you would be angry.\"",
    ]);
    t.one(&[
        "{B} was quiet for a [moment|while]. \"I am [a bit sad|a little cross] about the {x},\" {B:he} said. \"But I am glad you told me.\"",
        "\"I know,\" {B!said}. \"[I stepped on a piece|I found a piece in my shoe]. I was waiting for you to tell me.\"",
        "{B} [began to laugh|smiled]. \"I never liked it much,\" {B:he} said. \"[My aunt|My uncle] made it. But I do like the truth.\"",
    ]);
    t.one(&[
        "Together {AB:they} glued the pieces. The {x} has {#number} [cracks|lines] now, and stands in the middle of the shelf.",
        "{A} [saved|worked] for {#number} weeks and bought a new {x}, a {#colour} one.",
        "With the pieces {AB:they} made a [picture|star|sun] on the garden wall.",
    ]);
    ending(
        &mut t,
        &[
            "After that {A} slept like a [log|stone].",
            "A {x} can break, but a true friend [does not|is stronger].",
            "And {A} never went near a shelf again.",
        ],
    );
    t
}

/// Somebody wants the moon.
pub fn moon(ch: Chooser) -> Tale {
    let mut t = begin(
        ch,
        |k| !k.flies,
        any2,
        &["clear", "warm", "quiet", "cool"],
        &["evening", "night"],
    );
    t.set("m", "[moon|evening star]");
    t.open("was looking up at the {m}");
    t.one(&[
        "It looked [like a button|like a coin|good enough to eat], and {A} wanted it.",
        "\"I want to have it [on a string|in my window|for my pillow],\" {A!said}.",
    ]);
    t.one(&[
        "{A} climbed the highest [hill|rock] and [jumped|reached up], but the {m} was no closer.",
        "First {A} threw a rope. It came down [in a bush|on {A:his} head|around a chimney].",
        "{A} stood on a [barrel|chair|pile of {#number} boxes] and stretched until it fell over.",
    ]);
    t.para();
    t.one(&[
        "\"What are you doing?\" asked {+B}, who could not sleep. {A} pointed up and explained.",
        "{+B} came to see who was making that noise. \"[Catching the {m}|I am after the {m}],\" {A!said}.",
    ]);
    if t.ch.chance(55) {
        t.looks("B");
    }
    t.one(&[
        "{B} [thought|yawned] and pointed at the pond. There was the {m}, [floating|shining] on the water!",
        "\"Then you are looking in the wrong place,\" {B!said}. \"It is in the [pond|bucket].\"",
    ]);
    t.one(&[
        "{A} dipped in a [net|hat|pan|cup], and the {m} broke into a hundred [bits|pieces]. Then it was whole again.",
        "{A} jumped at it. Splash! There was water in {A:his} ears, and no {m} anywhere.",
        "As soon as {A} touched it, it [wobbled|slid] away like a [fish|jelly].",
    ]);
    t.maybe(40, "\"{#cry}!\" {A!said}. \"[It does not want to come|It is too slippery].\"");
    t.para();
    t.one(&[
        "\"If you had it, the others would sit in the dark,\" {B!said}. \"[The owls|The sailors|The bakers] need it too.\"",
        "\"Perhaps it is big enough for everyone,\" {B!said}.",
        "\"I think it [follows you already|is yours when you look],\" {B!said}. \"Walk a bit and see.\" {A} walked, and the {m} walked too.",
    ]);
    t.one(&[
        "{A} filled a {#colour} bowl with water and put it [by the bed|on the window sill]. That night there was a small {m} in it.",
        "So {AB:they} lay [in the grass|on the roof|on a haystack] and looked at it together, [with {#food}|under one blanket], until {AB:they} fell asleep.",
        "{A} cut a {m} out of [paper|tin|cloth] and hung it over the bed. [It hung a little crooked|It was nearly as good].",
    ]);
    ending(
        &mut t,
        &[
            "\"Good night, {m},\" {A!said}, and it seemed to [wink|smile|nod].",
            "The next evening {A} [waved at it|came back], and there it was again, [right on time|rounder than before].",
            "And {A's} wet [hat|net|coat] hung on the line for {#number} days.",
        ],
    );
    t
}

/// A parcel is carried through trouble.
pub fn parcel(ch: Chooser) -> Tale {
    let mut t = begin(ch, any, any2, &["rainy", "windy", "snowy", "foggy", "hot", "cold"], DAY);
    third(&mut t, any);
    t.cast[2].friend = false;
    t.cast[1].friend = false;
    t.set("p", "[parcel|letter|basket|box]");
    t.set("c", "{#colour}");
    t.place.spot = *t.ch.pick(&[
        "at the post office",
        "by the mill",
        "in the village",
        "at the bakery",
    ]);
    t.open("was given a {c} {p} to carry");
    t.one(&[
        "It was for {+C}, who lived [on the other side of the hill|beyond the river|at the far end of the wood].",
        "\"Take it to {C:n} the {C:k},\" the [baker|miller|old postman] said.",
    ]);
    t.cast[2].known = true;
    t.para();
    let trouble = match t.place.weather {
        "rainy" => {
            "Rain had washed away the [bridge|path], and the stream was [wild|brown and fast]."
        }
        "windy" => {
            "On the hill the wind [pulled at|grabbed] the {p}, and nearly [took it|blew it into the river]."
        }
        "snowy" => {
            "The snow grew deeper and deeper, until {A} [sank in at every step|could not see the path]."
        }
        "foggy" => {
            "In the fog every [tree|rock] looked like a [giant|tower], and {A} took the wrong turn [twice|{#number} times]."
        }
        "hot" => {
            "The sun burned, and {A} grew so thirsty that {A:he} [saw two of everything|had to sit down]."
        }
        _ => {
            "It was so cold that {A's} [nose|ears] [turned blue|went numb], and the road was slippery."
        }
    };
    t.say(trouble);
    t.one(&[
        "\"I [promised|gave my word],\" {A!said}, and went on.",
        "{A} [nearly|almost] turned back. But [a promise is a promise|somebody was waiting].",
        "{A} held the {p} [tight|under {A:his} coat|high] and thought of {#food}.",
    ]);
    t.one(&[
        "There {A} met {+B}, who was [resting|sheltering] under a [rock|{#tree}].",
        "\"Where are you going in such weather?\" asked {+B}.",
        "Beside the road sat {+B}, who [had lost the way|was too tired to walk|had hurt a foot].",
    ]);
    if t.ch.chance(60) {
        t.looks("B");
    }
    t.one(&[
        "{A} [explained|told {B:him} about the {p}]. \"[I know a better way|Two are safer than one],\" {B!said}.",
        "\"[Come with me|Let us go together],\" {A!said}. \"[We can sing|It is not far now|I have a {#snack} for us].\"",
    ]);
    t.one(&[
        "Side by side {AB:they} [crossed|passed] the [old bridge|dark wood|empty fields], and took turns with the {p}.",
        "{B} went first and [tested the ground|looked for the path], and {A} followed with the {p}.",
    ]);
    t.para();
    t.one(&[
        "At last {AB:they} stood at {C's} door. [Knock, knock|Tap, tap]!",
        "When {#dusk}, {AB:they} saw {C's} window.",
    ]);
    t.one(&[
        "{C} opened the {p} [at once|on the step|slowly] and found ",
        "\"For me?\" {C!said}. \"[Nobody ever sends me anything|I never get anything].\" In the {p}, {C:he} found ",
    ]);
    t.go_on(if t.get("p") == "letter" {
        "only one line: \"[I miss you|Come home soon|I am coming to visit|You were right about the soup].\""
    } else {
        "[a warm {#colour} blanket|{#food}|a {#colour} {#treasure}|{#number} [pears|buns|eggs]], and [a card with a heart|a pressed flower|a note from an old friend]."
    });
    t.one(&[
        "{C} [wept a little|smiled from ear to ear] and made [tea|soup|pancakes] for {AB:them}.",
        "\"You must be [frozen|tired|hungry],\" {C!said}. \"[Come in|Sit down] and [eat|rest].\"",
    ]);
    t.one(&[
        "On the way home the road [seemed|felt] much shorter.",
        "{A} had carried a {p}, and came home with two friends.",
        "Next time {A} will take [a sledge|an umbrella|a bigger hat].",
        "And that is how {A} became the [best|fastest|proudest] letter carrier for miles.",
        "All three told stories until [the fire went out|midnight].",
    ]);
    t
}
