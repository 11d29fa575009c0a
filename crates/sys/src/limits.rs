//! Resource limits and the base page size.

/// The soft limits that bear on memory, in bytes; `None` is no limit (or none that can be read).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryLimits {
    /// `RLIMIT_AS`: the whole address space of the process.
    pub address_space: Option<u64>,
    /// `RLIMIT_DATA`: private writable memory, which arenas are.
    pub data: Option<u64>,
    /// `RLIMIT_MEMLOCK`: locked memory.
    pub memlock: Option<u64>,
}

/// Reads the limits of this process.
#[must_use]
pub fn memory_limits() -> MemoryLimits {
    MemoryLimits {
        address_space: soft_limit(Resource::AddressSpace),
        data: soft_limit(Resource::Data),
        memlock: soft_limit(Resource::Memlock),
    }
}

/// Bytes in a base page: 4096, or 16 or 64 KiB on some AArch64 kernels.
#[must_use]
pub fn page_size() -> usize {
    // SAFETY: takes a number, returns a number.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    // POSIX lets no system lack it; 4096 divides every real one.
    usize::try_from(size).unwrap_or(4096)
}

enum Resource {
    AddressSpace,
    Data,
    Memlock,
}

fn soft_limit(resource: Resource) -> Option<u64> {
    // The type of the constants differs between libcs.
    let resource = match resource {
        Resource::AddressSpace => libc::RLIMIT_AS,
        Resource::Data => libc::RLIMIT_DATA,
        Resource::Memlock => libc::RLIMIT_MEMLOCK,
    };
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: 0 };
    // SAFETY: the pointer is to a live rlimit that libc may write.
    let returned = unsafe { libc::getrlimit(resource, &raw mut limit) };
    (returned == 0 && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_those_of_proc() {
        let text = std::fs::read_to_string("/proc/self/limits").unwrap();
        let soft = |name: &str| {
            let line = text.lines().find(|line| line.starts_with(name)).unwrap();
            line[name.len()..].split_whitespace().next().unwrap().parse().ok()
        };
        let limits = memory_limits();
        assert_eq!(limits.address_space, soft("Max address space"));
        assert_eq!(limits.data, soft("Max data size"));
        assert_eq!(limits.memlock, soft("Max locked memory"));
    }

    #[test]
    fn the_page_size_is_the_kernels() {
        let smaps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let line = smaps.lines().find(|line| line.starts_with("KernelPageSize:")).unwrap();
        let kib: usize = line.split_whitespace().nth(1).unwrap().parse().unwrap();
        assert_eq!(page_size(), kib * 1024);
    }
}
