//! Who may have a connection.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::Settings;
use super::rate_limit::network;

/// How many connections there may be beyond a limit of so many. They are told so, or ask how the server
/// is.
pub(super) fn surplus(most: usize) -> usize {
    most.clamp(8, 64)
}

/// A connection that is younger than this may be about to send its request.
const MAY_BE_CLOSED_AFTER: Duration = Duration::from_millis(100);

/// What a connection may ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Admission {
    Everything,
    /// Only how the server is: it is beyond this limit.
    Beyond(Limit),
}

/// A limit on connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limit {
    OfClient,
    OfAll,
}

/// The connections that are open. Where there are too many, the one that has waited longest for a
/// request is closed in favour of a new one: of the same client, if that has too many.
#[derive(Debug, Clone)]
pub(super) struct Slots(Arc<Mutex<Table>>);

#[derive(Debug)]
struct Table {
    most: usize,
    most_of_client: usize,
    entries: HashMap<u64, Entry>,
    next_id: u64,
}

#[derive(Debug)]
struct Entry {
    client: IpAddr,
    admission: Admission,
    /// None while a request is served.
    waits_since: Option<Instant>,
    /// Dropped with the entry, which tells the connection.
    _tells: oneshot::Sender<Infallible>,
}

/// The slot of a connection, free again when it is dropped.
#[derive(Debug)]
pub(super) struct Slot {
    slots: Slots,
    id: u64,
    admission: Admission,
}

/// A request that is served. While it lasts, its connection is not closed for another one.
#[derive(Debug)]
pub(super) struct InRequest(Arc<Slot>);

impl Slots {
    pub(super) fn new(settings: &Settings) -> Self {
        Self::of(settings.max_connections(), settings.max_connections_per_client())
    }

    fn of(most: usize, most_of_client: usize) -> Self {
        let table = Table { most, most_of_client, entries: HashMap::new(), next_id: 0 };
        Self(Arc::new(Mutex::new(table)))
    }

    /// A slot for a connection of this client, and a future that is ready when the connection is
    /// to be closed for another one. None where even those beyond the limits are too many.
    pub(super) fn take(&self, client: IpAddr) -> Option<(Slot, oneshot::Receiver<Infallible>)> {
        self.take_at(client, Instant::now())
    }

    fn take_at(
        &self,
        client: IpAddr,
        now: Instant,
    ) -> Option<(Slot, oneshot::Receiver<Infallible>)> {
        let client = network(client);
        let mut table = self.table();
        let admission = table.admit(client, now)?;
        let id = table.next_id;
        table.next_id += 1;
        let (tells, told) = oneshot::channel();
        let entry = Entry { client, admission, waits_since: Some(now), _tells: tells };
        table.entries.insert(id, entry);
        drop(table);
        Some((Slot { slots: self.clone(), id, admission }, told))
    }

    /// Closes the connection that has waited longest for a request, of whatever client, because the system
    /// has no room for another one. False if there is none.
    pub(super) fn close_idlest(&self) -> bool {
        self.table().has_room(0, Some(Instant::now()), |_| true)
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn admit(&mut self, client: IpAddr, now: Instant) -> Option<Admission> {
        let is_full = |entry: &Entry| entry.admission == Admission::Everything;
        let long_ago = now.checked_sub(MAY_BE_CLOSED_AFTER);
        let is_of_client = |entry: &Entry| is_full(entry) && entry.client == client;
        // A client that may have all of them has no limit of its own.
        let is_limited = self.most_of_client < self.most;
        let limit = if is_limited && !self.has_room(self.most_of_client, long_ago, is_of_client) {
            Limit::OfClient
        } else if !self.has_room(self.most, long_ago, is_full) {
            Limit::OfAll
        } else {
            return Some(Admission::Everything);
        };
        // These come to their end at once, so that none of them is too young.
        let has_room = self.has_room(surplus(self.most), Some(now), |entry| !is_full(entry));
        has_room.then_some(Admission::Beyond(limit))
    }

    /// Whether there is room for one more of these, of which there are to be `most`. To make it,
    /// the one is closed that has waited longest, if since `long_ago`.
    fn has_room(
        &mut self,
        most: usize,
        long_ago: Option<Instant>,
        is_one: impl Fn(&Entry) -> bool,
    ) -> bool {
        let those = || self.entries.iter().filter(|(_, entry)| is_one(entry));
        if those().count() < most {
            return true;
        }
        let waiting = those().filter_map(|(&id, entry)| Some((entry.waits_since?, id)));
        match waiting.min() {
            Some((since, id)) if Some(since) <= long_ago => self.entries.remove(&id).is_some(),
            _ => false,
        }
    }
}

impl Slot {
    pub(super) fn admission(&self) -> Admission {
        self.admission
    }

