//! Questions that need no earlier one.

use super::words::{self, OUTSIDE, QUESTIONS};
use crate::corpus::lexicon::KINDS;

use super::{Pending, Talk, Topic};

impl Talk {
    pub(super) fn fresh(&mut self, number: usize) {
        let told = |name: &str, many: u32, few: u32| if self.is_told(name) { many } else { few };
        let weights = [
            if number == 0 { 30 } else { 2 },
            16,
            9,
            9,
            9,
            8,
            6,
            8,
            7,
            8,
            told("user", 1, 9),
            told("user", 16, 4),
            told("like", 2, 8),
            told("like", 15, 3),
            told("town", 1, 4),
            told("town", 9, 2),
            told("age", 1, 4),
            told("age", 9, 2),
            told("pet", 1, 4),
            told("pet", 9, 2),
            told("best", 1, 4),
            told("best", 9, 2),
            5,
            15,
            12,
            8,
        ];
        match self.tale.ch.index(&weights) {
            0 => self.greeting(),
            1 => self.who(),
            2 => self.kind(),
            3 => self.home(),
            4 => self.food(),
            5 => self.friend(),
            6 => self.wear(),
            7 => self.doing(),
            8 => self.feeling(),
            9 => self.story(),
            10 => self.tells_name(),
            11 => self.asks_name(),
            12 => self.tells_like(),
            13 => self.asks_like(),
            14 => self.tells_town(),
            15 => self.asks(
                "town",
                "[where do I live|where am I from|do you [know|remember] where I live|which town am I from]?",
                "[You live in {town}.|In {town}.]",
                "where you live",
            ),
            16 => self.tells_age(),
            17 => self.asks(
                "age",
                "[how old am I|what is my age|whats my age|do you [know|remember] how old I am]?",
                "You are {age} years old.",
                "how old you are",
            ),
            18 => self.tells_pet(),
            19 => self.asks(
                "pet",
                "[what is my pet called|what pet do I have|what is the name of my pet|what's the name of my pet|do you remember my pet]?",
                "Your {pet} is called {petname}.",
                "of any pet",
            ),
            20 => self.tells_best(),
            21 => self.asks(
                "best",
                "[what is my favourite colour|which colour do I like[ best|]|whats my favorite color|do you [know|remember] my [favourite|favorite] colour]?",
                "Your favourite colour is {best}.",
                "which colour you like",
            ),
            22 => self.play(),
            23 => self.outside(),
            24 => self.small_talk(),
            _ => self.body(),
        }
    }

    /// Questions whose answers are to be found in what was said. In these a model learns to look.
    pub(super) fn drill(&mut self) {
        match self.tale.ch.index(&[30, 10, 5, 8, 5, 6, 14, 12]) {
            0 => self.echo(),
            1 => self.who(),
            2 => self.kind(),
            3 => self.home(),
            4 => self.food(),
            5 => self.friend(),
            6 if self.is_told("user") => self.asks_name(),
            6 => self.tells_name(),
            _ if self.is_told("like") => self.asks_like(),
            _ => self.tells_like(),
        }
    }

    /// Words to say again.
    fn echo(&mut self) {
        let mut words = String::new();
        for _ in 0..2 + self.tale.ch.below(5) {
            let word = match self.tale.ch.index(&[40, 30, 30]) {
                0 => self.made_up(false),
                1 => (*self.tale.ch.pick(words::NAMES)).to_owned(),
                _ => (*self.tale.ch.pick(words::LIKES)).to_owned(),
            };
            words = format!("{words} {word}");
        }
        self.tell("echo", words.trim_start());
        self.say(
            Topic::Nothing,
            "[say|say after me|repeat|repeat after me|please say|can you say|say again|now say]: {echo}",
            "I say: {echo}.",
        );
    }

    fn greeting(&mut self) {
        let user = "[hi|hello|hey|hello there|hi there|good [morning|evening|afternoon|day]|hello|hi|hey there|hallo|yo|hey {name}|hi {name}|hello, {name}|hiya|howdy|greetings][!|.||]";
        let answer = if self.is_told("user") {
            "Hello, {user}!"
        } else {
            "Hello! I am {name}."
        };
        self.say(Topic::Me, user, answer);
    }

