//! The sequence with the fewest tokens is preempted: it has the least to compute again.

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
        while self.free.len() < count {
            if let Some(paused) = self.paused.iter_mut().rfind(|paused| !paused.blocks.is_empty()) {
                give_up(paused, &mut self.free);
                continue;
            }
            let in_need = self.running.iter().position(|other| other.name == name);
            let younger = in_need.map_or(0, |at| at + 1)..self.running.len();
            let fewest = younger.rev().min_by_key(|&i| self.running[i].tokens.len());
            let Some(fewest) = fewest else {
                return false;
            };
            let mut youngest = self.running.remove(fewest);
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
