//! The runner, on a small project with a cargo that is a script.

#[cfg(unix)]
mod commands;
#[cfg(unix)]
mod engine;
mod manifest;
#[cfg(unix)]
mod small_project;
#[cfg(unix)]
mod watch;
