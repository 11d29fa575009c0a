//! Arenas: memory of a chosen page kind on a chosen node, for measuring.

use std::{path::Path, ptr::NonNull, slice};

use crate::{
    errno::Errno,
    folder,
    limits::page_size,
    mapping::{Advice, Mapping},
    mask,
    pages::{self, Pages, pool},
    placement::{self, Placement},
    raw,
};

/// What an arena should be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ArenaSpec {
    /// Bytes wanted. The arena gets as many, rounded up by [`Pages::round_up`].
    pub bytes: u64,
    /// The kind of pages.
    pub pages: Pages,
    /// The node to bind the memory to, as the first thing; see [`Arena::binding`].
    pub node: Option<u32>,
    /// Whether a page on either side should fault when touched.
    pub guard: bool,
}

/// Memory of its own, zeroed: anonymous, or of a file that has no name. Unmapped on drop; not inherited by forks, not dumped.
#[derive(Debug)]
pub struct Arena {
    /// Holds the memory; declared for its drop.
    mapping: Mapping,
    start: NonNull<u8>,
    len: usize,
    pages: Pages,
    binding: Option<Binding>,
    dax: bool,
}

/// What came of asking for a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Binding {
    /// The kernel will take this memory's pages from the node, and from no other.
    Bound,
    /// The kernel or a sandbox refuses to bind: fall back to first touch, by a thread that is
    /// pinned on the node, and trust [`Arena::placement`] alone.
    Refused(Errno),
}

/// Why there is no arena.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ArenaError {
    /// Zero bytes were asked for.
    #[error("an arena of 0 bytes")]
    Empty,
    /// More than the address space holds.
    #[error("an arena of {bytes} bytes is beyond the address space")]
    TooLarge {
        /// What was asked for.
        bytes: u64,
    },
    /// The kernel has no huge pages of this size.
    #[error("this kernel has no huge pages of {bytes} bytes")]
    HugePageSize {
        /// The size of page that was asked for.
        bytes: u64,
    },
    /// The pool of huge pages is too small.
    #[error("{wanted} huge pages of {bytes} bytes are needed, {free} are free")]
    HugePagesShort {
        /// Bytes in a page.
        bytes: u64,
        /// Pages needed.
        wanted: u64,
        /// Pages in the pool that are neither used nor promised.
        free: u64,
    },
    /// The kernel gives no memory: limits or overcommitment (`ENOMEM`), a sandbox (`EPERM`).
    #[error("can't map {bytes} bytes: {errno}")]
    Map {
        /// What was asked for, rounded up.
        bytes: u64,
        /// The kernel's answer.
        errno: Errno,
    },
    /// There is no such file: the folder is full, read-only, not there.
    #[error("can't make a file of {bytes} bytes there: {errno}")]
    File {
        /// What was asked for, rounded up.
        bytes: u64,
        /// The kernel's answer.
        errno: Errno,
    },
    /// The node can't be bound to.
    #[error(transparent)]
    Bind(#[from] BindError),
}

/// Why memory could not be bound to a node, other than by being refused as such.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BindError {
    /// There is no such node, it has no memory, or the cpuset does not allow it.
    #[error("node {node}: does not exist, has no memory, or is not allowed")]
    NotAllowed {
        /// The node that was asked for.
        node: u32,
    },
    /// Any other answer.
    #[error("node {node}: can't bind memory: {errno}")]
    Kernel {
        /// The node that was asked for.
        node: u32,
        /// The kernel's answer.
        errno: Errno,
    },
}

impl Arena {
    /// Reserves the memory and binds it if a node is named. No page exists yet (huge pages are
    /// promised by their pool): see [`populate`](Self::populate).
    ///
    /// # Errors
    ///
    /// An [`ArenaError`].
    pub fn map(spec: &ArenaSpec) -> Result<Self, ArenaError> {
        let (mapping, start, len) = reserve(spec)?;
        let mut arena = Self { mapping, start, len, pages: spec.pages, binding: None, dax: false };
        arena.advise();
        if let Some(node) = spec.node {
            arena.bind(node)?;
        }
        Ok(arena)
    }

    /// The same of a file in `folder`, that has no name and lasts as long as the arena. Storage is kept for all of it before this returns, so
    /// that a full disk is an error and no signal. Pages are base pages, or what the file system makes of them.
    ///
    /// # Errors
    ///
    /// An [`ArenaError`].
    pub fn map_in(folder: &Path, spec: &ArenaSpec) -> Result<Self, ArenaError> {
        let (mapping, start, len) = reserve(&ArenaSpec { pages: Pages::Base, ..*spec })?;
        let failed = |errno| ArenaError::File { bytes: len as u64, errno };
        let file = folder::nameless(folder).map_err(failed)?;
        let offset = start.as_ptr().addr() - mapping.address();
        // The length alone: where files are memory, storage is taken from the node to which the mapping is bound.
        file.set_len(len as u64).map_err(|error| failed(error.into()))?;
        let (mapping, start, dax) = mapping.open_file(offset, len, &file).map_err(failed)?;
        let mut arena = Self { mapping, start, len, pages: Pages::Base, binding: None, dax };
        arena.advise();
        if let Some(node) = spec.node {
            arena.bind(node)?;
        }
        folder::claim(&file, len).map_err(failed)?;
        Ok(arena)
    }

