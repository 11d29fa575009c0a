//! What was noticed while a thread did work that is not cut into windows: one window for all of it.

use super::timing::ticks_to_ns;
use memgauge_kernels::Clock;
use memgauge_model::{Cpu, Signs, Window};
use memgauge_sys::{cpu::current_cpu, sched::ThreadStats};

/// Does `work` on the calling thread, which is pinned to `cpu`.
pub fn watched<R>(clock: &Clock, hz: f64, cpu: Cpu, work: impl FnOnce() -> R) -> (R, Window) {
    let kernel = ThreadStats::open();
    let before = kernel.read();
    let begin = clock.start();
    let result = work();
    let ns = ticks_to_ns(clock.stop().wrapping_sub(begin), hz);
    let after = kernel.read();
    let signs = Signs {
        switches: after.invol_switches.saturating_sub(before.invol_switches),
        wait_ns: after.wait_ns.unwrap_or(0).saturating_sub(before.wait_ns.unwrap_or(0)),
        waits_told: after.wait_ns.is_some(),
        major_faults: after.major_faults.saturating_sub(before.major_faults),
        minor_faults: after.minor_faults.saturating_sub(before.minor_faults),
        wrong_cpu: current_cpu().is_some_and(|on| on != cpu),
        ..Signs::default()
    };
    (result, Window { ns, signs, ..Window::default() })
}

/// The worst of two threads that worked together.
pub fn worst(a: Window, b: Window) -> Window {
    let (x, y) = (a.signs, b.signs);
    let signs = Signs {
        switches: x.switches.max(y.switches),
        wait_ns: x.wait_ns.max(y.wait_ns),
        waits_told: x.waits_told && y.waits_told,
        major_faults: x.major_faults.max(y.major_faults),
        minor_faults: x.minor_faults.max(y.minor_faults),
        wrong_cpu: x.wrong_cpu || y.wrong_cpu,
        ..x
    };
    Window { ns: a.ns.max(b.ns), signs, ..Window::default() }
}
