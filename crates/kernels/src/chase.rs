//! Dependent-load rings: the latency kernels.
//!
//! A ring is a single cycle of links through all nodes of a buffer. A link is
//! the byte offset of the next one from the start of the buffer, not an address:
//! prefetchers that follow pointers find none. Rings that use different words of
//! a node's line can share one buffer.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::arch;
use crate::clock::Clock;
use crate::rng::Rng;

const LINE: usize = 64;
/// Lines asked for ahead while a permutation is built: as many as a core's first level has under way. More of them wait for
/// one another (26 ns a node of a full-random ring of 1 GiB with 16, 31 with 32, 45 with 64).
const BATCH: usize = 16;

/// The order in which a ring visits its nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Window after window, at random inside each: page walks are amortised.
    WindowRandom {
        /// Size of a window in bytes (512 KiB is usual).
        window_bytes: usize,
    },
    /// Windows, too, but every other node of all of them first, then the nodes between: a neighbour that a prefetcher brings
    /// along has its turn when the whole buffer has gone by.
    SplitRandom {
        /// Size of a window in bytes; it holds half as many nodes of each kind.
        window_bytes: usize,
    },
    /// One uniformly random cycle: pays TLB misses as pointer-heavy programs do.
    FullRandom,
    /// Rising addresses: says something only with prefetchers off.
    Sequential,
}

/// Which ring of a [`Rings`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RingId(usize);

/// Why a buffer or a ring is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RingError {
    /// The buffer does not begin on a 64-byte boundary.
    Unaligned,
    /// The stride is below 64 or no multiple of 8.
    Stride {
        /// As asked, in bytes.
        stride: usize,
    },
    /// A line has the words 0 to 7.
    Word {
        /// As asked.
        word: usize,
    },
    /// Fewer than two nodes fit into the buffer, or into a window.
    TooSmall {
        /// Bytes of the buffer or window.
        bytes: usize,
        /// Bytes from node to node.
        stride: usize,
    },
    /// A ring that is already there has links where this one's would go.
    Clash {
        /// Stride of the ring that is in the way.
        stride: usize,
        /// Its word.
        word: usize,
    },
    /// The stop flag was set before all nodes were linked.
    Stopped,
}

impl std::fmt::Display for RingError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Self::Unaligned => write!(f, "the buffer does not begin on a 64-byte boundary"),
            Self::Stride { stride } => {
                write!(f, "stride {stride}: at least 64 and a multiple of 8 is needed")
            }
            Self::Word { word } => write!(f, "word {word}: a line has the words 0 to 7"),
            Self::TooSmall { bytes, stride } => {
                write!(f, "{bytes} bytes hold fewer than two nodes at stride {stride}")
            }
            Self::Stopped => write!(f, "stopped while linking"),
            Self::Clash { stride, word } => {
                write!(f, "links would overwrite the ring at stride {stride}, word {word}")
            }
        }
    }
}

impl std::error::Error for RingError {}

#[derive(Debug, Clone, Copy)]
struct Ring {
    stride: usize,
    word: usize,
    nodes: usize,
    start: u64,
    growth: Growth,
}

/// How a ring comes to span more of its buffer.
#[derive(Debug, Clone, Copy)]
enum Growth {
    /// It is built anew.
    Anew,
    /// It is one random cycle through all its nodes, into which more are inserted.
    Insert,
    /// It is two chains of windows of so many nodes, to which windows are appended, unless its last ones are cut short.
    Append { window: usize, chains: [Chain; 2] },
}

/// Windows joined end to start.
#[derive(Debug, Clone, Copy)]
struct Chain {
    /// Byte offset of the first node's link.
    first: u64,
    /// The last node, whose link leads out of the chain.
    open: usize,
}

/// A buffer and the rings in it.
///
/// It borrows the buffer exclusively and every link in it was written here, so
/// that every link that a chase follows lies in the buffer.
#[derive(Debug)]
pub struct Rings<'a> {
    base: *mut u8,
    len: usize,
    rings: Vec<Ring>,
    buffer: PhantomData<&'a mut [u8]>,
}

