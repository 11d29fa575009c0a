//! Text for people. One small file a section; which sections a command has stands in [`body`].

mod banner;
mod c2c;
mod counters;
mod figures;
mod heat;
mod histogram;
mod idle;
mod imported;
mod loaded;
mod map;
mod matrix;
mod page;
mod peak;
mod scan;
mod summary;
mod sweep;
mod verdict;

pub use page::{count, machine_line};

use crate::style::Style;
use memgauge_model::{Report, What};
use page::Page;

/// The whole text.
pub fn report(report: &Report, style: &Style) -> String {
    let mut page = Page::new(report, style);
    banner::first(&mut page);
    body(&mut page);
    verdict::last(&mut page);
    page.finish()
}

/// The sections of each command. What no section shows follows under "Also", so that no figure is left out in silence.
fn body(page: &mut Page) {
    if page.report.plan.points.is_empty() {
        return imported::section(page);
    }
    match page.report.plan.request.what {
        What::All => summary::section(page),
        What::Idle => idle::section(page),
        What::Peak => peak::peak(page),
        What::Max => peak::max(page),
        What::MatrixLatency | What::MatrixBandwidth => matrix::section(page),
        What::Loaded => loaded::section(page),
        What::C2c => c2c::section(page),
        What::Sweep => sweep::section(page),
        What::Scan => scan::section(page),
    }
    if page.report.plan.request.what != What::All {
        figures::rest(page);
    }
    counters::line(page);
}

#[cfg(test)]
mod tests {
    use crate::{Format, Style, render, sample};
    use memgauge_model::{Finding, Report, Severity, State, What};

    fn plain(report: &Report) -> String {
        render(report, Format::Text, &Style::plain())
    }