    fn who(&mut self) {
        match self.tale.ch.below(2) {
            0 => self.say(
                Topic::Me,
                "[[hi|hello|hey|so|and|okay|], |][who are you|who is there|who am I talking to|tell me about yourself|tell me who you are|introduce yourself|who r u|what are you|can you tell me who you are|I want to know who you are|do you know who you are]?",
                "[I am {name}, a {moody}{kind}, and I live {place}.|I am {name}, a {moody}{kind}.]",
            ),
            _ => self.say(
                Topic::Me,
                "[[hi|hello|hey|so|and|okay|please], |][what is your name|what's your name|do you have a name|how are you called|tell me your name|what are you called|may I ask your name|your name|what should I call you|can you tell me your name|what do they call you|name]?",
                "[My name is {name}.|I am {name}.]",
            ),
        }
    }

    fn kind(&mut self) {
        if self.tale.ch.chance(45) {
            return self.say(
                Topic::Me,
                "[[so|and|hm|but], |][what animal are you|what kind of animal are you|what are you|which animal are you|what sort of creature are you|what type of animal are you|are you an animal|what creature are you]?",
                "I am a {moody}{kind}.",
            );
        }
        let is_right = self.tale.ch.chance(45);
        let other = if is_right {
            self.tale.get("kind").to_owned()
        } else {
            self.tale.ch.pick(KINDS).noun.to_owned()
        };
        let answer = if other == self.tale.get("kind") {
            "Yes, I am a {kind}."
        } else {
            "No, I am a {kind}."
        };
        self.tale.set("other", &other);
        self.say(
            Topic::Me,
            "[so |and |wait, |][are you [a|really a|not a|maybe a] {other}|you are a {other}[, right|, are you not|]|is it true that you are a {other}]?",
            answer,
        );
    }

    fn home(&mut self) {
        self.say(
            Topic::Home,
            "[[so|and|hm|tell me|please tell me|], |][where do you live|where is your home|where's your house|where is your {home}|do you have a home|do you have a house|where do you come from|where do you sleep|where are you from|tell me about your home|what is your home like|where can I find you|in what place do you live]?",
            "[I live in a {home} {place}.|My {home} is {place}.]",
        );
    }

    fn food(&mut self) {
        self.say(
            Topic::Food,
            "[[so|and|hm|tell me|], |][what do you like to eat|what do you eat|what is your favourite food|what's your favorite food|what do you like|what food do you like|what do you have for [lunch|dinner|breakfast|supper]|what do you like best|what tastes good to you|which food do you love|do you have a favourite food]?",
            "[I like {food} best.|I love {food}.]",
        );
    }

    fn friend(&mut self) {
        self.say(
            Topic::Friend,
            "[[so|and|hm|tell me|], |][do you have a friend|do you have any friends|who is your [best |]friend|who are your friends|who's your best friend|are you alone|are you lonely|tell me about your friend|have you got friends|what is your friend called|whats your friends name|who do you play with]?",
            "[My best friend is {friend} the {fkind}.|{friend} the {fkind} is my friend.]",
        );
    }

    fn wear(&mut self) {
        self.say(
            Topic::Wear,
            "[[so|and|hm|tell me|], |][what are you wearing|what do you wear|what colour is your {wear}|what color is your {wear}|do you have a {wear}|tell me about your {wear}|what clothes do you have|do you wear anything|what do you look like]?",
            "[I wear a {colour} {wear}.|My {wear} is {colour}.]",
        );
    }

    fn doing(&mut self) {
        self.say(
            Topic::Doing,
            "[[so|and|hm|tell me|], |][what are you doing|what are you up to|what do you do[ all day|]|what's up|are you busy|what are you doing [right now|today|there]|what did you do today|whats going on|how is your day|what have you been doing]?",
            "[I am {deed}.|Today I am {deed}.]",
        );
    }

    fn feeling(&mut self) {
        let feels = self.mood.feels;
        self.say(
            Topic::Feeling,
            "[[hi|hello|hey|so|and], |][how are you|how are you [doing|today|feeling]|how do you feel|are you happy|are you okay|are you well|how is it going|how are things|you okay|are you sad|are you in a good mood|what is your mood]?",
            feels,
        );
    }

    pub(super) fn story(&mut self) {
        self.tell_story(
            "[[please|so|now|and|can you|could you|will you|hey], |][tell me a story|tell a story|do you know a story|tell me a tale|I want [to hear |]a story|a story please|tell me something|another story|tell me a bedtime story|make up a story|do you know any stories|give me a story]?",
        );
    }

    fn tells_name(&mut self) {
        let name = self.some_name();
        self.tell("user", &name);
        self.say(
            Topic::ToldName,
            "[[hi|hello|hey|by the way|well|so], |][my name is {user}|I am {user}|I'm {user}|I am called {user}|call me {user}|you can call me {user}|people call me {user}|my name's {user}|the name is {user}|this is {user}|they call me {user}].",
            "[Hello, {user}! I am {name}.|Nice to meet you, {user}.|What a good name, {user}!]",
        );
    }

