//! Plots about trouble: stuck, afraid, lost, startled.
//!
//! Long: one plot each, told from begin to end.

use super::{any, any2, begin, ending};
use crate::corpus::choose::Chooser;
use crate::corpus::tell::Tale;
use crate::corpus::world::DAY;

/// A friend is stuck, and the first character helps.
pub fn stuck(ch: Chooser) -> Tale {
    let mut t = begin(
        ch,
        any,
        |_, k| !k.flies,
        &["rainy", "windy", "cloudy", "warm", "foggy", "cool", "grey"],
        DAY,
    );
    let b = t.cast[1].kind;
    t.helper = true;
    t.open("was {#act}");
    t.one(&[
        "All of a sudden a voice [cried|called], \"[Help|Please help|I am stuck|Over here]!\"",
        "Then {A} heard a small voice. \"[Hello|Help|Excuse me],\" it said. \"[I am stuck|I cannot move|I need a bit of help].\"",
    ]);
    let case = if b.size == 3 {
        t.ch.index(&[0, 3, 2, 2])
    } else {
        t.ch.index(&[3, 2, 2, 2])
    };
    match case {
        0 => {
            t.say("It was {+B}, [high up in|halfway up] a {t={#tree}}.");
            t.say("\"I climbed up [after my {#smalltreasure}|to see the sea|for a bet|to look at the clouds], and now I [cannot get down|am too scared to look down],\" {B!said}.");
            t.para();
            t.one(&[
                "{A} looked for a ladder, but [the farmer had taken it away|it was too short|it had lost {#number} steps].",
                "\"Jump!\" {A!said}. \"[Never|No, thank you|It is too far],\" {B!said}, and held on tighter.",
            ]);
            t.one(&[
                "So {A} [piled up|made a heap of] [hay|leaves|pillows] under the tree. {B} [shut both eyes|counted to {#number}|took a deep breath] and let go. Flop!",
                "Then {A} had an idea. \"Put your left foot on the [thick|low|crooked] branch,\" {A!said}. \"[Now the right one|Good, now the next].\" Step by step, {B} came down.",
                "{A} threw up a rope. {B} tied it to a branch and slid down [slowly|with a squeak|like a drop of rain].",
            ]);
        }
        1 => {
            t.say("It was {+B}, [up to the knees|up to the belly] in [thick|deep|black] mud.");
            t.say("\"I [was taking a short cut|was chasing a {#colour} butterfly|only wanted to see how deep it was],\" {B!said}.");
            t.para();
            t.one(&[
                "{A} took hold and pulled, but the mud [only said slurp|pulled back].",
                "First {A} tried to go closer, but {A:his} own feet began to sink[, so {A:he} hopped back|].",
            ]);
            t.one(&[
                "Then {A} laid [a plank|a branch|an old door] over the mud, and {B} crawled along it, [bit by bit|all the way out].",
                "\"Stop kicking,\" {A!said}. \"[Lean back|Lie flat and wiggle].\" {A} pushed a long branch over the mud, and with a loud [plop|pop], {B} was free.",
                "{A} tied a rope to a [tree|post|rock] and threw the end to {B:o}. One pull, two pulls, and [plop|pop], out {B:he} came.",
            ]);
        }
        2 => {
            t.say("It was {+B}, at the bottom of a [deep|dark|narrow] hole.");
            t.say("\"I [was looking at the clouds|was reading while I walked|did not see it under the leaves],\" {B!said}.");
            t.para();
            t.one(&[
                "{A} reached down, but the hole was too deep.",
                "{A} let down a [scarf|vine], but it [was too thin|snapped], and {B} sat down again with a bump.",
            ]);
            t.one(&[
                "So {A} rolled [stones|logs|turnips] into the hole, one after another, until {B} could climb out on top of them.",
                "In the end {A} [dragged|pushed] a [branch|log|ladder] to the hole and let it down. {B} climbed up, [covered in dirt|sneezing|with leaves on {B:his} head].",
            ]);
        }
        _ => {
            t.say("It was {+B}, stuck fast in a [garden fence|gap in the wall|hollow log].");
            t.say(
                "\"I ate too many [plums|pancakes|buns|pears], and now I do not fit,\" {B!said}.",
            );
            t.para();
            t.one(&[
                "{A} pulled at the front, and then {A:he} pushed from behind, but {B} did not move[ one bit|].",
                "\"Breathe in,\" {A!said}. {B} breathed in, but it was not enough.",
            ]);
            t.one(&[
                "Then {A} fetched [butter|soap|oil] and rubbed it all around. Pop! Out [came|shot] {B}, [slippery|shiny] and {#glad}.",
                "\"Then we must wait until you are thin again,\" {A!said}. So {A:he} [read to {B:o}|sang songs|told stories] until {#dusk}, and at last {B} slipped out.",
                "In the end {A} tickled {B:o} with a [feather|blade of grass]. {B} laughed, wriggled, and was free.",
            ]);
        }
    }
    t.para();
    t.maybe(50, "\"[Thank you|You saved me|I thought nobody would come]!\" {B!said}.");
    ending(
        &mut t,
        &[
            "{B} never [went there|did that] again, at least not [before breakfast|without a rope|alone].",
            "From then on, {B} looked where {B:he} was going, [most of the time|except on Sundays].",
            "\"How can I thank you?\" {B!asked}. \"With {#food},\" {A!said}, and so it was.",
        ],
    );
    t
}

