//! Hardware counters beside a block. System-wide ones are read by the leader before the first window and after the last;
//! a thread's own by itself, between two chunks at its first mark and after its last chunk.

use memgauge_kernels::Clock;
use memgauge_model::{
    Count, Counted, CounterEvent, CounterRefusal, CounterScope, CounterState, Cpu, CpuList, Reason, ThreadCounts,
};
use memgauge_sys::perf::{Counter, Event, PerfError, Reading};

/// Those that this run can use.
#[derive(Default)]
pub struct Counters {
    /// Open for the whole run.
    system: Vec<Open>,
    /// Opened anew by each thread.
    of_threads: Vec<OfThread>,
}

struct Open {
    event: usize,
    cpu: Cpu,
    counter: Counter,
}

struct OfThread {
    event: usize,
    what: Event,
    cpus: Option<CpuList>,
}

/// A reading of all system-wide counters.
pub struct Snapshot {
    /// Its middle, ticks.
    at: u64,
    readings: Vec<Option<Reading>>,
}

/// What system-wide counters counted.
pub struct SystemCounts {
    pub ticks: u64,
    pub counts: Vec<Count>,
}

impl Counters {
    /// Opens what can be opened of the plan's events.
    pub fn open(events: &[CounterEvent]) -> (Self, CounterState) {
        let (opened, state) = choose(events, |event, cpu| match cpu {
            Some(cpu) => Counter::of_cpu(encoded(event), cpu),
            None => Counter::of_this_thread(encoded(event)),
        });
        let mut counters = Self::default();
        for (event, cpu, counter) in opened {
            match (cpu, &events[event].scope) {
                (Some(cpu), _) => counters.system.push(Open { event, cpu, counter }),
                (None, CounterScope::Thread { cpus }) => {
                    let what = encoded(&events[event]);
                    counters.of_threads.push(OfThread { event, what, cpus: cpus.clone() });
                }
                (None, CounterScope::System { .. }) => {}
            }
        }
        (counters, state)
    }

    /// Is there nothing to read?
    pub fn is_empty(&self) -> bool {
        self.system.is_empty() && self.of_threads.is_empty()
    }

    /// Reads the system-wide ones: each some microseconds, and an interrupt for the CPU that it belongs to. Not in a window.
    pub fn snapshot(&self, clock: &Clock) -> Snapshot {
        let begin = clock.stamp().ticks;
        let readings = self.system.iter().map(|open| open.counter.read().ok()).collect();
        let took = clock.stamp().ticks.wrapping_sub(begin);
        Snapshot { at: begin.wrapping_add(took / 2), readings }
    }

    /// What was counted between two readings. One that could not be read is left out.
    pub fn between(&self, first: &Snapshot, last: &Snapshot) -> SystemCounts {
        let readings = first.readings.iter().zip(&last.readings);
        let counts = self.system.iter().zip(readings);
        let counts = counts.filter_map(|(open, (a, b))| Some(difference(open.event, open.cpu, (*a)?, (*b)?)));
        SystemCounts { ticks: last.at.wrapping_sub(first.at), counts: counts.collect() }
    }

    /// The calling thread's own, for its work on `cpu`.
    pub fn of_this_thread(&self, cpu: Cpu) -> ThreadCounters {
        let here = self.of_threads.iter().filter(|of| of.cpus.as_ref().is_none_or(|cpus| cpus.contains(cpu)));
        let counters: Vec<_> = here.filter_map(|of| Some((of.event, Counter::of_this_thread(of.what).ok()?))).collect();
        let begun = Vec::with_capacity(counters.len());
        ThreadCounters { cpu, counters, begun }
    }
}

/// One thread's counters.
pub struct ThreadCounters {
    cpu: Cpu,
    counters: Vec<(usize, Counter)>,
    /// Readings at the beginning; empty before it.
    begun: Vec<Option<Reading>>,
}

impl ThreadCounters {
    /// Counts from here on. Allocates nothing.
    pub fn begin(&mut self) {
        self.begun.clear();
        self.begun.extend(self.counters.iter().map(|(_, counter)| counter.read().ok()));
    }

    /// What was counted since, while the thread did so much.
    pub fn end(&self, accesses: u64) -> ThreadCounts {
        let readings = self.counters.iter().zip(&self.begun);
        let counts =
            readings.filter_map(|((event, counter), begun)| Some(difference(*event, self.cpu, (*begun)?, counter.read().ok()?)));
        ThreadCounts { cpu: self.cpu, accesses, counts: counts.collect() }
    }
}

fn encoded(event: &CounterEvent) -> Event {
    Event { kind: event.kind, config: event.config }
}

fn difference(event: usize, cpu: Cpu, a: Reading, b: Reading) -> Count {
    Count {
        event,
        cpu,
        // Hardware counters wrap around; the kernel's sum of them does after 2^64 only.
        value: b.value.wrapping_sub(a.value),
        enabled_ns: b.enabled_ns.saturating_sub(a.enabled_ns),
        running_ns: b.running_ns.saturating_sub(a.running_ns),
    }
}

/// An event, the CPU if it is opened on one, and what opening gave.
type Opened<C> = (usize, Option<Cpu>, C);

