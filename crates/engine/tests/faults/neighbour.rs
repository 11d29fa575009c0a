//! A second process begins to use the memory.

use crate::part;
use crate::scene::{harmed, observer_alone, observer_and_load, two_cpus};
use memgauge_model::{Disturbance, Pages, Window};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// Should nobody end it.
const LONGEST: Duration = Duration::from_secs(60);

/// The other process: it waits until it is let go, and is killed at the end.
struct Neighbour(Child);

impl Neighbour {
    /// One that will stream through memory on this CPU. None in the process that has done it.
    fn ready(test: &str, cpu: u32) -> Option<Self> {
        let stream = || {
            memgauge_sys::cpu::pin_to(cpu).unwrap();
            let mut memory = vec![0; 256 << 20];
            let begun = Instant::now();
            while begun.elapsed() < LONGEST {
                memgauge_kernels::touch::fill(&mut memory);
            }
        };
        part::start(test, "kill -STOP $$;", stream).map(Self)
    }

    fn begin(&self) {
        let go_on = format!("kill -CONT {}", self.0.id());
        assert!(Command::new("sh").args(["-c", &go_on]).status().unwrap().success());
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn real_a_neighbour_on_a_loads_cpu_is_seen() {
    let Some(cpus) = two_cpus() else { return };
    let Some(neighbour) = Neighbour::ready("neighbour::real_a_neighbour_on_a_loads_cpu_is_seen", cpus[1]) else { return };
    let done = harmed(observer_and_load(cpus), || neighbour.begin());
    done.is_rejected_for(Disturbance::Wait.text());
}

/// It uses a CPU that the measurement does without, and no thread waits for it: where the memory has become slower for it, the
/// reference chase says so.
#[test]
fn real_a_neighbour_on_another_cpu_is_seen_where_it_slows_the_memory() {
    let Some(cpus) = two_cpus() else { return };
    let test = "neighbour::real_a_neighbour_on_another_cpu_is_seen_where_it_slows_the_memory";
    let Some(neighbour) = Neighbour::ready(test, cpus[1]) else { return };
    let mut plan = observer_alone(cpus, Pages::Base);
    plan.points[0].time_ns /= 3;
    plan.rounds.looks = vec![12];
    let mut blocks = 0;
    let done = harmed(plan, || {
        blocks += 1;
        if blocks == 7 {
            neighbour.begin();
        }
    });
    let latency = |rounds: std::ops::Range<u32>| {
        let blocks = done.blocks().filter(|block| rounds.contains(&block.round));
        let mut ns: Vec<f64> = blocks.flat_map(|block| &block.windows).filter_map(Window::latency_ns).collect();
        ns.sort_by(f64::total_cmp);
        ns[ns.len() / 2]
    };
    // Blocks may be measured again, so the neighbour comes in the seventh round at the latest.
    let slower = latency(7..12) / latency(0..3);
    // Where there is bandwidth enough for both it harms nobody.
    assert!(slower < 1.5 || done.disturbances().contains(&Disturbance::Neighbour), "{slower}: {:?}", done.report.status);
    let read = done.blocks().filter(|block| block.reference_before_ns.or(block.reference_after_ns).is_some()).count();
    assert!(read > 6, "{read} blocks have a reference beside them");
}