// SAFETY: it stands for the exclusive borrow that it was made from.
unsafe impl Send for Rings<'_> {}
// SAFETY: through a shared reference the buffer is only read.
unsafe impl Sync for Rings<'_> {}

impl<'a> Rings<'a> {
    /// A buffer without rings.
    ///
    /// # Errors
    ///
    /// [`RingError::Unaligned`].
    pub fn new(memory: &'a mut [u8]) -> Result<Self, RingError> {
        let base = memory.as_mut_ptr();
        if !base.addr().is_multiple_of(LINE) {
            return Err(RingError::Unaligned);
        }
        Ok(Self { base, len: memory.len(), rings: Vec::new(), buffer: PhantomData })
    }

    /// Links a single cycle through all nodes: node i's line begins at i·`stride`,
    /// its link is word `word` (0 to 7) of that line. Every node whose line fits
    /// into the buffer takes part.
    ///
    /// With the stride and word of an earlier ring, that ring is built anew and
    /// keeps its id. Built in place, without an index array.
    ///
    /// # Errors
    ///
    /// Any [`RingError`] but [`RingError::Unaligned`]; nothing has changed then.
    pub fn build(&mut self, order: Order, stride: usize, word: usize, rng: &mut Rng) -> Result<RingId, RingError> {
        self.build_over(&AtomicBool::new(false), order, stride, word, self.len, rng)
    }

    /// As [`build`](Self::build), through the nodes in the first `bytes` of the buffer alone (all of it, if it holds less). That
    /// takes seconds for many GiB; it ends with [`RingError::Stopped`] soon after `stop` is set. The new ring doesn't exist then
    /// (one that was to be built anew has links to its own nodes, but no longer one cycle).
    ///
    /// # Errors
    ///
    /// As [`build`](Self::build), or [`RingError::Stopped`].
    pub fn build_over(
        &mut self,
        stop: &AtomicBool,
        order: Order,
        stride: usize,
        word: usize,
        bytes: usize,
        rng: &mut Rng,
    ) -> Result<RingId, RingError> {
        let mut ring = self.plan(stride, word, bytes)?;
        let linked = match order {
            Order::Sequential => self.link(ring).sequential(stop).map(|start| (start, Growth::Anew)),
            Order::FullRandom => self.link(ring).windows(ring.nodes, rng, stop).map(|start| (start, Growth::Insert)),
            Order::WindowRandom { window_bytes } => {
                let window = window_bytes / stride;
                if window < 2 {
                    return Err(RingError::TooSmall { bytes: window_bytes, stride });
                }
                self.link(ring).windows(window, rng, stop).map(|start| (start, Growth::Anew))
            }
            Order::SplitRandom { window_bytes } => {
                let window = (window_bytes / stride / 2).max(1);
                let chains = [0, 1].map(|odd| self.lane(ring, odd).chain(0, window, rng, stop));
                let [Some(even), Some(odd)] = chains else { return Err(RingError::Stopped) };
                self.join(ring, [even, odd]);
                Some((even.first, Growth::Append { window, chains: [even, odd] }))
            }
        };
        (ring.start, ring.growth) = linked.ok_or(RingError::Stopped)?;
        let same = |r: &Ring| (r.stride, r.word) == (stride, word);
        if let Some(i) = self.rings.iter().position(same) {
            self.rings[i] = ring;
            return Ok(RingId(i));
        }
        self.rings.push(ring);
        Ok(RingId(self.rings.len() - 1))
    }

