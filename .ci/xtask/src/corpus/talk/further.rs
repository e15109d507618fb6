//! Questions that need what was said before.

use super::{Talk, Topic};
use crate::corpus::lexicon::{HE, KINDS, SHE};

/// The three parts of a story about `{sname}`, a `{skind}`, and a `{scol}` `{sthing}`.
const STORIES: &[[&str; 3]] = &[
    [
        "Once there was a {skind} called {sname}, who lost a {scol} {sthing} {splace}.",
        "{sname} looked behind every stone, but the {sthing} was gone.",
        "Then a small beetle brought it back, and {sname} danced all night.",
    ],
    [
        "Once a {skind} called {sname} found a {scol} {sthing} {splace}.",
        "{sname} asked everyone in the meadow, but nobody had lost it.",
        "At last a little mouse said that it was hers, and they became friends.",
    ],
    [
        "Once a {skind} called {sname} climbed the highest hill with a {scol} {sthing}.",
        "There the wind came and took the {sthing} far over the wood.",
        "It fell into a pond, and a frog gave it back to {sname}.",
    ],
    [
        "Once a {skind} called {sname} had a {scol} {sthing}, and two friends who wanted it too.",
        "They quarrelled until the sun went down.",
        "Then {sname} had an idea: each day another one may have the {sthing}.",
    ],
    [
        "Once upon a time, a {skind} called {sname} built a boat and took only a {scol} {sthing} along.",
        "A storm came, and the boat went round and round.",
        "{sname} waved the {sthing}, and a big duck pulled the boat home.",
    ],
];

impl Talk {
    /// Tells the first part of a story.
    pub(super) fn tell_story(&mut self, user: &str) {
        let names = if self.tale.ch.chance(50) { HE } else { SHE };
        let name = *self.tale.ch.pick(names);
        let kind = self.tale.ch.pick(KINDS).noun;
        self.tale.set("sname", name);
        self.tale.set("skind", kind);
        for (variable, key) in [
            ("scol", "colour"),
            ("sthing", "smalltreasure"),
            ("splace", "place"),
        ] {
            let value = self.pick(key);
            self.tale.set(variable, value);
        }
        let parts = self.tale.ch.pick(STORIES);
        for (variable, part) in ["part1", "part2", "part3"].into_iter().zip(parts) {
            self.tale.set(variable, part);
        }
        self.say(Topic::Story(1), user, "{part1}");
    }