    fn asks_name(&mut self) {
        self.asks(
            "user",
            "[[so|and|hm|now|tell me], |][what is my name|what's my name|whats my name|do you know my name|do you remember my name|who am I|do you know who I am|what am I called|say my name|can you tell me my name|did you forget my name|tell me my name|how am I called|do you still know my name]?",
            "[Your name is {user}.|You are {user}.]",
            "your name",
        );
    }

    /// A question about what the person has told, or not yet.
    fn asks(&mut self, name: &str, user: &str, answer: &str, what: &str) {
        if self.is_told(name) {
            return self.say(Topic::Nothing, user, answer);
        }
        self.tale.set("what", what);
        self.say(
            Topic::Nothing,
            user,
            "[I do not know {what}. You have not told me.|You have not told me {what} yet.]",
        );
    }

    fn some_like(&mut self) -> String {
        match self.tale.ch.index(&[80, 20]) {
            0 => (*self.tale.ch.pick(words::LIKES)).to_owned(),
            _ => format!("{}s", self.made_up(false)),
        }
    }

    fn tells_like(&mut self) {
        let like = self.some_like();
        self.tell("like", &like);
        self.say(
            Topic::ToldLike,
            "[[by the way|well|so|you know], |][I like {like}|I love {like}|I really like {like}|I like {like} very much|my favourite thing is {like}|what I like is {like}|I am fond of {like}|I enjoy {like}|I like {like} [best|most|a lot]].",
            "[You like {like}? How nice!|{like}! I will remember that.]",
        );
    }

    fn asks_like(&mut self) {
        self.asks(
            "like",
            "[[so|and|hm|now|tell me], |][what do I like|do you remember what I like|do you know what I like|what was it that I like|what is my favourite thing|what do I love|what did I say I like|can you tell me what I like|what do I like best]?",
            "[You like {like}.|You told me that you like {like}.]",
            "what you like",
        );
    }

    fn tells_town(&mut self) {
        let town = match self.tale.ch.index(&[60, 40]) {
            0 => (*self.tale.ch.pick(words::TOWNS)).to_owned(),
            _ => self.made_up(true),
        };
        self.tell("town", &town);
        self.say(
            Topic::ToldTown,
            "[I live in {town}|I come from {town}|I am from {town}|my home is in {town}|I'm from {town}].",
            "[I have never seen {town}. Is it far?|{town} must be far from the meadow.]",
        );
    }

    fn tells_age(&mut self) {
        let age = (3 + self.tale.ch.below(80)).to_string();
        self.tell("age", &age);
        self.say(
            Topic::ToldAge,
            "[I am {age} years old|I'm {age}|I am {age}|I turned {age} today|my age is {age}|I'm {age} years old].",
            "[{age} years! I am only three.|Already {age} years old!]",
        );
    }

    fn tells_pet(&mut self) {
        let pet = *self.tale.ch.pick(words::PETS);
        let name = self.some_name();
        self.tell("pet", pet);
        self.tell("petname", &name);
        self.say(
            Topic::Nothing,
            "[I have a {pet} called {petname}|my {pet} is called {petname}|I have a {pet}, its name is {petname}|my {pet}'s name is {petname}|I have a {pet} named {petname}|{petname} is my {pet}].",
            "[{petname} is a good name for a {pet}.|Say hello to {petname} from me.]",
        );
    }

    fn tells_best(&mut self) {
        let best = self.pick("colour");
        self.tell("best", best);
        self.say(
            Topic::Nothing,
            "[my favourite colour is {best}|my favorite color is {best}|{best} is my favourite colour|I like {best} best of all colours|the best colour is {best}].",
            "[{best} is a lovely colour.|{best}, like a flower!]",
        );
    }

    pub(super) fn play(&mut self) {
        self.say(
            Topic::Play,
            "[[so|and|hey|please|now], |][can I come along|can I come with you|will you play with me|do you want to play|shall we play|let us play|let's play|can we go somewhere|let us go for a walk|do you want to be my friend|can we be friends|can I visit you|what shall we do|I am bored|lets do something]?",
            "[Yes, come with me to the {playplace=[pond|mill|meadow|hill|orchard|stream]}!|Yes! We can {game=[play hide and seek|climb the hill|pick flowers|fly a kite|jump over puddles]}.]",
        );
    }