    /// Makes ring `id` one through the nodes in the first `bytes` of the buffer. A full-random one that spans less is extended:
    /// insertion leaves a uniformly random single cycle at every step, so a ring that grows from size to size costs no more than
    /// the largest alone. To a split-random one of whole windows more of them are appended. Any other is built anew.
    ///
    /// # Errors
    ///
    /// As [`build_over`](Self::build_over).
    ///
    /// # Panics
    ///
    /// If `id` is not of this buffer.
    pub fn span(&mut self, stop: &AtomicBool, id: RingId, order: Order, bytes: usize, rng: &mut Rng) -> Result<(), RingError> {
        let old = self.rings[id.0];
        let new = self.plan(old.stride, old.word, bytes)?;
        let growth = match (old.growth, order) {
            (growth @ Growth::Insert, Order::FullRandom) if new.nodes >= old.nodes => {
                // Stopped on the way it can't be extended again: some of the new nodes are in it.
                self.rings[id.0].growth = Growth::Anew;
                self.link(new).extend(0, old.nodes, new.nodes, rng, stop).ok_or(RingError::Stopped)?;
                growth
            }
            (Growth::Append { window, chains }, Order::SplitRandom { window_bytes })
                if window == window_bytes / old.stride / 2
                    && old.nodes.is_multiple_of(2 * window)
                    // A new node for each chain at least.
                    && new.nodes >= old.nodes + 2 =>
            {
                let more = [0, 1].map(|odd| self.lane(new, odd).chain(old.nodes / 2, window, rng, stop));
                let [Some(even), Some(odd)] = more else { return Err(RingError::Stopped) };
                for (lane, more) in [even, odd].into_iter().enumerate() {
                    self.lane(new, lane).set(chains[lane].open, more.first);
                }
                let chains = [(chains[0], even), (chains[1], odd)].map(|(old, new)| Chain { open: new.open, ..old });
                self.join(new, chains);
                Growth::Append { window, chains }
            }
            _ => return self.build_over(stop, order, old.stride, old.word, bytes, rng).map(|_| ()),
        };
        self.rings[id.0] = Ring { start: old.start, growth, ..new };
        Ok(())
    }

    /// Reads the first `bytes` of the buffer, line by line and address by address: what the caches hold of it, they hold then.
    pub fn read_through(&self, bytes: usize) {
        for line in (0..bytes.min(self.len) / LINE).map(|line| line * LINE) {
            // SAFETY: the line lies in the borrowed buffer, which begins on a line's boundary.
            let _ = unsafe { self.base.wrapping_add(line).cast::<u64>().read_volatile() };
        }
    }

    /// Checks a ring that is to be built over the first `bytes` against the buffer and its other rings.
    fn plan(&self, stride: usize, word: usize, bytes: usize) -> Result<Ring, RingError> {
        let len = self.len.min(bytes);
        if stride < LINE || !stride.is_multiple_of(8) {
            return Err(RingError::Stride { stride });
        }
        if word > 7 {
            return Err(RingError::Word { word });
        }
        let nodes = len.checked_sub(LINE).map_or(0, |n| n / stride + 1);
        if nodes < 2 {
            return Err(RingError::TooSmall { bytes: len, stride });
        }
        for other in &self.rings {
            if (other.stride, other.word) != (stride, word) && clash((other.stride, other.word), (stride, word)) {
                return Err(RingError::Clash { stride: other.stride, word: other.word });
            }
        }
        Ok(Ring { stride, word, nodes, start: (word * 8) as u64, growth: Growth::Anew })
    }

