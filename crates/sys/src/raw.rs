//! The system calls themselves, with errors as [`Errno`]. libc has no functions for most of them.

use std::{ffi::c_void, ptr::NonNull};

use libc::{c_int, c_long, c_ulong};

use crate::errno::Errno;

/// `MPOL_F_NODE`, `MPOL_F_ADDR`, `MPOL_F_MEMS_ALLOWED` and `MPOL_MF_STRICT` of `linux/mempolicy.h`,
/// which libc lacks.
pub(crate) const MPOL_F_NODE: c_ulong = 1;
pub(crate) const MPOL_F_ADDR: c_ulong = 2;
pub(crate) const MPOL_F_MEMS_ALLOWED: c_ulong = 4;
pub(crate) const MPOL_MF_STRICT: c_ulong = 1;

/// Turns "−1 and errno" into a result.
pub(crate) fn check(returned: c_long) -> Result<usize, Errno> {
    usize::try_from(returned).map_err(|_| Errno::last())
}

/// `sched_getaffinity` of the calling thread.
pub(crate) fn get_affinity(mask: &mut [c_ulong]) -> Result<(), Errno> {
    // SAFETY: the kernel writes at most `size_of_val(mask)` bytes, all inside `mask`.
    let returned = unsafe { libc::syscall(libc::SYS_sched_getaffinity, 0, size_of_val(mask), mask.as_mut_ptr()) };
    check(returned).map(drop)
}

/// `sched_setaffinity` of the calling thread.
pub(crate) fn set_affinity(mask: &[c_ulong]) -> Result<(), Errno> {
    // SAFETY: the kernel reads at most `size_of_val(mask)` bytes, all inside `mask`.
    let returned = unsafe { libc::syscall(libc::SYS_sched_setaffinity, 0, size_of_val(mask), mask.as_ptr()) };
    check(returned).map(drop)
}

/// `getcpu`: the CPU the caller runs on and that CPU's node, in one answer.
pub(crate) fn getcpu() -> Result<(u32, u32), Errno> {
    let (mut cpu, mut node) = (0u32, 0u32);
    // SAFETY: both pointers are to live u32s that the kernel may write; the third argument is unused.
    let returned = unsafe { libc::syscall(libc::SYS_getcpu, &raw mut cpu, &raw mut node, std::ptr::null::<c_void>()) };
    check(returned).map(|_| (cpu, node))
}

/// `mbind` of a range of own memory.
pub(crate) fn mbind(start: NonNull<u8>, len: usize, mode: c_int, nodes: &[c_ulong], flags: c_ulong) -> Result<(), Errno> {
    // The kernel takes one bit less than the count says.
    let max_node = size_of_val(nodes) * 8 + 1;
    // SAFETY: the kernel only reads `nodes`, within its length; a policy changes where pages come
    // from or lie, never what a program sees in them, so any range may be given.
    let returned =
        unsafe { libc::syscall(libc::SYS_mbind, start.as_ptr(), len, c_long::from(mode), nodes.as_ptr(), max_node, flags) };
    check(returned).map(drop)
}

/// `get_mempolicy`: the mode (or the node, with `MPOL_F_NODE`), and the nodes into `nodes` unless
/// that is empty. `at` goes with `MPOL_F_ADDR`.
pub(crate) fn get_mempolicy(nodes: &mut [c_ulong], at: Option<NonNull<u8>>, flags: c_ulong) -> Result<c_int, Errno> {
    let mut mode: c_int = 0;
    let (mask, max_node) =
        if nodes.is_empty() { (std::ptr::null_mut(), 0) } else { (nodes.as_mut_ptr(), size_of_val(nodes) * 8 + 1) };
    // SAFETY: the kernel writes `mode` and at most `max_node` bits, rounded up to whole words that
    // lie in `nodes`; `at` is only looked up.
    let returned = unsafe {
        libc::syscall(
            libc::SYS_get_mempolicy,
            &raw mut mode,
            mask,
            max_node,
            at.map_or(std::ptr::null_mut(), NonNull::as_ptr),
            flags,
        )
    };
    check(returned).map(|_| mode)
}

/// `move_pages` in its asking form: the node of each page, or a negative error number.
pub(crate) fn page_nodes(pages: &[NonNull<u8>]) -> Result<Vec<c_int>, Errno> {
    let mut status = vec![c_int::MIN; pages.len()];
    // SAFETY: with no target nodes nothing is moved; the kernel reads `pages.len()` pointers
    // (NonNull is laid out as one) and writes as many ints, which both arrays hold.
    let returned = unsafe {
        libc::syscall(libc::SYS_move_pages, 0, pages.len(), pages.as_ptr(), std::ptr::null::<c_int>(), status.as_mut_ptr(), 0)
    };
    check(returned).map(|_| status)
}
