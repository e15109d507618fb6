//! The locks, channels and threads of shuttle.

pub(crate) use shuttle::sync::{Condvar, Mutex, MutexGuard, atomic};
pub(crate) use shuttle::{thread, thread_local};

pub(crate) mod mpsc {
    //! Channels whose messages are dropped with their receiver, as those of the standard library.
    //! Shuttle keeps them until the last sender is gone.

    use std::time::Duration;

    use shuttle::sync::mpsc::{RecvError, TryIter};
    pub(crate) use shuttle::sync::mpsc::{RecvTimeoutError, Sender, SyncSender};

    pub(crate) struct Receiver<T>(shuttle::sync::mpsc::Receiver<T>);

    pub(crate) fn channel<T>() -> (Sender<T>, Receiver<T>) {
        let (sender, receiver) = shuttle::sync::mpsc::channel();
        (sender, Receiver(receiver))
    }

    pub(crate) fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
        let (sender, receiver) = shuttle::sync::mpsc::sync_channel(bound);
        (sender, Receiver(receiver))
    }

    impl<T> Receiver<T> {
        pub(crate) fn recv(&self) -> Result<T, RecvError> {
            self.0.recv()
        }

        pub(crate) fn recv_timeout(&self, time: Duration) -> Result<T, RecvTimeoutError> {
            self.0.recv_timeout(time)
        }

        pub(crate) fn try_iter(&self) -> TryIter<'_, T> {
            self.0.try_iter()
        }
    }

    impl<T> Drop for Receiver<T> {
        fn drop(&mut self) {
            // No other thread has a turn between the last look and the end of the receiver.
            self.try_iter().for_each(drop);
        }
    }
}