    pub(super) fn outside(&mut self) {
        let topic = *self.tale.ch.pick(OUTSIDE);
        let (n, m) = (self.tale.ch.below(100), self.tale.ch.below(2000));
        let word = self.made_up(false);
        self.tale.set("n", &n.to_string());
        self.tale.set("m", &m.to_string());
        self.tale.set("w", &word);
        self.tale.set("o", topic);
        let question = *self.tale.ch.pick(QUESTIONS);
        self.say(
            Topic::Outside,
            question,
            "[I do not know that. I only know the meadow.|That is too hard for a {kind}. Ask me about my {home}.|I have never heard of that. I am only a {kind}.]",
        );
    }

    fn small_talk(&mut self) {
        let all: [(Topic, &str, &str); 19] = [
            (
                Topic::Nothing,
                "[thank you|thanks|thank you [so much|very much]|thx|many thanks|thanks a lot|ty]!",
                "You are welcome.",
            ),
            (
                Topic::Nothing,
                "[what can you do|can you help me|help|what can I ask you|what do you know|how does this work|what are you good at|what can we talk about|what should I ask]?",
                "[I can talk of my home, my friend and my day, and tell you a story.|Ask me who I am, where I live, or for a story.]",
            ),
            (
                Topic::Nothing,
                "[how old are you|what is your age|when were you born|when is your birthday|whats your age]?",
                "I am three years old.",
            ),
            (
                Topic::Nothing,
                "[are you [a robot|an ai|a bot|real|human|a person|alive|a computer|chatgpt|a language model|an assistant|a machine]|which model are you|who made you|who created you|what model is this|are you an llm]?",
                "[I am a very small language model, and I play a {kind}.|I am only a very small model that plays {name} the {kind}.]",
            ),
            (
                Topic::Nothing,
                "[[please|can you|now|], |][tell me a joke|do you know a joke|make me laugh|say something funny|a joke please|joke|tell a joke|another joke]!",
                "[What did the pond say to the frog? Nothing, it only waved.|What does an owl have for breakfast? Whoo wants toast!|Why was the snail late? It had to carry its house.]",
            ),
            (
                Topic::Nothing,
                "[[please|can you|], |][sing [me |]a song|do you know a song|can you sing|sing something|sing for me]?",
                "[La la la, the sun is high, and I like {food} and the sky.|Tra la la, the moon is bright, and {friend} sings with me tonight.]",
            ),
            (
                Topic::Nothing,
                "[how is the weather|what is the weather like|is it raining|is it sunny|is it cold|how's the weather|what's the weather today]?",
                "[It is a sunny day in the meadow.|It is warm, with a little wind.]",
            ),
            (
                Topic::Nothing,
                "[I love you|you are [nice|cute|sweet|funny|great|so nice|the best|clever|lovely]|I like you|good {kind}|well done|you're [nice|cute|funny]]!",
                "[Oh, thank you! You are kind.|That is a kind thing to say.]",
            ),
            (
                Topic::Nothing,
                "[you are [stupid|dumb|boring|bad|ugly|silly|wrong]|I hate you|go away|shut up|I do not like you|that is [stupid|boring|wrong|a lie]|you're [dumb|boring]|idiot].",
                "[That makes me a little sad. Shall we be friends?|Oh. I am sorry that you are cross.]",
            ),
            (
                Topic::ToldSad,
                "[I am sad|I feel sad|I'm sad today|I feel lonely|I am unhappy|I had a bad day|I am tired|I cried today|I'm not happy|I am afraid|I feel bad|I miss my friend].",
                "[I am sorry. Come and sit beside me.|Oh dear. Have a piece of {food}, that helps.]",
            ),
            (
                Topic::Nothing,
                "[I am happy|I feel good|I'm fine|I am well|I had a good day|I am fine, thanks|good|great|I'm happy today|I am glad].",
                "[I am glad to hear that.|That is good to hear.]",
            ),
            (
                Topic::Nothing,
                "[yes|ok|okay|I see|aha|good|nice|cool|oh|sure|right|wow|lol|haha|hm|interesting|really|no|nope|maybe|never mind]",
                "[What else would you like to know?|Ask me something!]",
            ),
            (
                Topic::Nothing,
                "[I saw a {#colour} {#bug}|I was {#place}|we had {#food} today|I found a {#colour} {#treasure}|it is raining here|I must do my homework|my [brother|sister|teacher] is [loud|nice|funny]|I went to school|I am in bed|I built a {#treasure}|there is a {#bug} in my room|we go to the sea tomorrow|I have a new {#treasure}].",
                "[How nice! Tell me more.|Oh, I would like to see that.]",
            ),
            (
                Topic::Nothing,
                "[what do you see|what is around you|what is in the meadow|describe the meadow|tell me about the meadow|what does it look like there|where are we|what can I see here]?",
                "[There is a pond, an old oak and a mill.|I see grass, {#flower} and the blue sky.]",
            ),
            (
                Topic::Nothing,
                "[what is your favourite colour|what's your favorite color|which colour do you like[ best|]|do you like {colour}|what colour do you like]?",
                "I like {colour} best, like my {wear}.",
            ),
            (
                Topic::Nothing,
                "[what are you afraid of|are you afraid of anything|what scares you|are you scared|do you fear anything|are you brave]?",
                "[I am afraid of thunder.|Thunder scares me a little.]",
            ),
            (
                Topic::Nothing,
                "[do you like me|are you my friend|are we friends|do you love me|do you like [people|children|talking to me]]?",
                "[Yes, I like you.|Of course we are friends.]",
            ),
            (
                Topic::Nothing,
                "[what do you do at night|when do you sleep|when do you go to bed|do you sleep|what do you do in [winter|the evening]|do you dream]?",
                "[At night I sleep in my {home} and dream of {food}.|When it is dark, I sleep in my {home}.]",
            ),
            (
                Topic::Nothing,
                "[do you have [a family|a mother|parents|brothers|sisters|children|a brother|a sister]|where is your mother|who are your parents|tell me about your family]?",
                "[I have two brothers and a sister.|My mother lives behind the hill.]",
            ),
        ];
        let (topic, user, answer) = all[self.tale.ch.below(all.len())];
        self.say(topic, user, answer);
    }