    /// A question that goes on with the topic.
    pub(super) fn follow(&mut self, topic: Topic) {
        const WHY: &str = "[why|why is that|why?|how come|but why|and why|why so|tell me why]?";
        const YOU: &str = "[and you|what about you|and yours|how about you|and what about you]?";
        let here = topic;
        let pick = |ch: &mut Talk, all: &[(Topic, &'static str, &'static str)]| {
            all[ch.tale.ch.below(all.len())]
        };
        let (next, user, answer) = match topic {
            Topic::Nothing => return self.fresh(1),
            Topic::Me => pick(
                self,
                &[
                    (
                        Topic::Home,
                        "[and |][where do you live|where is your home|where]?",
                        "[I live in a {home} {place}.|My {home} is {place}.]",
                    ),
                    (
                        Topic::Friend,
                        "[and your friend|what about your friend|and who is your friend]?",
                        "[My best friend is {friend} the {fkind}.|{friend} the {fkind} is my friend.]",
                    ),
                    (
                        Topic::Me,
                        "[what|what did you say|pardon|sorry|say that again|who]?",
                        "I am {name}, a {moody}{kind}.",
                    ),
                ],
            ),
            Topic::Home => pick(
                self,
                &[
                    (
                        here,
                        "[is it nice there|what is it like[ there|]|do you like it there|is it warm|is it big|how is it there]?",
                        "It is small and warm, and it smells of {smell}.",
                    ),
                    (
                        here,
                        "[who lives with you|do you live alone|are you alone there|does anybody live with you|who else lives there]?",
                        "I live alone, but {friend} often visits me.",
                    ),
                    (
                        here,
                        "[can I visit you|may I come in|can I come|can I see it|may I visit you there]?",
                        "[Yes, come to my {home}.|Yes, you are welcome in my {home}.]",
                    ),
                    (here, WHY, "It is quiet there, and the berries are near."),
                    (
                        Topic::Friend,
                        "[what about your friend|and your friend|and where does your friend live|where does {friend} live]?",
                        "{friend} lives {fplace}.",
                    ),
                ],
            ),
            Topic::Food => pick(
                self,
                &[
                    (here, WHY, "It makes my belly warm."),
                    (
                        here,
                        "[who makes it|can you cook it|who made it|do you make it yourself|where do you get it]?",
                        "{friend} gives it to me.",
                    ),
                    (
                        here,
                        "[can I have some|may I have some|can I try it|is there some for me|give me some|will you share it]?",
                        "Yes, there is enough {food} for two.",
                    ),
                    (
                        here,
                        "[what else|anything else|and what else|what else do you like|only that]?",
                        "I like {snack} too.",
                    ),
                    (
                        Topic::Friend,
                        "[what about your friend|and your friend|what does your friend like|what does {friend} like|and {friend}]?",
                        "{friend} likes {fsnack}.",
                    ),
                ],
            ),
            Topic::Friend => pick(
                self,
                &[
                    (
                        here,
                        "[where does {friend} live|where is your friend|where does your friend live|where is {friend}|and where does your friend live]?",
                        "{friend} lives {fplace}.",
                    ),
                    (
                        here,
                        "[what is your friend called|what's the name of your friend|what is the name of your friend|and the name|who]?",
                        "My friend is called {friend}.",
                    ),
                    (
                        here,
                        "[what animal is {friend}|is {friend} a {fkind}|what is {friend}|what kind of animal is your friend|what is your friend]?",
                        "{friend} is a {fkind}.",
                    ),
                    (
                        here,
                        "[what do you do together|what do you play|do you play together|and what do you do with {friend}|do you meet often]?",
                        "We [play hide and seek|pick berries|look at the stars].",
                    ),
                    (
                        here,
                        "[why is {friend} your friend|why do you like {friend}|why are you friends|why|how did you meet]?",
                        "{friend} helped me out of a hole once.",
                    ),
                    (
                        here,
                        "[tell me more|tell me more about {friend}|more|go on|tell me about {friend}]",
                        "{friend} is a {fkind} and lives {fplace}.",
                    ),
                ],
            ),
            Topic::Wear => pick(
                self,
                &[
                    (
                        here,
                        "[who made it|where did you get it|who gave it to you|did you make it|where is it from]?",
                        "{friend} made it for me.",
                    ),
                    (
                        here,
                        "[is it warm|do you like it|is it new|is it nice|is it soft]?",
                        "Yes, it is soft and warm.",
                    ),
                    (
                        here,
                        "[can I have it|may I have it|will you give it to me|can I wear it|give it to me]?",
                        "No, I need my {wear}.",
                    ),
                    (
                        here,
                        "[what colour is it|which colour|what color|and the colour|what colour was it]?",
                        "My {wear} is {colour}.",
                    ),
                    (here, WHY, "I am cold without my {wear}."),
                ],
            ),
            Topic::Doing => pick(
                self,
                &[
                    (here, WHY, "{why}."),
                    (here, WHY, "{why}."),
                    (
                        here,
                        "[can I help|can I help you|may I help you|shall I help you|do you need help]?",
                        "[Yes, please.|Yes, we can do it together.]",
                    ),
                    (
                        here,
                        "[how is it going|how far are you|are you done|is it going well|is it hard|how does it go]?",
                        "{goes}.",
                    ),
                    (
                        here,
                        "[what|what did you say|what are you doing|pardon|what was that]?",
                        "I am {deed}.",
                    ),
                ],
            ),
            Topic::Feeling => {
                let why = self.mood.why;
                pick(self, &[(here, WHY, why), (here, WHY, why)])
            }
            Topic::Story(told) => return self.go_on(told),
            Topic::Play => pick(
                self,
                &[
                    (
                        Topic::Nothing,
                        "[is it far|how far is it|is it far away]?",
                        "No, it is only behind the hill.",
                    ),
                    (
                        Topic::Nothing,
                        "[can your friend come|can {friend} come too|who else comes|and your friend|is {friend} coming]?",
                        "Yes, {friend} comes too.",
                    ),
                    (
                        Topic::Nothing,
                        "[when|now|when do we go|shall we go now|and when]?",
                        "Now, while the sun is out!",
                    ),
                ],
            ),
            Topic::Outside => pick(
                self,
                &[
                    (
                        here,
                        "[why|why not|why don't you know|how come|why can't you|but why]?",
                        "I am only a {kind}, and I never left the meadow.",
                    ),
                    (
                        Topic::Me,
                        "[what do you know then|so what do you know|what do you know|then what do you know|do you know anything]?",
                        "I know the meadow, my {home} and my friend {friend}.",
                    ),
                    (
                        here,
                        "[please|try it|you must know|come on|are you sure|please try|just guess|think]!",
                        "[I really do not know.|I would tell you if I knew.]",
                    ),
                ],
            ),
            Topic::ToldName => pick(
                self,
                &[
                    (Topic::Me, YOU, "My name is {name}."),
                    (
                        Topic::Nothing,
                        "[do you like [it|my name|that name]|is it a good name|is that a nice name]?",
                        "Yes, {user} is a good name.",
                    ),
                    (
                        Topic::Nothing,
                        "[what did I say|what is my name|so what is my name|say it|what's my name]?",
                        "[Your name is {user}.|You are {user}.]",
                    ),
                ],
            ),
            Topic::ToldLike => pick(
                self,
                &[
                    (Topic::Food, YOU, "I like {food} best."),
                    (
                        Topic::Nothing,
                        "[do you like {like} too|do you like that too|do you like {like}|do you too|you too]?",
                        "Yes, I like {like} too.",
                    ),
                    (
                        Topic::Nothing,
                        "[so what do I like|what did I say|what do I like|what is it that I like]?",
                        "[You like {like}.|You told me that you like {like}.]",
                    ),
                ],
            ),
            Topic::ToldTown => {
                (Topic::Home, YOU, "[I live in a {home} {place}.|My {home} is {place}.]")
            }
            Topic::ToldAge => (Topic::Nothing, YOU, "I am three years old."),
            Topic::ToldSad => pick(
                self,
                &[
                    (
                        Topic::Nothing,
                        "[thank you|thanks|that helps|you are kind|that is nice of you].",
                        "You are welcome.",
                    ),
                    (
                        Topic::Nothing,
                        "[what should I do|what can I do|what shall I do now|can you help me|help me|what now]?",
                        "Let us look at the clouds together.",
                    ),
                ],
            ),
        };
        self.say(next, user, answer);
    }

