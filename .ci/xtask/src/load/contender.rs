//! A server that takes part.

use std::rc::Rc;

use anyhow::Result;

use super::client::Client;
use crate::server::Server;

/// A server and its client.
pub struct Contender {
    /// The name in tables.
    pub name: String,
    pub client: Rc<Client>,
    /// Ended with the contender, where it was started here.
    _server: Option<Server>,
}

impl Contender {
    /// A server that runs already.
    pub async fn running(url: &str, key: Option<&str>) -> Result<Self> {
        let client = Client::connect(url, key).await?;
        Ok(Self { name: url.to_owned(), client: Rc::new(client), _server: None })
    }

    /// The same with another name.
    pub fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }

    /// A server that was started here.
    pub async fn started(name: &str, mut server: Server, key: Option<&str>) -> Result<Self> {
        let url = server.url.clone();
        let ended = async {
            loop {
                tokio::time::sleep(std::time::Duration::from_millis(100)).await;
                if let Err(error) = server.check() {
                    return error;
                }
            }
        };
        let client = tokio::select! {
            client = Client::connect(&url, key) => client?,
            error = ended => return Err(error),
        };
        Ok(Self {
            name: format!("{name}, {}", client.model),
            client: Rc::new(client),
            _server: Some(server),
        })
    }
}
