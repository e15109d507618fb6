//! Sends the requests of a round.

use std::rc::Rc;
use std::time::Duration;

use anyhow::Result;
use tokio::task::LocalSet;
use tokio::time::{Instant, sleep_until};

use super::client::{Client, Request};
use super::outcome::Outcome;

/// Sends each request at its time, in seconds from now, whatever became of those before.
pub async fn open_loop(
    client: &Rc<Client>,
    requests: Vec<Request>,
    times: Vec<f64>,
) -> Result<Vec<Outcome>> {
    let start = Instant::now();
    let local = LocalSet::new();
    let tasks: Vec<_> = requests
        .into_iter()
        .zip(times)
        .map(|(request, arrival)| {
            let client = client.clone();
            local.spawn_local(async move {
                sleep_until(start + Duration::from_secs_f64(arrival)).await;
                client.complete(&request, start, arrival).await
            })
        })
        .collect();
    local.run_until(joined(tasks)).await
}

/// `clients` clients send the requests, each its next one when the last is answered.
pub async fn closed_loop(
    client: &Rc<Client>,
    requests: Vec<Request>,
    clients: usize,
) -> Result<Vec<Outcome>> {
    let start = Instant::now();
    let queue = Rc::new(std::cell::RefCell::new(requests.into_iter()));
    let local = LocalSet::new();
    let tasks: Vec<_> = (0..clients)
        .map(|_| {
            let (client, queue) = (client.clone(), queue.clone());
            local.spawn_local(async move {
                let mut outcomes = Vec::new();
                loop {
                    let next = queue.borrow_mut().next();
                    let Some(request) = next else {
                        return outcomes;
                    };
                    let arrival = start.elapsed().as_secs_f64();
                    outcomes.push(client.complete(&request, start, arrival).await);
                }
            })
        })
        .collect();
    let outcomes = local.run_until(joined(tasks)).await?;
    Ok(outcomes.into_iter().flatten().collect())
}

/// What all tasks return.
async fn joined<T>(tasks: Vec<tokio::task::JoinHandle<T>>) -> Result<Vec<T>> {
    let mut values = Vec::new();
    for task in tasks {
        values.push(task.await?);
    }
    Ok(values)
}
