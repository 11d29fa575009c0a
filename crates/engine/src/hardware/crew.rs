//! Preparing memory on several CPUs at once.

use super::arenas::Mapped;
use super::threads;
use crate::backend::Failure;
use memgauge_model::{Cpu, Plan};
use memgauge_sys as sys;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// Threads that prepare at most: beyond these memory bandwidth is the limit.
const MOST: usize = 16;

/// A piece of work.
pub struct Job<T> {
    /// The CPU that must do it; none: anybody.
    pub only: Option<Cpu>,
    /// How long it takes, in a unit of the caller's.
    pub cost: u64,
    pub item: T,
}

/// Does all jobs on the CPUs that touch these arenas or measure in them.
pub fn run<T: Send, R: Send>(
    plan: &Plan,
    arenas: &[Mapped],
    jobs: Vec<Job<T>>,
    each: impl Fn(T) -> Result<R, Failure> + Sync,
) -> Result<Vec<R>, Failure> {
    run_on(&cpus(plan, arenas), jobs, each)
}

/// The CPUs of the crew: the arenas' touchers, and who measures.
pub fn cpus(plan: &Plan, arenas: &[Mapped]) -> Vec<Cpu> {
    let touchers: BTreeSet<Cpu> = arenas.iter().map(|mapped| plan.arenas[mapped.id].toucher).collect();
    let measuring: BTreeSet<Cpu> = plan.points.iter().flat_map(|point| &point.threads).map(|thread| thread.cpu).collect();
    let free = MOST.saturating_sub(touchers.len());
    touchers.iter().copied().chain(measuring.difference(&touchers).copied().take(free)).collect()
}

/// The same on given CPUs. Each takes the costliest job that it may do until none is left; jobs that only one may do go first.
pub fn run_on<T: Send, R: Send>(
    cpus: &[Cpu],
    mut jobs: Vec<Job<T>>,
    each: impl Fn(T) -> Result<R, Failure> + Sync,
) -> Result<Vec<R>, Failure> {
    jobs.sort_by_key(|job| (job.only.is_some(), job.cost));
    let jobs = Mutex::new(jobs);
    let next = |cpu: Cpu| {
        let mut jobs = jobs.lock().unwrap_or_else(PoisonError::into_inner);
        let at = jobs.iter().rposition(|job| job.only.is_none_or(|only| only == cpu))?;
        Some(jobs.remove(at).item)
    };
    let (next, each) = (&next, &each);
    // A CPU that can't be had leaves its share to the others.
    let missing = Mutex::new(None);
    let work = |cpu: Cpu| {
        if let Err(error) = sys::cpu::pin_to(cpu) {
            missing.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            return Ok(Vec::new());
        }
        std::iter::from_fn(|| next(cpu)).map(each).collect::<Result<Vec<R>, Failure>>()
    };
    let outcomes: Vec<Result<Vec<R>, Failure>> = std::thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = cpus.iter().map(|cpu| threads::spawn(scope, move || work(*cpu))).collect();
        let ended = || Err(Failure::Fatal("a thread that prepares memory ended".into()));
        threads.into_iter().map(|thread| thread?.join().unwrap_or_else(|_| ended())).collect()
    });
    let mut done = Vec::new();
    for outcome in outcomes {
        done.extend(outcome?);
    }
    let left = jobs.into_inner().unwrap_or_else(PoisonError::into_inner);
    match missing.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) if !left.is_empty() => Err(error.into()),
        _ => Ok(done),
    }
}
