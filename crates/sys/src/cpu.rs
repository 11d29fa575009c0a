//! Which CPUs a thread may run on, where it does run, and pinning that is checked.

use std::io;

use crate::{errno::Errno, mask, raw};

/// A set of CPU numbers of any size, ascending.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct CpuSet {
    cpus: Vec<u32>,
}

impl CpuSet {
    /// The CPUs, ascending.
    #[must_use]
    pub fn as_slice(&self) -> &[u32] {
        &self.cpus
    }

    /// The CPUs, ascending.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = u32> {
        self.cpus.iter().copied()
    }

    /// Whether the set holds `cpu`.
    #[must_use]
    pub fn contains(&self, cpu: u32) -> bool {
        self.cpus.binary_search(&cpu).is_ok()
    }

    /// How many CPUs the set holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.cpus.len()
    }

    /// Whether the set holds no CPU.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.cpus.is_empty()
    }
}

impl FromIterator<u32> for CpuSet {
    fn from_iter<I: IntoIterator<Item = u32>>(cpus: I) -> Self {
        let mut cpus: Vec<u32> = cpus.into_iter().collect();
        cpus.sort_unstable();
        cpus.dedup();
        Self { cpus }
    }
}

/// Proof that a thread was pinned: what was asked was read back from the kernel, and the thread ran
/// there. It does not undo itself; give `previous` to [`restore_affinity`] for that.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pinned {
    /// The CPU the thread runs on.
    pub cpu: u32,
    /// The NUMA node that the kernel counts that CPU to.
    pub node: u32,
    /// The mask before.
    pub previous: CpuSet,
}

/// Why a thread could not be pinned.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PinError {
    /// The kernel took no such mask: an offline CPU or one outside the cpuset (`EINVAL`), or a
    /// sandbox (`EPERM`).
    #[error("CPU {cpu}: the kernel refuses to run a thread there: {errno}")]
    Refused {
        /// The CPU that was asked for.
        cpu: u32,
        /// The kernel's answer.
        errno: Errno,
    },
    /// The kernel took the mask but holds another one: it cuts masks down without a word.
    #[error("CPU {cpu}: asked for it alone, the kernel set {got:?}")]
    MaskDiffers {
        /// The CPU that was asked for.
        cpu: u32,
        /// The mask read back.
        got: CpuSet,
    },
    /// Mask and fact differ.
    #[error("CPU {cpu}: the thread is pinned there but runs on CPU {on}")]
    RunsElsewhere {
        /// The CPU that was asked for.
        cpu: u32,
        /// The CPU that `getcpu` names.
        on: u32,
    },
    /// Affinity or the current CPU can't be read, so that nothing can be checked.
    #[error("CPU {cpu}: can't check where the thread runs: {errno}")]
    Unreadable {
        /// The CPU that was asked for.
        cpu: u32,
        /// The kernel's answer.
        errno: Errno,
    },
}

/// The CPUs that the calling thread may run on.
///
/// # Errors
///
/// What `sched_getaffinity` answers, other than that the mask is too short.
pub fn affinity() -> io::Result<CpuSet> {
    Ok(read_affinity()?)
}

/// Pins the calling thread to one CPU and checks that this is so: the mask is read back, then
/// `getcpu` must name that CPU.
///
/// # Errors
///
/// A [`PinError`]; the mask may then have been changed already.
pub fn pin_to(cpu: u32) -> Result<Pinned, PinError> {
    let unreadable = |errno| PinError::Unreadable { cpu, errno };
    let previous = read_affinity().map_err(unreadable)?;
    raw::set_affinity(&mask::to_words([cpu])).map_err(|errno| PinError::Refused { cpu, errno })?;
    let got = read_affinity().map_err(unreadable)?;
    if got.as_slice() != [cpu] {
        return Err(PinError::MaskDiffers { cpu, got });
    }
    let (on, node) = raw::getcpu().map_err(unreadable)?;
    if on != cpu {
        return Err(PinError::RunsElsewhere { cpu, on });
    }
    Ok(Pinned { cpu, node, previous })
}

/// Gives the calling thread a mask back.
///
/// # Errors
///
/// What `sched_setaffinity` answers: no CPU of the set is online and allowed, or a sandbox.
pub fn restore_affinity(cpus: &CpuSet) -> io::Result<()> {
    Ok(raw::set_affinity(&mask::to_words(cpus.iter()))?)
}

/// The CPU that the calling thread runs on, and its node, from one `getcpu` call (about 100 ns).
///
/// # Errors
///
/// What `getcpu` answers; only a sandbox refuses it.
pub fn current() -> io::Result<(u32, u32)> {
    Ok(raw::getcpu()?)
}

/// The CPU that the calling thread runs on, without entering the kernel where libc knows how
/// (vDSO or rseq; some nanoseconds). `None` where there is no answer.
#[must_use]
pub fn current_cpu() -> Option<u32> {
    // SAFETY: takes nothing, returns a number.
    let cpu = unsafe { libc::sched_getcpu() };
    u32::try_from(cpu).ok()
}

fn read_affinity() -> Result<CpuSet, Errno> {
    mask::read_growing(raw::get_affinity).map(|cpus| CpuSet { cpus })
}