    /// A request has come, which lasts until what is returned is dropped.
    pub(super) fn begin(self: &Arc<Self>) -> InRequest {
        self.wait_since(None);
        InRequest(self.clone())
    }

    fn wait_since(&self, since: Option<Instant>) {
        // There is no entry if the connection is being closed for another one.
        if let Some(entry) = self.slots.table().entries.get_mut(&self.id) {
            entry.waits_since = since;
        }
    }
}

impl Drop for InRequest {
    fn drop(&mut self) {
        self.0.wait_since(Some(Instant::now()));
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.slots.table().entries.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Taken = (Slot, oneshot::Receiver<Infallible>);

    fn client(last: u8) -> IpAddr {
        [10, 0, 0, last].into()
    }

    /// The slots of so many connections of a client, one second apart from each other.
    fn connect(slots: &Slots, last: u8, count: usize, start: Instant) -> Vec<Taken> {
        let at = |second: usize| start + Duration::from_secs(second as u64);
        (0..count).map(|second| slots.take_at(client(last), at(second)).unwrap()).collect()
    }

    fn is_told(taken: &mut Taken) -> bool {
        taken.1.try_recv() == Err(oneshot::error::TryRecvError::Closed)
    }

    #[test]
    fn the_one_that_has_waited_longest_makes_room() {
        let (slots, start) = (Slots::of(3, 3), Instant::now());
        let mut taken = connect(&slots, 1, 3, start);
        let later = start + Duration::from_secs(10);
        let newest = slots.take_at(client(2), later).unwrap();
        assert_eq!(newest.0.admission(), Admission::Everything);
        assert_eq!(taken.iter_mut().map(is_told).collect::<Vec<_>>(), [true, false, false]);
    }

    #[test]
    fn a_connection_in_a_request_is_not_closed_for_another() {
        let (slots, start) = (Slots::of(2, 2), Instant::now());
        let mut taken: Vec<(Arc<Slot>, _)> = connect(&slots, 1, 2, start)
            .into_iter()
            .map(|(slot, told)| (Arc::new(slot), told))
            .collect();
        let requests: Vec<InRequest> = taken.iter().map(|(slot, _)| slot.begin()).collect();
        let later = start + Duration::from_secs(10);
        let (beyond, _told) = slots.take_at(client(2), later).unwrap();
        assert_eq!(beyond.admission(), Admission::Beyond(Limit::OfAll));
        for (_, told) in &mut taken {
            assert_eq!(told.try_recv(), Err(oneshot::error::TryRecvError::Empty));
        }
        drop(requests);
        let later = Instant::now() + Duration::from_secs(10);
        let (full, _told) = slots.take_at(client(2), later).unwrap();
        assert_eq!(full.admission(), Admission::Everything);
    }

    #[test]
    fn one_that_has_just_come_is_not_closed_for_another() {
        let (slots, start) = (Slots::of(1, 1), Instant::now());
        let mut first = slots.take_at(client(1), start).unwrap();
        let (second, _told) = slots.take_at(client(2), start + Duration::from_millis(1)).unwrap();
        assert_eq!(second.admission(), Admission::Beyond(Limit::OfAll));
        assert!(!is_told(&mut first));
    }

    #[test]
    fn whoever_has_too_many_makes_room_among_its_own() {
        let (slots, start) = (Slots::of(10, 2), Instant::now());
        let mut other = connect(&slots, 1, 1, start);
        let mut taken = connect(&slots, 2, 6, start + Duration::from_secs(5));
        assert_eq!(
            taken.iter_mut().map(is_told).collect::<Vec<_>>(),
            [true, true, true, true, false, false]
        );
        assert!(!is_told(&mut other[0]));
        assert_eq!(slots.table().entries.len(), 3);
    }

    #[test]
    fn those_beyond_the_limits_are_few() {
        let (slots, start) = (Slots::of(2, 1), Instant::now());
        let full = [1, 2].map(|last| Arc::new(slots.take_at(client(last), start).unwrap().0));
        let _requests = full.each_ref().map(Slot::begin);
        let beyond: Vec<Arc<Slot>> = connect(&slots, 1, surplus(2), start)
            .into_iter()
            .map(|(slot, _)| Arc::new(slot))
            .collect();
        assert!(beyond.iter().all(|slot| slot.admission() == Admission::Beyond(Limit::OfClient)));
        let requests: Vec<InRequest> = beyond.iter().map(Slot::begin).collect();
        assert!(slots.take(client(1)).is_none());
        assert!(slots.take(client(2)).is_none());
        drop((requests, beyond));
        assert_eq!(slots.take(client(3)).unwrap().0.admission(), Admission::Beyond(Limit::OfAll));
    }
}
