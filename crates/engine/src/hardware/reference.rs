//! The reference chase: a millisecond of dependent loads from memory between two blocks, always alike. What slows it down is
//! somebody else's use of the memory, which shows in no sign of our own threads.

use super::threads;
use super::timing::ticks_to_ns;
use memgauge_kernels::chase::{Order, Rings};
use memgauge_kernels::{Clock, Rng};
use memgauge_model::Cpu;
use memgauge_sys::{self as sys, ArenaSpec, Pages};

/// One huge page, where there are any: no page walk mixes in.
const BYTES: u64 = 2 << 20;
/// Two lines, as the chases that are measured have it: no prefetcher of neighbours helps.
const STRIDE: usize = 128;
/// Stretches that are timed. Their median counts: an interrupt makes one or two of them longer.
const STRETCHES: u64 = 8;
/// Hops of a stretch. All stretches together meet half of the nodes, and none twice.
const HOPS: u64 = BYTES / STRIDE as u64 / 2 / STRETCHES;

/// Memory for it, of the node of the CPU that reads first.
pub struct Reference {
    arena: sys::Arena,
}

impl Reference {
    pub fn new() -> Option<Self> {
        let spec = ArenaSpec { bytes: BYTES, pages: Pages::Thp, node: None, guard: false };
        sys::Arena::map(&spec).ok().map(|arena| Self { arena })
    }

    /// ns a hop from memory by this CPU; none where the CPU can't be had, or can't put lines out of its caches.
    pub fn read(&mut self, clock: &Clock, hz: f64, cpu: Cpu) -> Option<f64> {
        let memory = self.arena.as_mut_slice();
        let ticks = std::thread::scope(|scope| {
            let thread = threads::spawn(scope, move || {
                sys::cpu::pin_to(cpu).ok()?;
                chase(memory, clock)
            });
            thread.ok()?.join().ok().flatten()
        })?;
        #[expect(clippy::cast_precision_loss, reason = "a constant")]
        let hops = HOPS as f64;
        Some(ticks_to_ns(ticks, hz) / hops)
    }
}

/// Ticks of the median stretch.
fn chase(memory: &mut [u8], clock: &Clock) -> Option<u64> {
    let mut rings = Rings::new(memory).ok()?;
    let ring = rings.build(Order::FullRandom, STRIDE, 0, &mut Rng::new(1)).ok()?;
    if !rings.flush() {
        return None;
    }
    let mut at = rings.start(ring);
    let mut ticks = [0; STRETCHES as usize];
    for stretch in &mut ticks {
        let begin = clock.start();
        at = rings.chase(ring, at, HOPS);
        *stretch = clock.stop().wrapping_sub(begin);
    }
    ticks.sort_unstable();
    ticks.get(ticks.len() / 2).copied()
}