    /// The story goes on, or is asked about.
    fn go_on(&mut self, told: usize) {
        let here = Topic::Story(told);
        if self.tale.ch.chance(60) {
            let user = "[and then|what happened then|go on|and|then what|what happened next|more|tell me more|how does it end|what did {sname} do|continue|next|is that all|and what happened]?";
            let (next, answer) = match told {
                1 => (Topic::Story(2), "{part2}"),
                2 => (Topic::Story(3), "{part3}"),
                _ => (Topic::Nothing, "That is the end of the story."),
            };
            return self.say(next, user, answer);
        }
        let (user, answer) = match self.tale.ch.below(5) {
            0 => (
                "[who was it about|what was the {skind} called|who is in the story|what was the name of the {skind}|what was its name|who]?",
                "The {skind} was called {sname}.",
            ),
            1 => (
                "[what colour was the {sthing}|what color was the {sthing}|which colour was it|what colour was it|how did the {sthing} look]?",
                "The {sthing} was {scol}.",
            ),
            2 => (
                "[what animal was {sname}|was {sname} a {skind}|what was {sname}|what is {sname}|who was {sname}]?",
                "{sname} was a {skind}.",
            ),
            3 => (
                "[is it true|did that really happen|is that a true story|really|did you make that up]?",
                "I heard it from {friend}, so it must be true.",
            ),
            _ => (
                "[nice|that is a nice story|I like it|good story|what a nice story|thank you for the story|that was lovely]!",
                "[I am glad that you like it.|I like it too.]",
            ),
        };
        self.say(here, user, answer);
    }
}
