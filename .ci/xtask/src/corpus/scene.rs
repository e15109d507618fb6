//! Details of the place: what is seen, heard and smelled there.

use super::tell::Tale;

impl Tale {
    fn indoors(&self) -> bool {
        [
            "kitchen", "hall", "window", "room", "home", "bed", "blanket", "fire", "office",
            "bakery",
        ]
        .iter()
        .any(|w| self.place.spot.contains(w))
    }

    /// What the character that goes by `x` wears or carries.
    pub fn looks(&mut self, x: &str) {
        let template = *self.ch.pick(&[
            "^{B} wore a [{#quality} |]{#colour} {#wear}, and carried [a {#box} of {#stuff2}|a {#colour} {#pot}|{#number} {#stuff2}].",
            "^{B} had a {#colour} {#wear} on, and smelled of {#smell}.",
            "^{B} was carrying {#number} {#stuff2} in a {#quality} {#box}.",
            "There was [mud|jam|dust|flour|paint] on {B's} {#wear}, which was {#colour}.",
            "^{B's} {#wear} was {#colour}, with [a {#colour} {#bug}|{#number} {#colour} dots|a {#quality} feather] on it.",
        ]);
        self.say(&template.replace("{B", &format!("{{{x}")));
    }

    /// One or two details that fit the place, the weather and the time.
    pub fn scene(&mut self) {
        if self.indoors() {
            self.one(&[
                "On the table stood a {#colour} {#jug} [full of|with some] {#stuff}, and a [{#colour}|small|round] {#pot2} [beside|behind] it.",
                "The room smelled of {#smell} and {#smell2}[, and [a clock ticked|a kettle hummed|a moth sat on the lamp]|].",
                "[Outside|Behind the curtain|Under the window], a {#bug} {#does} a {#colour} {#pot}.",
                "There were {#number} {#stuff2} on the shelf, next to a {#colour} {#pot}.",
            ]);
        } else if matches!(self.place.weather, "snowy" | "cold" | "frosty") {
            self.one(&[
                "The air smelled of {#smell}, and there was [ice|frost|snow] on every {#growing}.",
                "{#number} [crows|sparrows|geese] sat on a {#growing} and [shivered|grumbled|said nothing].",
                "The {#growings} were [white|bare|stiff], and a {#colour} {#pot} lay [forgotten|upside down] [in the ditch|by the road].",
            ]);
        } else if matches!(self.place.time, "evening" | "night") {
            self.one(&[
                "A [moth|bat|beetle] {#does} a {#growing}, and the air smelled of {#smell} and {#smell2}.",
                "Somewhere a [cricket|nightingale|bell] [sang|called], and the {#growings} were [black|still|silver].",
                "There were {#number} stars over the {#growings}, and it smelled of {#smell}.",
            ]);
        } else {
            self.one(&[
                "The air smelled of {#smell} and {#smell2}, and a [{#colour} {#bug}|{#bug}] {#does} a {#growing}.",
                "[Above|Behind|Beside] the {#growings}, {#number} [crows|sparrows|geese|swallows|bees] were [making a noise|busy with something|having an argument].",
                "A {#colour} {#bug} {#does} a {#growing}, [and a cow looked on|as if it owned the world|but nobody saw it].",
                "Someone had left a {#colour} {#pot} [under a|beside a|on a] {#growing}, and a {#bug} [lived in it|was asleep in it|was looking at it].",
                "The {#growings} were full of {#bug2}, and it smelled of {#smell}.",
            ]);
        }
    }
}