/// Somebody is afraid of the storm or the dark.
pub fn storm(ch: Chooser) -> Tale {
    let mut t = begin(ch, any, any2, &["rainy", "windy", "cloudy", "grey"], &["evening"]);
    let dark = t.ch.chance(45);
    t.set("fear", if dark { "the dark" } else { "storms" });
    t.place.spot = *t.ch.pick(&[
        "at home",
        "by the window",
        "under a warm blanket",
        "beside the fire",
    ]);
    t.open("was [eating {#food}|drawing a {#colour} {#treasure}|counting raindrops|listening to the wind|mending a sock]");
    if dark {
        t.one(&[
            "Then the [candle|lamp] went out, and everything was dark.",
            "There was nothing {A} feared so much as the dark, and now the [lamp|candle] was almost gone.",
        ]);
        t.say("{A} saw a [tall|thin|round] shape [by the door|in the corner]. Was it a [giant|ghost|monster]?");
    } else {
        t.one(&[
            "Suddenly there was a flash, and then a [great|terrible|loud] boom.",
            "Then the storm came. Thunder [rolled|rumbled] over the roof, and the [windows|cups] shook.",
        ]);
        t.say("{A} hid [under the bed|behind the chair|in the cupboard] and [shook like a leaf|covered both ears|held on to a pillow].");
    }
    t.maybe(40, "\"I am not afraid,\" {A!whispered}, but it was not true.");
    t.para();
    t.one(&[
        "[Knock, knock|Tap, tap]! It was {+B} from next door, [dripping wet|with a lantern|in a {#colour} hat].",
        "Then the door opened a crack, and {+B} [looked in|put {B:his} head inside].",
    ]);
    if t.ch.chance(55) {
        t.looks("B");
    }
    t.one(&[
        "\"[May I come in|Can I stay here]?\" {B!asked}. \"[I do not like this night|It is lonely at my house].\"",
        "\"I [saw no light|thought you might be scared|was a bit scared at home],\" {B!said}.",
    ]);
    if dark {
        t.say("{B} held up {B:his} [lantern|candle], and the monster turned into [a coat on a hook|a broom with a hat on|a pile of {#colour} socks].");
        t.maybe(60, "\"It [has no teeth|looks rather friendly] now,\" {A!said}.");
        t.one(&[
            "Then {AB:they} made [butterflies|birds|funny shapes] on the wall with the light, until the dark was [only a game|full of friends].",
            "\"The dark is only the day with its eyes shut,\" {B!said}.",
            "{B} blew the light out again, and {AB:they} counted the stars in the window. There were [{#number}|too many to count].",
        ]);
    } else {
        t.one(&[
            "\"Count with me,\" {B!said}. \"From the flash to the boom. If the number grows, the storm is going away.\" {AB:they} counted [two|three], then [five|six], then [nine|ten].",
            "\"Thunder is only [clouds bumping heads|the sky moving its chairs],\" {B!said}. {A} thought of that at the next boom and [had to smile|giggled].",
            "{B} [got out a drum|took two pans], and at every boom {AB:they} [banged|shouted] back, louder and louder.",
        ]);
        t.one(&[
            "{#soon} the thunder was far away, and rain [tapped|fell] softly on the roof.",
            "By the time the storm had [gone|passed], {AB:they} had [eaten all the {#food}|told {#number} stories].",
        ]);
    }
    t.para();
    t.one(&[
        "{AB} fell asleep [by the fire|under one blanket|on the rug], and in the morning [the sun was out|everything smelled fresh|there was a rainbow].",
        "\"Were you really scared too?\" {A!asked}. \"[A little|Very|Only until you opened the door],\" {B!said}.",
        "Since that night, {A} [puts a light in the window|leaves the door open a crack|keeps a spare blanket] whenever [it thunders|a storm comes|it is dark] for {B}.",
        "{A} still does not [love|like] {fear}, but {A:he} knows what to do: [knock next door|count|find a friend].",
        "\"Good night,\" {B!said}. But {A} was already [asleep|snoring|dreaming], and not afraid of anything.",
    ]);
    t
}

