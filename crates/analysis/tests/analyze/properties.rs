use crate::support::{Lab, block, placed};
use memgauge_model::{Block, End, Measure, Mix, Order, Pages, Signs, Window};
use proptest::prelude::*;

/// Any window, sane or not.
fn window() -> impl Strategy<Value = Window> {
    let number = || prop_oneof![8 => 1.0..1e11, 1 => Just(0.0), 1 => Just(f64::NAN), 1 => Just(f64::INFINITY)];
    (0_u64..2000, number(), number(), number(), 0_u64..10, any::<bool>()).prop_map(
        |(hops, hop_ns, load, observer, switches, wrong)| {
            let signs = Signs { switches: switches.saturating_sub(8), wrong_cpu: wrong && switches == 0, ..Signs::default() };
            Window { ns: 1e7, hops, hop_ns, load_bytes_per_s: load, observer_bytes_per_s: observer, signs, threads: Vec::new() }
        },
    )
}

fn blocks() -> impl Strategy<Value = Vec<Block>> {
    let class = || prop::option::of(prop_oneof![Just(40.0), Just(180.0), Just(f64::NAN), 30.0..200.0]);
    let one =
        (prop::collection::vec(window(), 0..12), class(), class(), any::<(bool, bool)>(), prop::collection::vec(1.0..99.0, 0..9));
    prop::collection::vec(one, 0..9).prop_map(|all| {
        let block =
            |(round, (windows, before, after, (superseded, settled), passes)): (u32, (Vec<Window>, _, _, _, Vec<f64>))| Block {
                class_before_ns: before,
                class_after_ns: after,
                superseded: superseded && round % 3 == 0,
                settled,
                passes_ns: passes,
                placements: vec![placed(0, Pages::Thp, "mixed-97%", 1000)],
                ..block(round, windows)
            };
        (0..).zip(all).map(block).collect()
    })
}

/// A record with a point of every kind that takes windows.
fn lab() -> Lab {
    let mut lab = Lab::new();
    lab.idle(Pages::Thp, Order::FullRandom);
    lab.idle(Pages::Base, Order::FullRandom);
    for mix in [Mix::Read, Mix::Write, Mix::CopyNt] {
        lab.peak(&[0], mix);
        let both = lab.peak(&[0, 1], mix);
        lab.record.plan.points[both].class_pair = Some((0, 1));
    }
    let threads = lab.streams(&[0], Mix::WritePartial);
    lab.point(Measure::RfoProbe, threads);
    for to in [0, 1] {
        let thread = lab.chaser(to, Pages::Thp, Order::WindowRandom);
        lab.point(Measure::MatrixLatency { from: 0, to }, vec![thread]);
    }
    lab.curve(&[0, 100, 500, 1000, 2000, 5000, 9000]);
    lab
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// `Lab::report` checks what holds for every document: unique names, lo ≤ value ≤ hi, an interval or a range with its
    /// reason, no gap beside its figure, nothing that is no number.
    #[test]
    fn any_record_gives_a_sane_document(
        all in prop::collection::vec(blocks(), 18), end in prop_oneof![Just(End::Complete), Just(End::Interrupted { signal: "SIGTERM".into() })],
    ) {
        let mut lab = lab();
        lab.record.run.end = end;
        prop_assert_eq!(lab.record.run.points.len(), 18);
        for (point, rounds) in lab.record.run.points.iter_mut().zip(all) {
            point.rounds = rounds;
        }
        lab.report();
    }
}