    fn link(&mut self, Ring { stride, word, nodes, .. }: Ring) -> Linker<'_> {
        Linker { base: self.base, first: word * 8, stride, nodes, buffer: PhantomData }
    }

    /// Every other node of the ring, from its first or its second on.
    fn lane(&mut self, Ring { stride, word, nodes, .. }: Ring, odd: usize) -> Linker<'_> {
        let (first, nodes) = (odd * stride + word * 8, (nodes - odd).div_ceil(2));
        Linker { base: self.base, first, stride: 2 * stride, nodes, buffer: PhantomData }
    }

    /// Makes one cycle of both chains.
    fn join(&mut self, ring: Ring, [even, odd]: [Chain; 2]) {
        self.lane(ring, 0).set(even.open, odd.first);
        self.lane(ring, 1).set(odd.open, even.first);
    }

    /// The number of nodes of a ring, each visited once in as many hops.
    #[must_use]
    pub fn nodes(&self, id: RingId) -> u64 {
        self.rings[id.0].nodes as u64
    }

    /// An offset to begin a chase at: of the first node of the first window.
    #[must_use]
    pub fn start(&self, id: RingId) -> u64 {
        self.rings[id.0].start
    }

    /// Follows `hops` links from the offset `at` ([`Rings::start`] or what an
    /// earlier chase returned) and returns the last one.
    ///
    /// # Panics
    ///
    /// If `id` is not of this buffer or `at` is no offset of that ring.
    #[inline]
    pub fn chase(&self, id: RingId, at: u64, hops: u64) -> u64 {
        self.check(id, at);
        // SAFETY: `at` is a link's place in a ring that was built in this buffer,
        // whose links form a closed cycle of such places; nobody else can write.
        unsafe { arch::chase(self.base, at, hops) }
    }

    /// One hop per slot of `ticks`, each fenced and timed by itself (the clock's
    /// cost included; `u32::MAX` if longer); returns the last offset.
    ///
    /// # Panics
    ///
    /// As [`Rings::chase`].
    pub fn timed(&self, id: RingId, at: u64, clock: &Clock, ticks: &mut [u32]) -> u64 {
        self.check(id, at);
        let mut at = at;
        for slot in ticks {
            let start = clock.start();
            // SAFETY: as in `chase`.
            at = unsafe { arch::hop(self.base, at) };
            let spent = clock.stop().wrapping_sub(start);
            *slot = u32::try_from(spent).unwrap_or(u32::MAX);
        }
        at
    }

    /// Puts every node's line out of all caches, so that a chase doesn't meet there what building left. Returns whether the
    /// architecture can do that. (0.05 s a GiB at a stride of 128.)
    pub fn flush(&self) -> bool {
        let covered = |at: usize, ring: &Ring| {
            self.rings[..at].iter().any(|other| other.stride == ring.stride && other.nodes >= ring.nodes)
        };
        self.rings.iter().enumerate().filter(|(at, ring)| !covered(*at, ring)).all(|(_, ring)| {
            let bytes = self.len.min(ring.nodes * ring.stride);
            // SAFETY: all of it is the borrowed buffer; flushing changes no content.
            unsafe { arch::flush_range(self.base, bytes, ring.stride) }
        })
    }

    #[inline]
    fn check(&self, id: RingId, at: u64) {
        let Ring { stride, word, nodes, .. } = self.rings[id.0];
        let node = at.wrapping_sub((word * 8) as u64);
        let fits = node.is_multiple_of(stride as u64) && node / (stride as u64) < nodes as u64;
        assert!(fits, "offset {at} is not one of ring {}", id.0);
    }
}

/// Whether two rings could want the same word: their places i·s + 8w are equal
/// modulo the greatest common divisor of the strides. Strides being multiples of
/// 8 and links aligned words, there is no partial overlap.
fn clash((s1, w1): (usize, usize), (s2, w2): (usize, usize)) -> bool {
    let (mut a, mut b) = (s1, s2);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    (w1 * 8) % a == (w2 * 8) % a
}

/// Writes the links of one ring, or of every other node of one. All of its nodes' lines lie in the borrowed buffer.
struct Linker<'a> {
    base: *mut u8,
    /// Byte offset of the first node's link, a multiple of 8 as the stride is.
    first: usize,
    stride: usize,
    nodes: usize,
    buffer: PhantomData<&'a mut [u8]>,
}