/// Somebody loses the way and comes home.
pub fn lost_way(ch: Chooser) -> Tale {
    let mut t = begin(
        ch,
        |k| !k.flies,
        |_, k| k.noun != "frog",
        &["foggy", "snowy", "cloudy", "grey", "misty"],
        DAY,
    );
    let fog = matches!(t.place.weather, "foggy" | "misty");
    let snow = t.place.weather == "snowy";
    t.open("was following [a {#colour} butterfly|a line of ants|an interesting smell|a rolling apple|a stream]");
    if snow {
        t.set("why", "snow had covered the path");
    } else if fog {
        t.set("why", "the fog was as thick as [soup|wool|milk]");
    } else {
        t.set("why", "[every tree looked the same|the clouds hid the sun]");
    }
    t.one(&[
        "When {A} looked up at last, {why}, and home was nowhere in sight.",
        "{A} went a little further, and a little further, until {A:he} did not know the way back, because {why}.",
    ]);
    t.maybe(50, "\"[This way|Left, I think|Right, surely],\" {A!said}[ bravely|], but it was the wrong way.");
    t.one(&[
        "{A} [walked|went on] and on, and came to the same [big rock|fallen tree|old stump] [three times|twice].",
        "{A} called, \"[Hello|Is anyone there]?\" Only [an echo|the wind] answered.",
        "{A} sat on a [stump|stone] and [ate {A:his} last {#snack}|felt {#sad}|tried not to cry].",
    ]);
    t.para();
    t.one(&[
        "Then [the bushes moved|a twig snapped|somebody sneezed], and out came {+B}.",
        "\"You [look|seem] lost,\" said a voice. It was {+B}.",
    ]);
    if t.ch.chance(60) {
        t.looks("B");
    }
    t.one(&[
        "\"Where do you live?\" {B!asked}. \"In a {A:home} [by the mill|with a {#colour} door|near the {#tree}],\" {A!said}.",
        "\"[I want to go home|I cannot find my {A:home}],\" {A!said}, and a tear fell [on the ground|down {A:his} cheek].",
    ]);
    t.maybe(35, "{B} [gave|offered] {A:o} half of a [bun|pear|biscuit] first, because nobody can think on an empty belly.");
    match t.ch.below(4) {
        0 => t.one(&[
            "\"Listen,\" {B!said}. Far away a bell [rang|was ringing]. \"That is the [village|church|school] bell.\" {AB:they} followed the sound, [step by step|over hill and stream].",
        ]),
        1 => t.say("\"Streams always know the way,\" {B!said}. {AB:they} followed the water [downhill|past the mill], [over wet stones|under low branches|through the ferns], until {A} saw a roof."),
        2 => t.say("{B} sniffed the air. \"I smell {f={#food}},\" {B!said}. \"[Is somebody at your house cooking|Does your family cook that]?\" \"Yes!\" {A!cried}, and {AB:they} followed the smell."),
        _ if snow => t.say("\"Look, your own footprints,\" {B!said}. \"[They remember the way|They start at your door].\" {AB} followed them [backwards|one by one]."),
        _ => t.say("{B} knew every [tree|stone|bush] in the wood. \"Left at the [{#tree}|crooked stone], and right at the [{#flower}|old well],\" {B!said}, and led the way."),
    }
    t.para();
    t.one(&[
        "At last there was the [door|window|light] of home, and [never had it looked so good|{A} began to run].",
        "\"There it is!\" {A!cried}. A lamp was [burning|shining] in the window.",
        "[When {#dusk}|Just in time for supper], {A} was home again.",
    ]);
    t.one(&[
        "{B} stayed for {#food}[ and a long talk|, twice|].",
        "The next day {A} [drew a map|painted arrows on the trees|tied {#colour} ribbons along the path], just in case.",
        "\"Come and visit me,\" {B!said}. \"[But take the path|I will draw you a map].\"",
        "Now {A} [looks up every ten steps|always carries a bell|tells somebody before going out].",
        "The family [hugged|kissed] {A:o} and {B:o} too, [which made {B:o} blush|and then everyone ate].",
    ]);
    t
}

