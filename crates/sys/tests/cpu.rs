//! Pinning on the machine the tests run on.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use memgauge_sys::{Errno, cpu, cpu::CpuSet, cpu::PinError};

/// Affinity is the thread's own, so each test changes only its own.
fn on_a_thread(test: impl FnOnce() + Send + 'static) {
    std::thread::spawn(test).join().unwrap();
}

#[test]
fn a_pinned_thread_runs_where_it_was_put() {
    on_a_thread(|| {
        let allowed = cpu::affinity().unwrap();
        assert!(!allowed.is_empty());
        for cpu in allowed.iter() {
            let pinned = cpu::pin_to(cpu).unwrap();
            assert_eq!(pinned.cpu, cpu);
            assert_eq!(cpu::affinity().unwrap().as_slice(), [cpu]);
            assert_eq!(cpu::current().unwrap(), (cpu, pinned.node));
            assert_eq!(cpu::current_cpu(), Some(cpu));
            cpu::restore_affinity(&pinned.previous).unwrap();
            assert_eq!(cpu::affinity().unwrap(), allowed);
        }
    });
}

#[test]
fn affinity_is_what_proc_says() {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    let cpus: CpuSet = list
        .trim()
        .split(',')
        .flat_map(|range| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            first.parse::<u32>().unwrap()..=last.parse().unwrap()
        })
        .collect();
    assert_eq!(cpu::affinity().unwrap(), cpus);
}

#[test]
fn a_cpu_that_is_not_there_is_refused() {
    on_a_thread(|| {
        let before = cpu::affinity().unwrap();
        for cpu in [9_999, 70_000] {
            let errno = Errno(libc::EINVAL);
            assert_eq!(cpu::pin_to(cpu), Err(PinError::Refused { cpu, errno }));
        }
        assert_eq!(cpu::affinity().unwrap(), before);
        cpu::restore_affinity(&CpuSet::default()).unwrap_err();
    });
}
