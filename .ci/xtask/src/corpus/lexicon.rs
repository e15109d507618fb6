//! The words of the small world: names, kinds and lists to draw from.

/// A kind of character and what its body allows.
#[derive(Debug)]
pub struct Kind {
    /// The noun, singular.
    pub noun: &'static str,
    /// Where it lives.
    pub home: &'static str,
    /// 1 is small as a mouse, 2 as a fox, 3 as a bear.
    pub size: u8,
    /// Whether it flies.
    pub flies: bool,
    /// Whether it swims well by nature.
    pub swims: bool,
    /// Verbs for how it goes, past tense.
    pub goes: &'static [&'static str],
}

/// `body` is `f` where it flies, `s` where it swims, and `fs` where it does both.
const fn kind(
    noun: &'static str,
    home: &'static str,
    size: u8,
    body: &str,
    goes: &'static [&'static str],
) -> Kind {
    let body = body.as_bytes();
    let (flies, swims) = (matches!(body, [b'f', ..]), matches!(body, [.., b's']));
    Kind { noun, home, size, flies, swims, goes }
}

/// All kinds of characters.
pub const KINDS: &[Kind] = &[
    kind("fox", "den", 2, "", &["trotted", "ran", "crept"]),
    kind("rabbit", "burrow", 1, "", &["hopped", "bounced", "ran"]),
    kind("girl", "cottage", 2, "", &["walked", "ran", "skipped"]),
    kind("boy", "cottage", 2, "", &["walked", "ran", "skipped"]),
    kind("mouse", "hole", 1, "", &["scurried", "ran", "crept"]),
    kind("bear", "cave", 3, "", &["plodded", "walked", "strolled"]),
    kind("owl", "nest", 1, "f", &["flew", "glided", "flapped"]),
    kind("hedgehog", "burrow", 1, "", &["scurried", "walked", "pattered"]),
    kind("otter", "den", 2, "s", &["ran", "bounced", "trotted"]),
    kind("duck", "nest", 1, "fs", &["waddled", "flapped", "walked"]),
    kind("goat", "shed", 3, "", &["trotted", "skipped", "strolled"]),
    kind("squirrel", "nest", 1, "", &["scurried", "bounced", "ran"]),
    kind("badger", "burrow", 2, "", &["plodded", "walked", "trotted"]),
    kind("cat", "cottage", 2, "", &["padded", "crept", "strolled"]),
    kind("dog", "kennel", 2, "s", &["trotted", "ran", "padded"]),
    kind("frog", "pond", 1, "s", &["hopped", "bounced", "leaped"]),
];

/// Names that go with "he".
pub const HE: &[&str] = &[
    "Pip", "Bram", "Otto", "Milo", "Finn", "Hugo", "Leo", "Sam", "Rufus", "Wilf",
];

/// Names that go with "she".
pub const SHE: &[&str] = &[
    "Tilly", "Nora", "Ada", "Clara", "Dora", "Greta", "Ida", "Juno", "Kiki", "Zara",
];

/// A trait: the adjective, and what others know of it. `~` stands for "he" or "she".
pub const TRAITS: &[(&str, &str)] = &[
    ("curious", "~ asked [a hundred|ten] questions [every day|before breakfast]"),
    ("shy", "~ [blushed|hid] whenever anyone [said hello|came near]"),
    ("cheerful", "~ [hummed|sang|whistled] from morning until night"),
    ("stubborn", "~ never [changed ~s mind|gave up], even when it rained"),
    ("kind", "~ always had [a warm word|time|a crumb to spare] for others"),
    ("brave", "~ had once [crossed the dark wood|chased away a storm cloud] alone"),
    ("clumsy", "~ [tripped over|bumped into] [everything|every root and stone]"),
    ("clever", "~ could [count to a thousand|fix nearly anything|read the clouds]"),
    ("sleepy", "~ could fall asleep [standing up|in the middle of lunch]"),
    ("careful", "~ looked [twice|three times] before every step"),
    ("messy", "there was always [jam|mud|honey] on ~s chin"),
    ("proud", "~ liked to tell [everyone|the whole village] how well ~ could sing"),
    ("hungry", "~ [never missed a meal|ate two breakfasts|dreamed of pies]"),
    ("gentle", "~ never stepped on [a flower|an ant]"),
];

