//! What the tests of the server share.

#![allow(dead_code)] // each test binary uses a part of it

pub mod completions;
#[path = "../../../tests/common/counting.rs"]
pub mod counting;
pub mod faulty_proxy;
pub mod hostile;
pub mod http_client;
pub mod test_server;
#[path = "../../../tests/common/watchdog.rs"]
pub mod watchdog;
