//! Somebody takes the observer's CPU.

use crate::scene::{LONG, WARM, harmed, observer_alone, two_cpus};
use crate::threads::{outrank_all, pinned_to};
use memgauge_model::{Disturbance, Pages};
use std::time::Instant;

#[test]
fn real_who_takes_the_observers_cpu_is_seen() {
    let Some(cpus) = two_cpus() else { return };
    let done = harmed(observer_alone(cpus, Pages::Base), || {
        if pinned_to(cpus[0]).is_none() {
            return;
        }
        std::thread::sleep(WARM);
        // A thread of its own, so that rank and place end with it.
        let busy = std::thread::spawn(move || {
            memgauge_sys::cpu::pin_to(cpus[0]).unwrap();
            // Without the rights for it the two take turns: that is seen, too.
            outrank_all();
            let begun = Instant::now();
            while begun.elapsed() < LONG {
                std::hint::spin_loop();
            }
        });
        busy.join().unwrap();
    });
    let waited: u64 = done.windows().map(|window| window.signs.wait_ns).sum();
    if done.windows().any(|window| window.signs.waits_told) {
        assert!(waited > 50_000_000, "{waited} ns");
        done.is_rejected_for(Disturbance::Wait.text());
    }
    assert!(done.disturbances().contains(&Disturbance::Gaps));
}