    /// Binds the memory to a node (`mbind`, `MPOL_BIND`, strict). Call it before any page exists:
    /// pages that lie elsewhere are not moved but fail the call.
    ///
    /// # Errors
    ///
    /// A [`BindError`]; being refused by a sandbox is no error but [`Binding::Refused`].
    pub fn bind(&mut self, node: u32) -> Result<Binding, BindError> {
        let nodes = mask::to_words([node]);
        let bound = raw::mbind(self.start, self.len, libc::MPOL_BIND, &nodes, raw::MPOL_MF_STRICT);
        let binding = match bound {
            Ok(()) => Binding::Bound,
            Err(errno) if errno.is_refusal() => Binding::Refused(errno),
            Err(Errno(libc::EINVAL)) => return Err(BindError::NotAllowed { node }),
            Err(errno) => return Err(BindError::Kernel { node, errno }),
        };
        self.binding = Some(binding);
        Ok(binding)
    }

    /// What came of the last call of [`bind`](Self::bind); `None` if no node was asked for.
    #[must_use]
    pub fn binding(&self) -> Option<Binding> {
        self.binding
    }

    /// Is the memory storage that is mapped itself (DAX)? The kernel tells no node of its pages.
    #[must_use]
    pub fn is_storage(&self) -> bool {
        self.dax
    }

    /// The kind of pages that was asked for. What was got is for [`placement`](Self::placement).
    #[must_use]
    pub fn pages(&self) -> Pages {
        self.pages
    }

    /// Bytes in the arena.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Always false.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The memory. [Populate](Self::populate) it first: otherwise a write allocates, in the middle
    /// of what is measured, and with huge pages under a cgroup limit may raise SIGBUS.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: `start` points to `len` bytes, mapped and zeroed, that `mapping` keeps; writers
        // need `&mut self`.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    /// The memory, for writing; split it as need be.
    #[must_use]
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as for `as_slice`; `&mut self` keeps everybody else out.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }

    /// Asks the kernel where the pages are and of what kind, on at most `max_samples` pages spread
    /// evenly. Call it after populating; pages that don't exist are
    /// [`unplaced`](Placement::unplaced).
    #[must_use]
    pub fn placement(&self, max_samples: usize) -> Placement {
        placement::of_all(&[self], max_samples).remove(0)
    }

    /// The address of byte `offset`, at most `len`.
    pub(crate) fn at(&self, offset: usize) -> NonNull<u8> {
        assert!(offset <= self.len, "offset {offset} in an arena of {}", self.len);
        // SAFETY: just checked to lie in the arena or one past its end.
        unsafe { self.start.add(offset) }
    }

    pub(crate) fn advise_range(&self, offset: usize, len: usize, advice: Advice) -> Result<(), Errno> {
        debug_assert!(offset + len <= self.len);
        self.mapping.advise(self.at(offset), len, advice)
    }

    /// Gives the kernel advice that it is free to lack: without transparent huge pages there is
    /// nothing to switch off, and whether there are any is for `placement` to say.
    fn advise(&self) {
        let advice = [Some(Advice::DontFork), Some(Advice::DontDump), Advice::for_pages(self.pages)];
        for advice in advice.into_iter().flatten() {
            let _ = self.advise_range(0, self.len, advice);
        }
    }
}

// SAFETY: an arena owns its memory, which no thread-local thing refers to.
unsafe impl Send for Arena {}

// SAFETY: through `&Arena` memory is only read; populating and asking the kernel leave it as it is.
unsafe impl Sync for Arena {}

fn reserve(spec: &ArenaSpec) -> Result<(Mapping, NonNull<u8>, usize), ArenaError> {
    if spec.bytes == 0 {
        return Err(ArenaError::Empty);
    }
    let base = page_size();
    if let Pages::Huge { bytes } = spec.pages
        && !(bytes.is_power_of_two() && bytes >= base as u64 && pages::may_have(bytes))
    {
        return Err(ArenaError::HugePageSize { bytes });
    }
    let too_large = || ArenaError::TooLarge { bytes: spec.bytes };
    let unit = usize::try_from(spec.pages.unit()).map_err(|_| too_large())?;
    let rounded = spec.pages.round_up(spec.bytes).ok_or_else(too_large)?;
    let len = usize::try_from(rounded).map_err(|_| too_large())?;
    let guard = if spec.guard { base } else { 0 };
    // Room to move the start to a multiple of the unit; a slice holds at most isize::MAX bytes.
    let slack = 2 * guard + (unit - base);
    let total = len.checked_add(slack).filter(|&total| isize::try_from(total).is_ok());
    let total = total.ok_or_else(too_large)?;

    let map_error = |errno| ArenaError::Map { bytes: rounded, errno };
    let mapping = Mapping::reserve(total).map_err(map_error)?;
    let address = mapping.address();
    let offset = (address + guard).next_multiple_of(unit) - address;
    match spec.pages {
        Pages::Base | Pages::Thp => {
            let start = mapping.open(offset, len).map_err(map_error)?;
            Ok((mapping, start, len))
        }
        Pages::Huge { bytes } => {
            let (mapping, start) = mapping.open_huge(offset, len, bytes).map_err(|errno| huge_error(bytes, rounded, errno))?;
            Ok((mapping, start, len))
        }
    }
}

/// Why huge pages were not to be had: from the pool's own counts, since ENOMEM says little.
fn huge_error(page: u64, bytes: u64, errno: Errno) -> ArenaError {
    let wanted = bytes / page;
    match pool(Path::new("/"), page) {
        None if matches!(errno.0, libc::EINVAL | libc::ENODEV | libc::ENOENT | libc::ENOSYS) => {
            ArenaError::HugePageSize { bytes: page }
        }
        Some(pool) if errno.0 == libc::ENOMEM && pool.free < wanted => {
            ArenaError::HugePagesShort { bytes: page, wanted, free: pool.free }
        }
        _ => ArenaError::Map { bytes, errno },
    }
}