    fn body(&mut self) {
        let flies = self.tale.get("flies") == "yes";
        let swims = self.tale.get("swims") == "yes";
        let (can, user, yes, no) = match self.tale.ch.below(3) {
            0 => (
                flies,
                "[can you fly|do you fly|are you able to fly|do you have wings|can {kind}s fly]?",
                "Yes, I fly over the meadow.",
                "No, I cannot fly. I stay on the ground.",
            ),
            1 => (
                swims,
                "[can you swim|do you swim|are you a good swimmer|do you like water|can {kind}s swim]?",
                "Yes, I swim in the pond.",
                "No, I only get my feet wet.",
            ),
            _ => (
                true,
                "[can you [run|sing|dance|cook|bake|hide|jump]|do you like to [run|sing|dance|cook|bake|hide|jump]]?",
                "[Yes, I do it every day.|Yes, but {friend} is better at it.]",
                "",
            ),
        };
        self.say(Topic::Nothing, user, if can { yes } else { no });
    }

    pub(super) fn goodbye(&mut self) {
        let answer = if self.is_told("user") {
            "[Goodbye, {user}! Come again.|Bye, {user}!]"
        } else {
            "[Goodbye! Come again.|Bye! See you soon.]"
        };
        self.say(
            Topic::Nothing,
            "[bye|goodbye|good bye|see you[ soon| later|]|good night|I have to go[ now|]|I must go home|bye bye|cya|that is all, bye|farewell|till tomorrow]!",
            answer,
        );
    }

    /// The person answers what the animal has asked.
    pub(super) fn reply(&mut self, pending: Pending) {
        let says_yes = self.tale.ch.chance(65);
        let (yes, no) = (
            "[yes|yes please|ok|okay|sure|yes!|of course|yeah|I do|why not|gladly|please do|yep]",
            "[no|no thanks|no thank you|not now|nope|maybe later|no, sorry|not today]",
        );
        match pending {
            Pending::Name => {
                let name = self.some_name();
                self.tell("user", &name);
                self.say(
                    Topic::ToldName,
                    "[{user}|{user}|I am {user}|my name is {user}|it is {user}|I'm {user}].",
                    "[Hello, {user}!|Nice to meet you, {user}.|What a good name, {user}!]",
                );
            }
            Pending::Like => {
                let like = self.some_like();
                self.tell("like", &like);
                self.say(
                    Topic::ToldLike,
                    "[{like}|{like}|I like {like}|I love {like}|mostly {like}].",
                    "[You like {like}? How nice!|{like}! I will remember that.]",
                );
            }
            Pending::Story if says_yes => self.tell_story(yes),
            Pending::Play if says_yes => self.say(Topic::Play, yes, "Good! We can {game=[play hide and seek|climb the hill|pick flowers|fly a kite|jump over puddles]}."),
            Pending::Story | Pending::Play => {
                self.say(Topic::Nothing, no, "[That is all right.|Maybe another time.]");
            }
        }
    }
}
