//! Threads that share links and channels, each with so many lines in flight: what they get, by Little's law.

/// Threads that are alike.
#[derive(Debug, Clone, PartialEq)]
pub struct Flow {
    /// How many.
    pub threads: f64,
    /// Lines that each has in flight.
    pub lines: f64,
    /// Application bytes a second that each asks for at most; infinite where only the memory holds it up.
    pub pace: f64,
    /// What an application byte takes beside the memory, s.
    pub beside_s: f64,
    /// Lines of memory that an application byte waits for.
    pub waits_for: f64,
    /// A line out of memory that nothing else uses, s.
    pub idle_s: f64,
    /// Bytes that an application byte moves through each shared thing.
    pub moves: Vec<(usize, f64)>,
    /// In whose queues its lines wait, and which share of them.
    pub queues: Vec<(usize, f64)>,
}

/// A link one way, or a node's channels.
#[derive(Debug, Clone, PartialEq)]
pub struct Bottleneck {
    /// B/s.
    pub capacity: f64,
    /// Waiting time at half load, s.
    pub queue_s: f64,
}

/// Near full load waiting has no bound; nothing comes nearer.
const FULLEST: f64 = 0.999_999;
/// Rounds of settling, and when loads are settled.
const ROUNDS: usize = 500;
const SETTLED: f64 = 1e-10;

/// Application bytes a second of each thread of each flow, when queues and threads have settled with each other.
///
/// A thread's rate falls as its lines wait longer, and lines wait longer the more is asked of what they cross: ρ/(1 − ρ)
/// times the wait at half load. For one bottleneck at a time, the load at which both agree is found by halving; the round over all
/// is repeated until none moves.
pub fn settle(flows: &[Flow], bottlenecks: &[Bottleneck]) -> Vec<f64> {
    let mut loads = vec![0.0; bottlenecks.len()];
    let users: Vec<Vec<usize>> = (0..bottlenecks.len())
        .map(|at| (0..flows.len()).filter(|flow| flows[*flow].moves.iter().any(|(shared, _)| *shared == at)).collect())
        .collect();
    for _ in 0..ROUNDS {
        let mut moved: f64 = 0.0;
        for at in 0..bottlenecks.len() {
            let before = loads[at];
            loads[at] = agreed(at, flows, &users[at], bottlenecks, &mut loads);
            moved = moved.max((loads[at] - before).abs());
        }
        if moved < SETTLED {
            break;
        }
    }
    flows.iter().map(|flow| rate(flow, bottlenecks, &loads)).collect()
}

/// The load of one bottleneck at which what is asked of it is what it carries.
fn agreed(at: usize, flows: &[Flow], users: &[usize], bottlenecks: &[Bottleneck], loads: &mut [f64]) -> f64 {
    let mut asked = |load: f64| -> f64 {
        loads[at] = load;
        let bytes = |flow: &Flow| flow.moves.iter().filter(|(shared, _)| *shared == at).map(|(_, bytes)| bytes).sum::<f64>();
        users.iter().map(|user| &flows[*user]).map(|flow| flow.threads * rate(flow, bottlenecks, loads) * bytes(flow)).sum()
    };
    let (mut low, mut high) = (0.0, FULLEST);
    for _ in 0..50 {
        let middle = f64::midpoint(low, high);
        if asked(middle) > middle * bottlenecks[at].capacity { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

fn rate(flow: &Flow, bottlenecks: &[Bottleneck], loads: &[f64]) -> f64 {
    let wait = |(shared, share): &(usize, f64)| share * bottlenecks[*shared].queue_s * loads[*shared] / (1.0 - loads[*shared]);
    let latency = flow.idle_s + flow.queues.iter().map(wait).sum::<f64>();
    flow.pace.min(1.0 / (flow.beside_s + flow.waits_for * latency / flow.lines))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readers(threads: f64, lines: f64) -> Flow {
        Flow {
            threads,
            lines,
            pace: f64::INFINITY,
            beside_s: 0.0,
            waits_for: 1.0 / 64.0,
            idle_s: 100e-9,
            moves: vec![(0, 1.0)],
            queues: vec![(0, 1.0)],
        }
    }

    fn channel() -> [Bottleneck; 1] {
        [Bottleneck { capacity: 100e9, queue_s: 10e-9 }]
    }

    #[test]
    fn one_thread_has_what_its_lines_in_flight_allow() {
        let alone = settle(&[readers(1.0, 10.0)], &channel())[0];
        assert!((alone / 6.4e9 - 1.0).abs() < 0.01, "{alone}");
    }

    #[test]
    fn many_fill_the_channel_and_their_latency_is_what_littles_law_says() {
        let flows = [readers(64.0, 10.0), readers(1.0, 1.0)];
        let rates = settle(&flows, &channel());
        let whole = 64.0 * rates[0] + rates[1];
        assert!((0.9..1.0).contains(&(whole / 100e9)), "{whole}");
        let latency = 64.0 / rates[1];
        assert!((latency - 640.0 * 64.0 / rates[0] / 64.0).abs() / latency < 1e-6, "both kinds wait alike");
        let load = whole / 100e9;
        assert!((latency - (100e-9 + 10e-9 * load / (1.0 - load))).abs() < 1e-12, "{latency}");
    }

    #[test]
    fn a_pace_below_what_the_memory_gives_is_kept() {
        let paced = Flow { pace: 1e9, ..readers(8.0, 10.0) };
        assert_eq!(settle(&[paced], &channel()), [1e9]);
    }

    #[test]
    fn the_narrower_of_two_decides() {
        let mut through = readers(64.0, 10.0);
        through.moves.push((1, 1.0));
        through.queues.push((1, 1.0));
        let link = Bottleneck { capacity: 20e9, queue_s: 5e-9 };
        let whole = 64.0 * settle(&[through], &[channel()[0].clone(), link])[0];
        assert!((0.9..1.0).contains(&(whole / 20e9)), "{whole}");
    }
}