impl Linker<'_> {
    fn sequential(&mut self, stop: &AtomicBool) -> Option<u64> {
        let last = self.nodes - 1;
        for i in 0..last {
            if i.is_multiple_of(BATCH) && stop.load(Ordering::Relaxed) {
                return None;
            }
            self.set(i, self.place(i + 1));
        }
        self.set(last, self.place(0));
        Some(self.place(0))
    }

    /// One cycle of windows. Returns the start of the first.
    fn windows(&mut self, window: usize, rng: &mut Rng, stop: &AtomicBool) -> Option<u64> {
        let chain = self.chain(0, window, rng, stop)?;
        self.set(chain.open, chain.first);
        Some(chain.first)
    }

    /// A random cycle within each window of `window` nodes from node `from` on, which is there; then the cycles opened at a
    /// random node each and joined end to start.
    fn chain(&mut self, from: usize, window: usize, rng: &mut Rng, stop: &AtomicBool) -> Option<Chain> {
        let mut chain: Option<Chain> = None;
        for begin in (from..self.nodes).step_by(window) {
            let n = window.min(self.nodes - begin);
            self.cycle(begin, n, rng, stop)?;
            let open = begin + rng.below(n as u64) as usize;
            let start = self.get(open);
            if let Some(before) = &chain {
                self.set(before.open, start);
            }
            chain = Some(Chain { first: chain.map_or(start, |chain| chain.first), open });
        }
        chain
    }

    /// A uniformly random single cycle through the nodes `begin..begin + n`.
    fn cycle(&mut self, begin: usize, n: usize, rng: &mut Rng, stop: &AtomicBool) -> Option<()> {
        self.set(begin, self.place(begin));
        self.extend(begin, 1, n, rng, stop)
    }

    /// Makes a cycle through the nodes `begin..begin + have` one through `begin..begin + n`: each further node in turn is
    /// inserted behind a random one of those before it.
    ///
    /// The targets of a batch are drawn and prefetched one batch ahead: a big
    /// buffer is a cache miss and a page walk a node.
    fn extend(&mut self, begin: usize, have: usize, n: usize, rng: &mut Rng, stop: &AtomicBool) -> Option<()> {
        let mut next = [0; BATCH];
        let mut ready = have..(have + BATCH).min(n);
        self.draw(begin, ready.clone(), &mut next, rng);
        // Targets in a window are found in the cache: what misses is each node's own line, at a stride that no prefetcher
        // follows (25 ns a node, 12 with this). In one cycle through all the targets need all that can be under way.
        let own_lines = n < self.nodes;
        while !ready.is_empty() {
            if stop.load(Ordering::Relaxed) {
                return None;
            }
            let now = next;
            let following = ready.end..(ready.end + BATCH).min(n);
            if own_lines {
                following.clone().for_each(|i| arch::prefetch_write(self.word(begin + i).cast()));
            }
            self.draw(begin, following.clone(), &mut next, rng);
            for (i, &j) in ready.zip(&now) {
                let (i, j) = (begin + i, begin + j);
                self.set(i, self.get(j));
                self.set(j, self.place(i));
            }
            ready = following;
        }
        Some(())
    }

    fn draw(&self, begin: usize, nodes: std::ops::Range<usize>, out: &mut [usize; BATCH], rng: &mut Rng) {
        for (i, slot) in nodes.zip(out) {
            *slot = rng.below(i as u64) as usize;
            arch::prefetch_write(self.word(begin + *slot).cast());
        }
    }

    /// The byte offset of node `i`'s link.
    fn place(&self, i: usize) -> u64 {
        (self.first + i * self.stride) as u64
    }

    fn word(&self, i: usize) -> *mut u64 {
        debug_assert!(i < self.nodes);
        self.base.wrapping_add(self.place(i) as usize).cast()
    }

    fn get(&self, i: usize) -> u64 {
        // SAFETY: node i's line lies in the buffer (`plan`), is 8-aligned as base
        // and stride are, and the buffer is borrowed exclusively.
        unsafe { self.word(i).read() }
    }

    fn set(&mut self, i: usize, link: u64) {
        // SAFETY: as in `get`.
        unsafe { self.word(i).write(link) }
    }
}

#[cfg(test)]
mod tests;
