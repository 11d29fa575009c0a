//! Where the threads of a block meet, so that all begin at one tick, and where the leader says when the first window begins.
//! `cargo xtask loom` tries every order in which threads can go through it.

// Under loom the tests, and they alone, get loom's atomics, which may show every value that the memory model allows.
#[cfg(all(loom, test))]
use loom::{
    hint::spin_loop as pause,
    sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
};
#[cfg(not(all(loom, test)))]
use memgauge_kernels::spin::pause;
#[cfg(not(all(loom, test)))]
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// Why a thread does not go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absence {
    /// It was told to stop.
    Stopped,
    /// The others were waited for too long, or gave up.
    Left,
    /// The others had given up before it came.
    Late,
}

/// What the threads of a block share before their first window. All of it is written once or twice in a block, so that
/// reading it costs nobody a transfer.
pub struct StartLine {
    members: u32,
    arrived: AtomicU32,
    /// Ticks at which all begin; 0 before all have arrived.
    start: AtomicU64,
    /// Ticks of the first window's beginning; 0 before the leader knows it.
    first_window: AtomicU64,
    /// A member can't go on: all others end, too.
    broken: AtomicBool,
}

impl StartLine {
    pub fn new(members: u32) -> Self {
        Self {
            members,
            arrived: AtomicU32::new(0),
            start: AtomicU64::new(0),
            first_window: AtomicU64::new(0),
            broken: AtomicBool::new(false),
        }
    }

    /// Arrives and waits for the others, at most `patience` ticks; returns the tick at which all begin, the same for all: that of
    /// the last one's arrival and `ahead` more. What any of them wrote before, all see.
    pub fn meet(&self, ahead: u64, patience: u64, now: impl Fn() -> u64, stopped: impl Fn() -> bool) -> Result<u64, Absence> {
        let arrival = now();
        if self.is_broken() {
            return Err(Absence::Late);
        }
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.members {
            self.start.store(arrival.wrapping_add(ahead).max(1), Ordering::Release);
        }
        let give_up = arrival.wrapping_add(patience);
        loop {
            let now = now();
            let start = self.start.load(Ordering::Acquire);
            if start != 0 && now >= start {
                return Ok(start);
            }
            if stopped() {
                return Err(Absence::Stopped);
            }
            if now > give_up || self.is_broken() {
                return Err(Absence::Left);
            }
            pause();
        }
    }

    /// The leader's word: the first window begins at this tick.
    pub fn open(&self, tick: u64) {
        self.first_window.store(tick.max(1), Ordering::Release);
    }

    /// When the first window begins, if the leader has said so. What it wrote before is then seen.
    pub fn opened(&self) -> Option<u64> {
        Some(self.first_window.load(Ordering::Acquire)).filter(|tick| *tick != 0)
    }

    /// Somebody is missing: all others end.
    pub fn give_up(&self) {
        self.broken.store(true, Ordering::Release);
    }

    /// Has anybody given up?
    pub fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Acquire)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn one_alone_begins_at_once_and_a_missing_one_is_waited_for_in_vain() {
        let alone = StartLine::new(1);
        assert_eq!(alone.meet(0, 10, || 7, || false), Ok(7));
        let two = StartLine::new(2);
        let time = std::cell::Cell::new(0);
        let now = || time.replace(time.get() + 1);
        assert_eq!(two.meet(1, 100, now, || false), Err(Absence::Left));
        assert!((100..110).contains(&time.get()), "{time:?}");
        two.give_up();
        assert_eq!(two.meet(1, 100, now, || false), Err(Absence::Late));
        assert_eq!(StartLine::new(2).meet(1, 100, now, || true), Err(Absence::Stopped));
    }
}

/// Every order of threads, and every value that an atomic may then show. A thread that waits for ever fails the model.
#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::Arc;
    use std::cell::Cell;

    /// Threads that meet.
    const MEMBERS: u32 = 2;

    /// A clock of its own for each thread, a tick a look.
    fn clock() -> impl Fn() -> u64 {
        let ticks = Cell::new(0);
        move || ticks.replace(ticks.get() + 1)
    }

    fn explore(model: impl Fn() + Sync + Send + 'static) {
        let mut builder = loom::model::Builder::new();
        // More switches than these find nothing new here, and take minutes.
        builder.preemption_bound = Some(2);
        builder.max_branches = 50_000;
        builder.check(model);
    }

    /// Runs `each` in as many threads as there are members, this one among them.
    fn all<T: 'static>(each: impl Fn(usize) -> T + Clone + Send + Sync + 'static) -> Vec<T> {
        let others: Vec<_> = (1..MEMBERS as usize)
            .map(|at| {
                let each = each.clone();
                loom::thread::spawn(move || each(at))
            })
            .collect();
        let own = each(0);
        std::iter::once(own).chain(others.into_iter().map(|other| other.join().unwrap())).collect()
    }

    #[test]
    fn all_begin_at_one_tick_and_see_what_was_written_before() {
        explore(|| {
            let line = Arc::new(StartLine::new(MEMBERS));
            let written: Arc<Vec<AtomicU32>> = Arc::new((0..MEMBERS).map(|_| AtomicU32::new(0)).collect());
            let starts = all(move |at| {
                written[at].store(1, Ordering::Relaxed);
                let start = line.meet(1, u64::MAX / 2, clock(), || false).unwrap();
                assert!(written.iter().all(|slot| slot.load(Ordering::Relaxed) == 1));
                start
            });
            assert!(starts.iter().all(|start| *start == starts[0] && *start > 0));
        });
    }

    #[test]
    fn one_that_cannot_come_ends_all_others() {
        explore(|| {
            let line = Arc::new(StartLine::new(MEMBERS));
            let ends = all(move |at| {
                if at == 1 {
                    line.give_up();
                    return None;
                }
                Some(line.meet(1, u64::MAX / 2, clock(), || false))
            });
            assert!(ends.into_iter().flatten().all(|end| matches!(end, Err(Absence::Left | Absence::Late))));
        });
    }

    /// Who waited in vain is left, who came too late is late, and whoever goes on finds the line broken.
    #[test]
    fn impatience_is_told_apart_from_being_late() {
        explore(|| {
            let line = Arc::new(StartLine::new(2));
            let impatient = line.clone();
            let waited = loom::thread::spawn(move || {
                let end = impatient.meet(1, 1, clock(), || false);
                if end.is_err() {
                    impatient.give_up();
                }
                end
            });
            let came = line.meet(1, u64::MAX / 2, clock(), || false);
            match waited.join().unwrap() {
                Ok(start) => assert_eq!(came, Ok(start)),
                Err(absence) => {
                    assert_eq!(absence, Absence::Left);
                    assert_ne!(came, Err(Absence::Left));
                    assert!(line.is_broken());
                }
            }
        });
    }

    #[test]
    fn the_leaders_word_comes_with_what_it_wrote() {
        explore(|| {
            let line = Arc::new(StartLine::new(2));
            let written = Arc::new(AtomicU32::new(0));
            let (lead, before) = (line.clone(), written.clone());
            let leader = loom::thread::spawn(move || {
                before.store(1, Ordering::Relaxed);
                lead.open(42);
            });
            let tick = loop {
                match line.opened() {
                    Some(tick) => break tick,
                    None => pause(),
                }
            };
            assert_eq!((tick, written.load(Ordering::Relaxed)), (42, 1));
            leader.join().unwrap();
        });
    }
}
