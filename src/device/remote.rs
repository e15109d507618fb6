//! A device of another machine. A process there computes; this one sends it operations, and reads results,
//! over a WebSocket.

use burn::remote::RemoteHost;
use burn::tensor::Device;

use super::{Adapter, RemoteAddress};

/// Connects to the first device that the server lends.
pub(super) fn open(address: &RemoteAddress) -> Result<(Device, Option<Adapter>), String> {
    let RemoteAddress { host, token } = address;
    let mut server = RemoteHost::websocket(&format!("ws://{host}"));
    if let Some(token) = token {
        server = server.with_credential(token.as_str());
    }
    let device = Device::remote_options(&server).init().map_err(|error| error.to_string())?;
    Ok((device, Some(Adapter { name: host.clone(), is_gpu: false })))
}