/// A strange noise turns out to be harmless.
pub fn noise(ch: Chooser) -> Tale {
    let mut t = begin(
        ch,
        any,
        any2,
        &["windy", "rainy", "foggy", "cold", "warm", "cool", "quiet"],
        &["evening", "night"],
    );
    t.set("n", "{#sound}");
    t.place.spot = *t.ch.pick(&[
        "at home",
        "in bed",
        "in the kitchen",
        "by the window",
        "in the old barn",
    ]);
    t.open("was [yawning|eating {#food}|thinking of {#food}|trying to sleep|reading]");
    t.one(&[
        "Then it began: {n}.",
        "^{n}, went something [outside|behind the wall|under the floor|above the roof].",
        "What was that? ^{n}! It came from [the roof|the garden|under the floor|behind the door].",
    ]);
    t.one(&[
        "\"Perhaps it is a {g=[dragon|giant|ghost|robber|monster]},\" {A!whispered}.",
        "{A} thought of a {g=[dragon|giant|ghost|robber|monster]} and [pulled the blanket up|shivered|held {A:his} breath].",
    ]);
    t.para();
    t.one(&[
        "[First|Before anything else] {A} {A:goes} over to fetch {+B}, who lived next door.",
        "So {A} woke {+B}. \"[There is something out there|I heard something]!\" {A!said}.",
    ]);
    t.one(&[
        "\"It is [far too late|too cold] for a {g},\" {B!said}, but {B:he} came along with a [broom|pan|lantern|spoon].",
        "{B} was not [very|so] brave either, yet {B:he} took a [broom|pan|lantern|spoon] and followed.",
        "\"[We will look together|Stay close to me],\" {B!said}, and picked up a [broom|pan|lantern|spoon].",
    ]);
    t.one(&[
        "On tiptoe {AB:they} went [around the house|down the dark path|across the yard]. The noise grew louder.",
        "[Step by step|Slowly, slowly], {AB:they} came closer. The noise stopped. Then it [started|began] again.",
    ]);
    t.para();
    let sound = t.get("n").to_string();
    let cause: &[&str] = match sound.as_str() {
        "tap, tap, tap" => &[
            "a branch of the {#tree} that was knocking on the [window|wall]",
            "a woodpecker who had lost all sense of time",
        ],
        "scratch, scratch" => &[
            "a baby hamster digging for [nuts|roots]",
            "an old broom that the wind was pushing along",
        ],
        "bump, bump, bump" => &[
            "a [{#colour}|wooden] bucket swinging in the wind",
            "apples that were dropping on the roof",
        ],
        "creak, creak" => &[
            "the garden gate, which nobody had closed",
            "the old [swing|sign], moving in the wind",
        ],
        "drip, drop, drip" => &[
            "a leaky [pipe|bucket] over an upside-down pan",
            "the rain barrel, which had a small hole",
        ],
        "whoo, whoo" => &[
            "the wind blowing over an empty bottle",
            "a crack in the [wall|door] where the wind came in",
        ],
        _ => &[
            "a tin cup rolling to and fro",
            "a loose board on the [roof|wall]",
        ],
    };
    let what = *t.ch.pick(cause);
    t.one(&[
        "{B} held up the light, and there it was: ",
        "{A} [peeped|looked] around the corner and saw ",
        "And what did {AB:they} find? It was only ",
    ]);
    t.go_on(&format!("{what}."));
    t.one(&[
        "{AB} laughed so [hard|much] that [a window opened|the stars shook|somebody shouted for quiet].",
        "\"[That is a very small {g}|So much for monsters|What a fierce beast],\" {B!said}.",
        "{A} felt [silly|foolish], and then [relieved|very sleepy|hungry].",
    ]);
    ending(
        &mut t,
        &[
            "{AB} [went back|walked home] and ate {#food}, and there was no other sound but [chewing|munching].",
            "Now, when there is a noise at night, {AB:they} only say, \"[Good evening|Hello there],\" and go back to sleep.",
            "\"Next time, [wake me anyway|bring cake],\" {B!said}. \"I would not want to miss a {g}.\"",
        ],
    );
    t
}