    #[test]
    fn the_default_run() {
        insta::assert_snapshot!(plain(&sample::all()), @r"
        memgauge 0.1.0 · AMD EPYC (2 CPUs, 1 node, KVM guest) · 24 GiB · THP madvise · prefetcher state unknown
        Idle latency     137.4 ns ±1.4  window-random, THP, CPU 0 → node 0
                         full-random THP: 156.7 ns ±1.6 · full-random 4 KiB pages: 168.0 ns (163.0…171.0)
                         TLB cost 11.3 ns ±0.1
        Peak bandwidth   84.1 GB/s ±0.8 read · 86.3 GB/s ±0.9 write-nt · 77.0 GB/s ±0.8 copy-nt  2 threads, class far
                         44.0 GB/s ±0.4 read · 45.0 GB/s ±0.5 write-nt · 40.0 GB/s ±0.4 copy-nt  1 thread
        Under load       137.0 ns, flat to 30.0 GB/s · not saturated: reached 43.0 GB/s at 1.39 × idle
                         ▁▁▂▄  read by 1 load thread

        Latency matrix   window-random
          ns              to node 0        to node 2
          CPUs of node 0      137.5  ±1.4          –

        Core to core     node 0 → node 0: 22.0 ns ±0.2 HITM (chase) · 41.0 ns ±0.4 cas (pingpong)

        Verdict          accepted · 1 note · 1 figure not to be had
        Notes            the host moved the CPUs twice
                         (a…b) is the lowest and the highest value, no interval: 3 rounds are too few for an interval
        Not to be had    Single accesses (full-random): the clock steps by 20 ns, more than 10 % of the median; none on this machine
        27.4 s · seed 7 · what the columns mean: docs/reading.md
        ");
    }

    #[test]
    fn idle() {
        insta::assert_snapshot!(plain(&sample::idle()), @r"
        memgauge 0.1.0 · AMD EPYC (2 CPUs, 1 node, KVM guest) · 24 GiB · THP madvise · prefetcher state unknown
        Idle latency     137.4 ns ±1.4  window-random, THP, CPU 0 → node 0
                         full-random THP: 156.7 ns ±1.6 · full-random 4 KiB pages: 168.0 ns (163.0…171.0)
                         TLB cost 11.3 ns ±0.1
        Memory           4096 of 4096 pages on node 0, thp, by move_pages

        Idle latency     CPU 0 · node 0 · 128 B stride · kept awake
          order          pages           ns  95 %           undisturbed   best  rounds  windows  left out  remarks
          window-random  THP          137.4  ±1.4                 136.7  134.7       6      240         2
          full-random    THP          156.7  ±1.6                 155.9  153.6       6      240         2
          full-random    4 KiB pages  168.0  (163.0…171.0)        167.2  164.6       6      240         2  not settled

        Clock quantum    10.0 ns ±0.1

        Verdict          accepted · 1 note · 1 figure not to be had
        Notes            the host moved the CPUs twice
                         (a…b) is the lowest and the highest value, no interval: 3 rounds are too few for an interval
        Not to be had    Single accesses (full-random): the clock steps by 20 ns, more than 10 % of the median; none on this machine
        27.4 s · seed 7 · what the columns mean: docs/reading.md
        ");
    }

    #[test]
    fn loaded() {
        let mut report = sample::all();
        report.plan.request.what = What::Loaded;
        insta::assert_snapshot!(plain(&report), @r"
        memgauge 0.1.0 · AMD EPYC (2 CPUs, 1 node, KVM guest) · 24 GiB · THP madvise · prefetcher state unknown

        Under load       read by 1 load thread · observer CPU 0 · memory of node 0
          delay, cycles  latency ns  95 %  bandwidth GB/s  95 %    rounds  windows  left out
                      0       190.0  ±1.9            43.0  ±0.4         6      240         2
                    100       150.0  ±1.5            30.0  ±0.3         6      240         2
                   1000       138.0  ±1.4            8.00  ±0.08        6      240         2
                  20000       137.0  ±1.4           0.400  ±0.004       6      240         2
        Curve            ▁▁▂▄  latency over bandwidth
        Flat             to 30.0 GB/s at no more than 1.10 × 137.0 ns
        Knee             not saturated: reached 43.0 GB/s at 1.39 × idle
        Latency          1.2 × idle at 38.0 GB/s · 1.5 × idle not reached · 2 × idle not reached

        TLB cost         11.3 ns ±0.1  full-random
        Clock quantum    10.0 ns ±0.1
        Latency matrix   137.5 ns ±1.4  window-random · from node 0 · to node 0

        Idle latency     CPU 0 · node 0 · 128 B stride · kept awake
          order          pages           ns  95 %           undisturbed   best  rounds  windows  left out  remarks
          window-random  THP          137.4  ±1.4                 136.7  134.7       6      240         2
          full-random    THP          156.7  ±1.6                 155.9  153.6       6      240         2
          full-random    4 KiB pages  168.0  (163.0…171.0)        167.2  164.6       6      240         2  not settled

        Peak bandwidth   THP · isa avx512
          mix       threads  class  GB/s  95 %  DRAM est. GB/s  undisturbed  best  rounds  windows  left out
          read      1               44.0  ±0.4            44.0         43.8  43.1       6      240         2
          read      2        far    84.1  ±0.8            84.1         83.7  82.4       6      240         2
          write-nt  1               45.0  ±0.5            45.0         44.8  44.1       6      240         2
          write-nt  2        far    86.3  ±0.9            86.3         85.9  84.6       6      240         2
          copy-nt   1               40.0  ±0.4            40.0         39.8  39.2       6      240         2
          copy-nt   2        far    77.0  ±0.8            77.0         76.6  75.5       6      240         2

        Core to core     from node 0 · to node 0 · home node 0
          kind  method      ns  95 %  undisturbed  best  rounds  windows  left out
          hitm  chase     22.0  ±0.2         21.9  21.6       6      240         2
          cas   pingpong  41.0  ±0.4         40.8  40.2       6      240         2

        Verdict          accepted · 1 note · 1 figure not to be had
        Notes            the host moved the CPUs twice
                         (a…b) is the lowest and the highest value, no interval: 3 rounds are too few for an interval
        Not to be had    Single accesses (full-random): the clock steps by 20 ns, more than 10 % of the median; none on this machine
        27.4 s · seed 7 · what the columns mean: docs/reading.md
        ");
    }

    #[test]
    fn a_rejected_result_is_marked_on_every_line() {
        let mut report = sample::all();
        report.status.state = State::Rejected;
        report.status.reasons = vec!["31 % of the windows were disturbed".into()];
        report.findings = vec![Finding { id: "x".into(), severity: Severity::Warning, text: "a\nb".into(), evidence: vec![0] }];
        let text = plain(&report);
        assert!(text.starts_with("! REJECTED"), "{text}");
        assert!(text.lines().all(|line| line.is_empty() || line.starts_with("! ")), "{text}");
        assert!(text.contains("warning: a?b"), "{text}");
    }

    #[test]
    fn a_simulated_result_is_marked_on_every_line_whatever_else_it_is() {
        let mut report = sample::all();
        report.simulated = true;
        for (state, mark) in [(State::Complete, "SIM "), (State::Partial, "~SIM "), (State::Rejected, "!SIM ")] {
            report.status.state = state;
            let text = plain(&report);
            assert!(text.contains("SIMULATED") && text.lines().all(|line| line.is_empty() || line.starts_with(mark)), "{text}");
        }
    }

    #[test]
    fn what_another_program_printed_is_marked_and_says_nothing_of_a_machine() {
        let mut report = sample::all();
        (report.status.state, report.status.reasons) = (State::Imported, vec!["imported: of old".into()]);
        (report.plan.points, report.machine.online_cpus) = Default::default();
        (report.metrics, report.matrices, report.findings) = (report.metrics.split_off(18), Vec::new(), Vec::new());
        report.curves.clear();
        report.metrics.truncate(3);
        for metric in &mut report.metrics {
            (metric.ci95, metric.range, metric.samples) = (None, Some([metric.value; 2]), 1);
            (metric.undisturbed, metric.best) = (None, None);
            metric.range_reason = Some("imported: one figure, no interval".into());
        }
        insta::assert_snapshot!(plain(&report), @r"
        < IMPORTED: as another program printed it; every line begins with <
        <   imported: of old
        < memgauge 0.1.0 · machine unknown

        < Core to core     41.0 ns (single)  from node 0 · to node 0 · cas · pingpong · home node 0
        < Latency matrix   137.5 ns (single)  window-random · from node 0 · to node 0
        < Loaded latency   137.0 ns (single)  read · 1 thread · delay 20000

        < Verdict          imported · 1 reason at the top · 1 note · 1 figure not to be had
        < Notes            the host moved the CPUs twice
        < Not to be had    Single accesses (full-random): the clock steps by 20 ns, more than 10 % of the median; none on this machine
        < what the columns mean: docs/reading.md
        ");
    }

    #[test]
    fn colour_only_adds_escapes() {
        let report = sample::all();
        let coloured = render(&report, Format::Text, &Style::colour());
        let mut bare = String::new();
        let mut rest = coloured.as_str();
        while let Some((before, after)) = rest.split_once('\u{1b}') {
            bare += before;
            rest = after.split_once('m').unwrap().1;
        }
        assert_eq!(bare + rest, plain(&report));
        assert!(coloured.len() > plain(&report).len());
    }

    #[test]
    fn what_is_missing_for_one_reason_is_told_once_and_counted() {
        let mut report = sample::idle();
        let again = report.unavailable[0].clone();
        report.unavailable.push(again);
        let text = plain(&report);
        assert!(text.contains("Single accesses (2 figures, the first: full-random): the clock steps by 20 ns"), "{text}");
        assert!(text.contains("2 figures not to be had"), "{text}");
    }

    #[test]
    fn undisturbed_values_are_told_where_they_differ_and_lines_stay_narrow() {
        let mut report = sample::all();
        for metric in &mut report.metrics {
            metric.undisturbed = Some(metric.value * 0.9);
        }
        let text = plain(&report);
        for line in [
            "\n                 undisturbed 123.7 ns · full-random THP",
            "\n                 undisturbed 75.7 GB/s read · 77.7 GB/s write-nt",
            "\n                 undisturbed 19.8 ns HITM · 36.9 ns cas",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
        let figures = text.lines().take_while(|line| !line.starts_with("Verdict"));
        assert!(figures.map(|line| line.chars().count()).all(|width| width <= 120), "{text}");
        assert!(!plain(&sample::all()).contains("undisturbed "), "the same value twice tells nothing");
    }

    #[test]
    fn remarks_of_a_loaded_point_stand_once() {
        let mut report = sample::all();
        report.plan.request.what = What::Loaded;
        for metric in report.metrics.iter_mut().filter(|metric| metric.name.starts_with("loaded_")) {
            metric.remarks = vec!["not settled".into(), "asked thp, got base".into()];
        }
        let text = plain(&report);
        assert_eq!(text.matches("asked thp, got base").count(), report.curves[0].points.len(), "{text}");
    }

    #[test]
    fn counters_are_a_line_where_there_are_any_and_none_where_not() {
        let mut report = sample::idle();
        report.metrics.push(sample::metric("counter_dtlb_misses", "1/access", 0.02, &[("of", "idle_latency")]));
        report.metrics.push(sample::metric("counter_llc_misses", "1/access", 0.98, &[("of", "idle_latency")]));
        for ratio in [1.04, 0.97] {
            report.metrics.push(sample::metric("counter_dram_ratio", "ratio", ratio, &[("of", "peak_bandwidth")]));
        }
        let mut gap = report.unavailable[0].clone();
        gap.name = "counter_dram_read".into();
        let text = plain(&report);
        let told: Vec<&str> =
            text.lines().skip_while(|line| !line.starts_with("Counters")).take_while(|l| !l.is_empty()).collect();
        insta::assert_snapshot!(told.join("\n"), @r"
        Counters         DRAM bytes counted are 0.97…1.04 of those estimated (2 figures)
                         Idle latency: 0.020 dTLB misses and 0.980 LLC misses an access
                         beside each figure: --format json or csv
        ");
        assert!(!text.contains("counter_"), "{text}");
        report.metrics = sample::idle().metrics;
        report.unavailable.push(gap);
        assert_eq!(plain(&report), plain(&sample::idle()), "not worth a line a run on every guest: the document says why");
    }

    #[test]
    fn no_figure_is_left_out() {
        let mut report = sample::idle();
        report.metrics.push(sample::metric("something_new", "ns", 5.25, &[("colour", "red")]));
        let text = plain(&report);
        assert!(text.contains("something_new") && text.contains("5.25 ns ±0.05  colour red"), "{text}");
    }

    #[test]
    fn the_probe_says_more_of_prefetchers_than_their_registers() {
        use memgauge_model::{PrefetchState, PrefetchVerdict, Prefetching, ProbeVerdict};
        let line = |control: PrefetchState, streaming, spatial| {
            let verdict = |verdict| ProbeVerdict { verdict, metric: None };
            let mut report = sample::idle();
            report.prefetch = Some(PrefetchVerdict { control, streaming: verdict(streaming), spatial: verdict(spatial) });
            let text = plain(&report);
            text.lines().next().and_then(|line| line.rsplit(" · ").next()).unwrap_or_default().to_owned()
        };
        let (left, off) = (PrefetchState::default, || PrefetchState::Off { changes: Vec::new() });
        let lines = [
            line(left(), Prefetching::On, Prefetching::On),
            line(left(), Prefetching::On, Prefetching::Unknown),
            line(left(), Prefetching::Unknown, Prefetching::Unknown),
            line(off(), Prefetching::Off, Prefetching::Off),
        ];
        insta::assert_snapshot!(lines.join("\n"), @r"
        prefetchers on by probe
        prefetchers: streaming on, spatial unknown by probe
        prefetcher state unknown
        prefetchers off while chasing, by probe
        ");
    }
}
