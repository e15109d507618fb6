//! Who gives up is found first, and then they do.

#[derive(Debug, Clone, PartialEq)]
pub struct Sequence {
    pub name: char,
    pub arrival: usize,
    pub tokens: Vec<u32>,
    pub computed: usize,
    pub blocks: Vec<u32>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Scheduler {
    pub running: Vec<Sequence>,
    pub paused: Vec<Sequence>,
    pub waiting: Vec<Sequence>,
    pub free: Vec<u32>,
}

impl Scheduler {
    pub fn make_room(&mut self, name: char, count: usize) -> bool {
        let is_younger = |other: &&Sequence| other.name != name;
        let paused: Vec<&Sequence> = self.paused.iter().rev().collect();
        let younger: Vec<&Sequence> = self.running.iter().rev().take_while(is_younger).collect();
        let mut free = self.free.len();
        let mut victims = Vec::new();
        for sequence in paused.into_iter().chain(younger) {
            if free < count && !sequence.blocks.is_empty() {
                free += sequence.blocks.len();
                victims.push(sequence.name);
            }
        }
        for paused in &mut self.paused {
            if victims.contains(&paused.name) {
                give_up(paused, &mut self.free);
            }
        }
        let is_victim = |sequence: &Sequence| victims.contains(&sequence.name);
        let (preempted, running) =
            std::mem::take(&mut self.running).into_iter().partition(is_victim);
        self.running = running;
        for mut sequence in Vec::<Sequence>::from(preempted) {
            give_up(&mut sequence, &mut self.free);
            self.waiting.push(sequence);
        }
        self.waiting.sort_by_key(|sequence| sequence.arrival);
        free >= count
    }
}

fn give_up(sequence: &mut Sequence, free: &mut Vec<u32>) {
    free.append(&mut sequence.blocks);
    sequence.computed = 0;
}
