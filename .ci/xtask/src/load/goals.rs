//! The goals: what sixteen clients get together, over what one gets.

use anyhow::{Context, Result, ensure};

use super::LoadArgs;
use super::contender::Contender;
use super::level::Level;
use super::prompts::Prompts;
use super::rounds::Rounds;
use super::table;
use crate::bench::{self, Goal, Limit, machine};
use crate::random_checkpoint::Shape;
use crate::server::{self, Server};

/// Measures each model, and prints its table and all goals.
pub async fn run(args: &LoadArgs, prompts: &Prompts) -> Result<()> {
    println!("{}", machine::describe()?);
    println!("{}", table::describe(&args.traffic, args.rounds()));
    let folder = bench::checkpoint(Shape::SmolLm2_135m)?;
    let folder = folder.to_str().context("the folder's name is not UTF-8")?;
    let program = server::program(args.server.as_deref())?;
    let models: [(_, &[&str], _); 2] = [
        ("ember", &[], 3.0),
        (Shape::SmolLm2_135m.name(), &["--model", folder], 6.0),
    ];
    let mut goals = Vec::new();
    for (name, flags, least) in models {
        let server = Server::start_ours(&program, flags)?;
        let contender = Contender::started("Slow Burn", server, None).await?;
        let levels = [Level::Clients(1), Level::Clients(16)];
        let rounds = Rounds {
            traffic: &args.traffic,
            rounds: args.rounds(),
            prompts,
            levels: &levels,
        };
        let reports = rounds.measure(&[contender]).await?;
        print!("\n{}", table::reports(&reports));
        let [one, sixteen] = &reports[..] else {
            anyhow::bail!("two levels have {} reports", reports.len());
        };
        let failures = reports.iter().flat_map(|report| &report.failures).next();
        ensure!(failures.is_none(), "not all were answered: {}", failures.context("none")?);
        goals.push(Goal {
            what: format!("{name}, tokens/s of 16 clients / of one"),
            limit: Limit::AtLeast(least),
            measured: Some(sixteen.ratio(one)),
        });
    }
    println!("\n{}", bench::goals_table(&goals).trim_end());
    Ok(())
}
