//! The runner, on a small project with a cargo that is a script.

#[cfg(unix)]
mod commands;
mod manifest;
#[cfg(unix)]
mod small_project;
#[cfg(unix)]
mod watch;
