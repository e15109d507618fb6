//! Available memory on Linux: that of the machine, and the limits of this process.

use std::fs::read_to_string;
use std::path::Path;

/// The files in which a version of cgroups keeps the memory limit and usage of a group.
struct Version {
    /// The mount point of its groups, relative to the root of the file system.
    mount: &'static str,
    limit: &'static str,
    usage: &'static str,
    /// The page cache in `memory.stat`: part of the usage, but reclaimed under memory pressure.
    files: [&'static str; 2],
}

const V1: Version = Version {
    mount: "sys/fs/cgroup/memory",
    limit: "memory.limit_in_bytes",
    usage: "memory.usage_in_bytes",
    files: ["total_active_file", "total_inactive_file"],
};

const V2: Version = Version {
    mount: "sys/fs/cgroup",
    limit: "memory.max",
    usage: "memory.current",
    files: ["active_file", "inactive_file"],
};

/// The memory that the tightest limit leaves, in bytes. `root` is the root of the file system.
pub(super) fn available(root: &Path) -> Option<u64> {
    let machine = kilobytes(&root.join("proc/meminfo"), "MemAvailable:");
    let limits = [machine, address_space(root), in_groups(root)];
    limits.into_iter().flatten().min()
}

/// The address space that `ulimit -v` leaves.
pub(super) fn address_space(root: &Path) -> Option<u64> {
    let limits = read_to_string(root.join("proc/self/limits")).ok()?;
    let limit = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let limit: u64 = limit.split_whitespace().next()?.parse().ok()?; // or `unlimited`
    Some(limit.saturating_sub(kilobytes(&root.join("proc/self/status"), "VmSize:")?))
}

/// The memory that the cgroups of this process leave, such as those of a container.
fn in_groups(root: &Path) -> Option<u64> {
    let groups = read_to_string(root.join("proc/self/cgroup")).ok()?;
    let left = groups.lines().filter_map(|line| {
        // `4:memory:/group` in cgroup v1, `0::/group` in v2
        let (controllers, group) = line.split_once(':')?.1.split_once(':')?;
        let version = match controllers {
            "" => V2,
            _ if controllers.split(',').any(|controller| controller == "memory") => V1,
            _ => return None,
        };
        in_group(&root.join(version.mount), group, &version)
    });
    left.min()
}

/// The memory that a cgroup and its ancestors leave. Inside a container, its own group is at
/// `mount`, whatever path the host has for it.
fn in_group(mount: &Path, group: &str, version: &Version) -> Option<u64> {
    let number = |path: &Path| read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let left = |folder: &Path| {
        let limit = number(&folder.join(version.limit))?; // or `max`
        let usage = number(&folder.join(version.usage))?;
        let stat = read_to_string(folder.join("memory.stat")).unwrap_or_default();
        let files = version.files.iter().filter_map(|name| value(&stat, name));
        Some(limit.saturating_sub(usage.saturating_sub(files.sum())))
    };
    let group = mount.join(group.trim_start_matches('/'));
    let groups = group.ancestors().take_while(|folder| folder.starts_with(mount));
    groups.filter_map(left).min()
}

/// The number of kilobytes after `name` in the file at `path`, converted to bytes.
fn kilobytes(path: &Path, name: &str) -> Option<u64> {
    value(&read_to_string(path).ok()?, name)?.checked_mul(1024)
}

/// The number in the line that begins with the word `name`.
fn value(text: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().map(str::split_whitespace);
    lines.find_map(|mut words| (words.next() == Some(name)).then(|| words.next()?.parse().ok())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file system with these files.
    fn root(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        root
    }

    const MEMINFO: (&str, &str) = (
        "proc/meminfo",
        "MemTotal:       16000 kB\nMemFree:         100 kB\nMemAvailable:    9000 kB\n",
    );

    #[test]
    fn without_limits_it_is_what_the_machine_has() {
        assert_eq!(available(root(&[]).path()), None);
        assert_eq!(available(root(&[MEMINFO]).path()), Some(9000 * 1024));
        let unlimited = [
            MEMINFO,
            ("proc/self/limits", "Max address space         unlimited   unlimited   bytes\n"),
            ("proc/self/status", "VmSize:\t    3000 kB\n"),
            ("proc/self/cgroup", "4:memory:/a\n1:cpu:/\n0::/a/b\n"),
            ("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712\n"),
            ("sys/fs/cgroup/memory/a/memory.usage_in_bytes", "2048\n"),
            ("sys/fs/cgroup/a/b/memory.max", "max\n"),
            ("sys/fs/cgroup/a/b/memory.current", "2048\n"),
        ];
        assert_eq!(available(root(&unlimited).path()), Some(9000 * 1024));
    }

    #[test]
    fn address_space_counts_what_is_taken() {
        let limited = root(&[
            MEMINFO,
            (
                "proc/self/limits",
                "Limit Soft Hard\nMax address space         4096000   unlimited   bytes\n",
            ),
            ("proc/self/status", "Name:\tx\nVmSize:\t    3000 kB\nVmRSS:\t 1 kB\n"),
        ]);
        assert_eq!(available(limited.path()), Some(4_096_000 - 3000 * 1024));
    }

    /// The tightest limit of a group and its ancestors decides. Page cache does not count as used.
    #[test]
    fn groups_leave_what_the_narrowest_does() {
        let first = root(&[
            MEMINFO,
            ("proc/self/cgroup", "5:cpu:/x\n4:hugetlb,memory:/outer/inner\n"),
            ("sys/fs/cgroup/memory/outer/inner/memory.limit_in_bytes", "5000\n"),
            ("sys/fs/cgroup/memory/outer/inner/memory.usage_in_bytes", "1000\n"),
            ("sys/fs/cgroup/memory/outer/memory.limit_in_bytes", "6000\n"),
            ("sys/fs/cgroup/memory/outer/memory.usage_in_bytes", "4000\n"),
            (
                "sys/fs/cgroup/memory/outer/memory.stat",
                "active_file 1\ntotal_active_file 300\ntotal_inactive_file 200\n",
            ),
        ]);
        assert_eq!(available(first.path()), Some(6000 - (4000 - 500)));

        // In a container, which does not see the host's path of its group.
        let second = root(&[
            MEMINFO,
            ("proc/self/cgroup", "0::/docker/7f\n"),
            ("sys/fs/cgroup/memory.max", "5000\n"),
            ("sys/fs/cgroup/memory.current", "5600\n"),
            ("sys/fs/cgroup/memory.stat", "anon 5000\nactive_file 100\ninactive_file 500\n"),
        ]);
        assert_eq!(available(second.path()), Some(0));
    }

    #[test]
    fn this_machine_tells() {
        assert!(available(Path::new("/")).is_some_and(|bytes| bytes > 0));
    }
}
