//! Clusters side by side.

use anyhow::Result;

use super::cluster::{Cluster, Setup};
use super::metrics::Metrics;
use super::router::Policy;
use crate::bench::machine;
use crate::load::{Contender, Report, Rounds, Traffic, describe, reports_table};
use crate::simulate::table::Table;

/// One replica without a router, then as many as `counts` says behind it.
pub async fn scaling(setup: &Setup, counts: &[usize], traffic: &Traffic) -> Result<()> {
    head(setup, traffic)?;
    let mut reports = Vec::new();
    let alone = Cluster::start(setup, 1).await?;
    if let Some(replica) = alone.replicas.iter().flatten().next() {
        reports.extend(measure("1 replica, no router", &replica.url, traffic).await?);
    }
    alone.stop().await?;
    for &count in counts {
        let cluster = Cluster::start(setup, count).await?;
        let name = match count {
            1 => "1 replica".to_owned(),
            count => format!("{count} replicas"),
        };
        reports.extend(measure(&name, &cluster.router.url, traffic).await?);
        cluster.stop().await?;
    }
    print!("{}", reports_table(&reports));
    Ok(())
}

/// The same requests with each policy, each with new replicas.
pub async fn policies(
    setup: &Setup,
    count: usize,
    policies: &[Policy],
    traffic: &Traffic,
) -> Result<()> {
    head(setup, traffic)?;
    let mut reports = Vec::new();
    let mut shares = Table::new(1, ["policy", "prompt tokens", "cached", "texts per replica"]);
    for &policy in policies {
        let setup = Setup { policy, ..setup.clone() };
        let cluster = Cluster::start(&setup, count).await?;
        reports.extend(measure(policy.label(), &cluster.router.url, traffic).await?);
        shares.row(of_replicas(policy, &cluster).await?);
        cluster.stop().await?;
    }
    print!(
        "{}\nBy the metrics of the replicas:\n\n{}",
        reports_table(&reports),
        shares.text()
    );
    Ok(())
}

/// The machine, the router and the requests.
fn head(setup: &Setup, traffic: &Traffic) -> Result<()> {
    println!("{}", machine::describe()?);
    println!("{}", setup.describe());
    println!("{}\n", describe(traffic, traffic.rounds.unwrap_or(1)));
    Ok(())
}

async fn measure(name: &str, url: &str, traffic: &Traffic) -> Result<Vec<Report>> {
    let (prompts, levels) = (traffic.prompts()?, traffic.levels()?);
    let rounds = Rounds {
        traffic,
        rounds: traffic.rounds.unwrap_or(1),
        prompts: &prompts,
        levels: &levels,
    };
    let contender = Contender::running(url, None).await?.named(name);
    rounds.measure(&[contender]).await
}

/// A row of sums over the replicas. The requests before the first round are among them.
async fn of_replicas(policy: Policy, cluster: &Cluster) -> Result<[String; 4]> {
    let (mut prompt, mut cached, mut texts) = (0.0, 0.0, Vec::new());
    for replica in cluster.replicas.iter().flatten() {
        let metrics = Metrics::of(&cluster.http, &replica.url).await?;
        prompt += metrics.sum("slowburn_prompt_tokens_total");
        cached += metrics.sum("slowburn_prompt_tokens_cached_total");
        texts.push(metrics.finished().to_string());
    }
    Ok([
        policy.label().to_owned(),
        prompt.to_string(),
        format!("{:.0} %", 100.0 * cached / f64::max(prompt, 1.0)),
        texts.join(", "),
    ])
}