/// The list that goes by `key` in a template.
// Long: a table.
pub fn list(key: &str) -> &'static [&'static str] {
    match key {
        "looks" => &[
            "small", "little", "young", "round", "tiny", "fluffy", "thin", "grey", "brown", "tall",
            "quiet", "merry", "spotty", "sleepy",
        ],
        "colour" => &[
            "red", "blue", "green", "yellow", "brown", "silver", "white", "black", "orange",
            "purple", "grey", "golden", "pink",
        ],
        "treasure" => &[
            "button", "ball", "kite", "hat", "scarf", "marble", "whistle", "bell", "drum",
            "ribbon", "spoon", "key", "boat", "cup", "blanket", "lantern", "mitten", "basket",
            "umbrella", "shell",
        ],
        "smalltreasure" => &[
            "button", "marble", "whistle", "bell", "ribbon", "spoon", "key", "mitten", "shell",
            "ring", "coin", "feather", "bead", "ball", "hat", "scarf",
        ],
        "food" => &[
            "apple pie",
            "honey cake",
            "bread",
            "berry jam",
            "warm soup",
            "plum tart",
            "rice pudding",
            "carrot stew",
            "nut bread",
            "pear cake",
            "oat porridge",
            "cheese",
            "pumpkin soup",
            "cherry pie",
            "buttered toast",
        ],
        "snack" => &[
            "apple",
            "pear",
            "plum",
            "carrot",
            "bun",
            "biscuit",
            "pancake",
            "strawberry",
            "peach",
            "nut",
            "cherry",
            "turnip",
            "muffin",
            "slice of cheese",
        ],
        "flower" => &[
            "daisies",
            "tulips",
            "bluebells",
            "roses",
            "buttercups",
            "clover",
            "lilies",
        ],
        "place" => &[
            "by the pond",
            "under the old oak",
            "at the edge of the wood",
            "on the windy hill",
            "near the mill",
            "beside the stream",
            "in the meadow",
            "behind the barn",
            "by the stone wall",
            "near the wooden bridge",
            "in the orchard",
            "at the end of the lane",
            "beside the big rock",
        ],
        "land" => &[
            "in a quiet valley",
            "in a little village",
            "in a green wood",
            "by a sunny meadow",
            "in a small town by the sea",
            "in a forest of tall pines",
            "in a village on a hill",
            "on a farm near a river",
            "in a garden full of weeds",
            "on an island in a lake",
            "at the foot of a mountain",
            "behind a row of old houses",
        ],
        "glad" => &[
            "happy",
            "glad",
            "proud",
            "delighted",
            "cheerful",
            "pleased",
            "warm inside",
            "merry",
        ],
        "sad" => &[
            "sad",
            "lonely",
            "gloomy",
            "unhappy",
            "worried",
            "upset",
            "miserable",
        ],
        "cry" => &[
            "Oh no",
            "Oh dear",
            "Bother",
            "Goodness me",
            "Help",
            "Dear me",
            "Oh, crumbs",
        ],
        "yay" => &[
            "Hooray",
            "Wonderful",
            "At last",
            "Look at that",
            "We did it",
            "Oh, yes",
        ],
        "tree" => &[
            "oak",
            "apple tree",
            "pine",
            "willow",
            "cherry tree",
            "chestnut tree",
        ],
        "pot" => &[
            "pot", "jug", "bucket", "cup", "kettle", "bottle", "box", "jar", "basket", "bowl",
            "lamp", "boot", "hat",
        ],
        "box" => &[
            "basket", "box", "bag", "bucket", "jar", "bowl", "sack", "net",
        ],
        "jug" => &["pot", "jug", "bowl", "kettle", "cup", "bottle", "bucket"],
        "act" => &[
            "looking for {#flower}",
            "singing a song about {#food}",
            "picking [wild|ripe|sour] berries",
            "counting [clouds|stones|snails|leaves]",
            "walking [home|slowly along|up and down]",
            "dreaming of {#food}",
            "carrying a {#jug} of {#stuff}",
            "humming a [merry|sad|slow|silly] tune",
            "resting after a long walk",
            "gathering [nuts|sticks|leaves|acorns]",
            "talking to a {#colour} {#bug}",
            "jumping over [puddles|logs|stones]",
        ],
        "wear" => &["hat", "scarf", "coat", "cap", "cloak", "ribbon"],
        "how" => &[
            "softly",
            "quietly",
            "kindly",
            "gently",
            "loudly",
            "with a sigh",
            "with a smile",
            "with a nod",
            "in a small voice",
            "at once",
            "after a while",
        ],
        "quality" => &[
            "old", "new", "little", "shiny", "tiny", "lovely", "plain", "round", "bright", "odd",
        ],
        "pot2" => &["plate", "spoon", "candle", "vase", "book", "clock", "pan"],
        "stuff" => &[
            "milk", "honey", "water", "nuts", "buttons", "flowers", "soup", "jam", "tea",
        ],
        "stuff2" => &[
            "apples", "eggs", "candles", "books", "buttons", "pears", "jars", "spoons",
        ],
        "smell" => &[
            "rain",
            "hay",
            "smoke",
            "mint",
            "moss",
            "pine",
            "wet leaves",
            "apples",
            "earth",
            "honey",
            "grass",
            "wood",
        ],
        "smell2" => &[
            "bread",
            "roses",
            "soap",
            "onions",
            "old stone",
            "thyme",
            "mud",
            "cake",
        ],
        "bug" => &[
            "beetle",
            "snail",
            "spider",
            "butterfly",
            "bee",
            "dragonfly",
            "ladybird",
            "worm",
            "caterpillar",
        ],
        "bug2" => &[
            "beetles",
            "snails",
            "bees",
            "butterflies",
            "birds",
            "ants",
            "berries",
        ],
        "does" => &[
            "sat on",
            "climbed over",
            "slept under",
            "walked around",
            "crept along",
            "rested by",
        ],
        "growings" => &[
            "bushes", "fences", "hedges", "trees", "rocks", "reeds", "ferns",
        ],
        "growing" => &[
            "bush", "fence", "gate", "wall", "tree", "hedge", "rock", "post", "bench",
        ],
        "dusk" => &[
            "the sun went down",
            "the first star came out",
            "the moon rose over the hill",
            "the sky turned pink",
            "the owls woke up",
            "the lamps were lit",
            "the evening grew cool",
        ],
        "soon" => &[
            "Soon",
            "Before long",
            "A moment later",
            "After a while",
            "In no time",
        ],
        "number" => &[
            "two", "three", "four", "five", "six", "seven", "nine", "ten",
        ],
        "sound" => &[
            "tap, tap, tap",
            "scratch, scratch",
            "bump, bump, bump",
            "creak, creak",
            "drip, drop, drip",
            "whoo, whoo",
            "rattle, rattle",
        ],
        _ => panic!("no list goes by the name {key}"),
    }
}