/// Opens events by kind of count. A sum without one of its controllers would be wrong, so system-wide ones count all or not
/// at all; of a thread's the first that opens is enough for the CPUs that it is for.
fn choose<C>(
    events: &[CounterEvent],
    mut open: impl FnMut(&CounterEvent, Option<Cpu>) -> Result<C, PerfError>,
) -> (Vec<Opened<C>>, CounterState) {
    let mut opened: Vec<Opened<C>> = Vec::new();
    let mut refused: Vec<(Group, CounterRefusal)> = Vec::new();
    for (at, event) in events.iter().enumerate() {
        let group = Group::of(event);
        let known = |(of, _): &(Group, CounterRefusal)| *of == group;
        let refusal = |error: &PerfError| CounterRefusal { event: at, reason: reason(error), detail: error.to_string() };
        match &event.scope {
            CounterScope::System { .. } if refused.iter().any(known) => {}
            CounterScope::System { cpus } => {
                let all = cpus.iter().map(|cpu| Ok((at, Some(cpu), open(event, Some(cpu))?))).collect::<Result<Vec<_>, _>>();
                match all {
                    Ok(all) => opened.extend(all),
                    Err(error) => {
                        opened.retain(|(other, ..)| Group::of(&events[*other]) != group);
                        refused.push((group, refusal(&error)));
                    }
                }
            }
            CounterScope::Thread { .. } if opened.iter().any(|(other, ..)| Group::of(&events[*other]) == group) => {}
            CounterScope::Thread { .. } => match open(event, None) {
                Ok(counter) => {
                    refused.retain(|of| !known(of));
                    opened.push((at, None, counter));
                }
                // The first one's refusal tells most: it is the event that was wanted.
                Err(error) if !refused.iter().any(known) => refused.push((group, refusal(&error))),
                Err(_) => {}
            },
        }
    }
    let mut used: Vec<usize> = opened.iter().map(|(event, ..)| *event).collect();
    used.dedup();
    (opened, CounterState { used, refused: refused.into_iter().map(|(_, refusal)| refusal).collect() })
}

/// Events that count the same for the same CPUs.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Group {
    counts: Counted,
    /// For cores of several kinds.
    cpus: Option<CpuList>,
}

impl Group {
    fn of(event: &CounterEvent) -> Self {
        let cpus = match &event.scope {
            CounterScope::Thread { cpus } => cpus.clone(),
            CounterScope::System { .. } => None,
        };
        Self { counts: event.counts, cpus }
    }
}

fn reason(error: &PerfError) -> Reason {
    match error {
        PerfError::NoPermission { .. } => Reason::NoPermission,
        PerfError::NotPresent { .. } => Reason::NotPresent,
        PerfError::NotSupported { .. } => Reason::NotSupported,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memgauge_sys::Errno;

    fn event(counts: Counted, scope: CounterScope) -> CounterEvent {
        let (pmu, event) = ("pmu".to_owned(), "event".to_owned());
        CounterEvent { pmu, event, counts, kind: 0, config: [0; 3], scope, bytes: 64.0 }
    }

    fn system(counts: Counted) -> CounterEvent {
        event(counts, CounterScope::System { cpus: CpuList::from(vec![0, 8]) })
    }

    fn thread(counts: Counted, cpus: Option<Vec<Cpu>>) -> CounterEvent {
        event(counts, CounterScope::Thread { cpus: cpus.map(CpuList::from) })
    }

    /// Opens all but these, by event and CPU.
    fn chosen(events: Vec<CounterEvent>, not: &[(usize, Option<Cpu>)]) -> (Vec<(usize, Option<Cpu>)>, CounterState) {
        let numbered: Vec<CounterEvent> =
            events.into_iter().enumerate().map(|(at, event)| CounterEvent { config: [at as u64, 0, 0], ..event }).collect();
        let (opened, state) = choose(&numbered, |event, cpu| match not.contains(&(event.config[0] as usize, cpu)) {
            true => Err(PerfError::NoPermission { errno: Errno(13) }),
            false => Ok(()),
        });
        (opened.into_iter().map(|(event, cpu, ())| (event, cpu)).collect(), state)
    }

    #[test]
    fn a_sum_without_one_of_its_controllers_is_none() {
        use Counted::{DramRead, DramWrite};
        let events = || vec![system(DramRead), system(DramWrite), system(DramRead), system(DramWrite), system(DramRead)];
        let (opened, state) = chosen(events(), &[(2, Some(8))]);
        assert_eq!(opened, [(1, Some(0)), (1, Some(8)), (3, Some(0)), (3, Some(8))]);
        assert_eq!(state.used, [1, 3]);
        assert_eq!(state.refused.len(), 1);
        assert_eq!((state.refused[0].event, state.refused[0].reason), (2, Reason::NoPermission));
        let (opened, state) = chosen(events(), &[]);
        assert_eq!((opened.len(), state.used, state.refused.len()), (10, vec![0, 1, 2, 3, 4], 0));
    }

    #[test]
    fn of_a_threads_events_the_first_that_opens_counts_for_each_kind_of_core() {
        use Counted::LlcMisses;
        let big = || Some(vec![0, 1]);
        let events = || {
            let little = thread(LlcMisses, Some(vec![2]));
            vec![thread(LlcMisses, big()), thread(LlcMisses, big()), thread(LlcMisses, big()), little.clone(), little]
        };
        let (opened, state) = chosen(events(), &[(0, None)]);
        assert_eq!((opened, state.used, state.refused), (vec![(1, None), (3, None)], vec![1, 3], Vec::new()));
        let (_, state) = chosen(events(), &[(0, None), (1, None), (2, None)]);
        assert_eq!(state.used, [3]);
        assert_eq!(state.refused.iter().map(|refusal| refusal.event).collect::<Vec<_>>(), [0]);
    }
}
