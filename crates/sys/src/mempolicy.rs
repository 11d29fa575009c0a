//! The memory policy that this process was started under. memgauge honours it and changes none.

use std::io;

use libc::c_int;

use crate::{
    errno::Errno,
    mask,
    raw::{self, MPOL_F_MEMS_ALLOWED},
};

/// Flags that the kernel may put into a mode: static, relative, NUMA balancing.
const MODE_FLAGS: c_int = 0b111 << 13;

/// A memory policy, as `numactl` or a batch system may have set it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Policy {
    /// Local allocation, the system's default.
    Default,
    /// Only these nodes.
    Bind(Vec<u32>),
    /// These nodes first, then any.
    Preferred(Vec<u32>),
    /// Page by page over these nodes.
    Interleave(Vec<u32>),
    /// Page by page over these nodes, by the weights of the system.
    WeightedInterleave(Vec<u32>),
    /// The node of the CPU that touches first, asked for by name.
    Local,
    /// A mode that this program does not know.
    Unknown(i32),
    /// The kernel or a sandbox does not tell.
    Unavailable(Errno),
}

/// The calling thread's policy, which threads and arenas inherit.
#[must_use]
pub fn inherited_policy() -> Policy {
    let mut mode = 0;
    let nodes = mask::read_growing(|words| {
        mode = raw::get_mempolicy(words, None, 0)?;
        Ok(())
    });
    nodes.map_or_else(Policy::Unavailable, |nodes| policy(mode, nodes))
}

/// The nodes that this thread may take memory from (its cpuset's), ascending.
///
/// # Errors
///
/// What `get_mempolicy` answers; sandboxes refuse it.
pub fn mems_allowed() -> io::Result<Vec<u32>> {
    Ok(mask::read_growing(|words| raw::get_mempolicy(words, None, MPOL_F_MEMS_ALLOWED).map(drop))?)
}

fn policy(mode: c_int, nodes: Vec<u32>) -> Policy {
    /// `MPOL_PREFERRED_MANY` and `MPOL_WEIGHTED_INTERLEAVE`, which libc lacks.
    const PREFERRED_MANY: c_int = 5;
    const WEIGHTED_INTERLEAVE: c_int = 6;
    match mode & !MODE_FLAGS {
        libc::MPOL_DEFAULT => Policy::Default,
        libc::MPOL_LOCAL => Policy::Local,
        // How kernels before 5.14 say "local".
        libc::MPOL_PREFERRED if nodes.is_empty() => Policy::Local,
        libc::MPOL_PREFERRED | PREFERRED_MANY => Policy::Preferred(nodes),
        libc::MPOL_BIND => Policy::Bind(nodes),
        libc::MPOL_INTERLEAVE => Policy::Interleave(nodes),
        WEIGHTED_INTERLEAVE => Policy::WeightedInterleave(nodes),
        other => Policy::Unknown(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_have_names() {
        let cases = [
            (0, vec![], Policy::Default),
            (1, vec![2], Policy::Preferred(vec![2])),
            (1, vec![], Policy::Local),
            (2, vec![0, 1], Policy::Bind(vec![0, 1])),
            (2 | 1 << 15, vec![1], Policy::Bind(vec![1])),
            (3 | 1 << 14, vec![0], Policy::Interleave(vec![0])),
            (4, vec![], Policy::Local),
            (5, vec![0, 3], Policy::Preferred(vec![0, 3])),
            (6, vec![0, 1], Policy::WeightedInterleave(vec![0, 1])),
            (99, vec![], Policy::Unknown(99)),
        ];
        for (mode, nodes, want) in cases {
            assert_eq!(policy(mode, nodes), want);
        }
    }
}
