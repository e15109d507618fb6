//! Downloads that break off, stall or are damaged.

use super::server::{Request, etag, part_of_weights};
use super::*;

#[test]
fn a_cut_connection_is_gone_on_with() {
    let cache = tempfile::tempdir().unwrap();
    let server = Server::start(tiny());
    let size = tiny()["model.safetensors"].len();
    let piece = size / 3 + 1;
    server.state().cut_after = Some(piece);
    let folder = hub(&server.address, &cache).fetch(&model(NAME)).unwrap();
    assert_same_files(&folder, &tiny());
    let weights: Vec<_> =
        server.requests().into_iter().filter(|r| r.file == "model.safetensors").collect();
    let from: Vec<_> = weights.iter().map(|request| request.from).collect();
    assert_eq!(from, [0, piece, 2 * piece]);
}

/// A server that sends the first half whatever it is asked for: what comes never gets whole.
#[test]
fn the_same_half_for_ever_is_given_up() {
    let cache = tempfile::tempdir().unwrap();
    let server = Server::start(tiny());
    let half = tiny()["model.safetensors"].len() / 2 - 10;
    server.state().ignores_ranges = true;
    server.state().cut_after = Some(half);
    let error = hub(&server.address, &cache).fetch(&model(NAME)).unwrap_err();
    assert!(matches!(&error, Error::Download { file, .. } if file == "model.safetensors"));
    let requests = server.requests();
    let asked = requests.iter().filter(|request| request.file == "model.safetensors").count();
    assert!((3..=10).contains(&asked), "{asked}");
}

/// What is more than was announced is neither written nor waited for.
#[test]
fn a_body_beyond_its_size_is_cut_off() {
    const SURPLUS: usize = 256 << 20;
    let cache = tempfile::tempdir().unwrap();
    let server = Server::start(tiny());
    server.state().surplus = SURPLUS;
    let error = hub(&server.address, &cache).fetch(&model(NAME)).unwrap_err();
    assert!(error.to_string().contains("more came than the"), "{error}");
    // As much as the system holds of a connection may be on its way.
    let sent = server.state().surplus_sent;
    assert!(sent < SURPLUS, "{sent} bytes too many, several times over");
    assert!(!blobs(&cache).join(part_of_weights()).exists());

    server.state().surplus = 0;
    assert_same_files(&hub(&server.address, &cache).fetch(&model(NAME)).unwrap(), &tiny());
}

#[test]
fn the_next_run_goes_on_where_the_last_one_stopped() {
    let cache = tempfile::tempdir().unwrap();
    let server = Server::start(tiny());
    let hub = hub(&server.address, &cache);
    let first = tiny()["model.safetensors"][..1000].to_vec();
    let blobs = blobs(&cache);
    std::fs::create_dir_all(&blobs).unwrap();
    std::fs::write(blobs.join(part_of_weights()), first).unwrap();

    server.state().cut_after = Some(0);
    let error = hub.fetch(&model(NAME)).unwrap_err();
    assert!(matches!(&error, Error::Download { file, .. } if file == "model.safetensors"));
    assert!(error.to_string().contains("it goes on where it stopped"), "{error}");
    assert!(server.requests().iter().any(|request| request.from == 1000));

    server.state().cut_after = None;
    assert_same_files(&hub.fetch(&model(NAME)).unwrap(), &tiny());
    // What was whole stays as it is.
    let request = Request {
        file: "model.safetensors".to_owned(),
        from: 1000,
        authorized: false,
    };
    assert_eq!(server.requests(), [request]);
}

/// A part that is as long as the file, and a server that sends from the start what was to be
/// gone on with: in both cases what is there cannot be told from damage, and is fetched again.
#[test]
fn bytes_that_do_not_fit_are_thrown_away() {
    let size = tiny()["model.safetensors"].len();
    for (length, ignores_ranges) in [(size, false), (size + 5, false), (1000, true)] {
        let cache = tempfile::tempdir().unwrap();
        let server = Server::start(tiny());
        server.state().ignores_ranges = ignores_ranges;
        let blobs = blobs(&cache);
        std::fs::create_dir_all(&blobs).unwrap();
        std::fs::write(blobs.join(part_of_weights()), vec![7; length]).unwrap();
        let folder = hub(&server.address, &cache).fetch(&model(NAME)).unwrap();
        assert_same_files(&folder, &tiny());
    }
}

/// What is as long as it should be may still be something else.
#[test]
fn weights_that_are_damaged_are_removed() {
    let cache = tempfile::tempdir().unwrap();
    let server = Server::start(tiny());
    let hub = hub(&server.address, &cache);
    let blobs = blobs(&cache);
    let refuse = || {
        let error = hub.fetch(&model(NAME)).unwrap_err();
        let Error::Damaged { file, found, expected, .. } = &error else {
            panic!("{error:?}");
        };
        assert_eq!(file, "model.safetensors");
        assert_eq!(*expected, etag(file, &tiny()[file]));
        assert_ne!(found, expected);
        let link = snapshot(&cache).join(file);
        assert!(link.symlink_metadata().is_err() && !blobs.join(expected).exists());
    };
    server.state().damages = true;
    refuse();
    server.state().damages = false;
    // What was there of it before may be what is damaged.
    std::fs::write(blobs.join(part_of_weights()), vec![7; 1000]).unwrap();
    refuse();
    assert_same_files(&hub.fetch(&model(NAME)).unwrap(), &tiny());
}

#[test]
fn a_download_that_stalls_ends_and_is_gone_on_with_later() {
    let cache = tempfile::tempdir().unwrap();
    let server = Server::start(tiny());
    let hub = Hub {
        patience: Duration::from_secs(2),
        ..hub(&server.address, &cache)
    };
    server.state().stall_after = Some(1000);
    let error = hub.fetch(&model(NAME)).unwrap_err();
    assert!(
        matches!(&error, Error::Stalled { file, seconds: 2.0, .. } if file == "model.safetensors"),
        "{error:?}"
    );
    assert!(error.to_string().contains("it goes on where it stopped"), "{error}");
    server.requests();

    server.state().stall_after = None;
    assert_same_files(&hub.fetch(&model(NAME)).unwrap(), &tiny());
    let from: Vec<_> = server.requests().iter().map(|request| request.from).collect();
    assert_eq!(from, [1000]);
}
