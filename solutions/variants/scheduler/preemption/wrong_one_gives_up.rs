//! One sequence gives up its blocks, whether it is enough or not.

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
        if self.free.len() < count {
            if let Some(paused) = self.paused.iter_mut().rfind(|paused| !paused.blocks.is_empty()) {
                give_up(paused, &mut self.free);
                return true;
            }
            let Some(mut youngest) = self.running.pop_if(|youngest| youngest.name != name) else {
                return false;
            };
            give_up(&mut youngest, &mut self.free);
            let place = self.waiting.partition_point(|other| other.arrival < youngest.arrival);
            self.waiting.insert(place, youngest);
        }
        true
    }
}

fn give_up(sequence: &mut Sequence, free: &mut Vec<u32>) {
    free.append(&mut sequence.blocks);
    sequence.computed = 0;
}
