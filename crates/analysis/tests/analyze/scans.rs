//! Regions of a node: the view, what is slow, and the finding.

use crate::support::{Lab, MIB, bandwidths, block, metric, placed, switched};
use memgauge_model::{
    AgainRecord, AgainRule, ArenaPhysical, Avail, DelayRef, Event, EventKind, Finding, Holds, Isa, Job, Measure, Mix, Pages,
    Phase, Physical, Reason, Report, ScanPlan, Severity, SlowRegion, Thread, Window,
};

const RULE: AgainRule = AgainRule { k: 5.0, least: 0.03, most: 16, controls: 3, rounds: 6 };
const GIB: u64 = 1024 * MIB;

/// Ordinary regions read 100 GB/s, give or take a little by region and round.
fn usual(region: u32, round: u32) -> f64 {
    99e9 * (1.0 + 0.001 * f64::from((region * 7 + round * 3) % 10))
}

/// `regions` of 1 GiB, read by both CPUs for six rounds.
fn scan(regions: u32, rate: impl Fn(u32, u32) -> f64) -> Lab {
    let mut lab = Lab::new();
    let mut arenas = Vec::new();
    for region in 0..regions {
        let arena = lab.arena(0, Pages::Thp, Holds::Region { parts: 2, bytes: GIB });
        let job = |part| Job::Stream {
            arena,
            part: Some(part),
            mix: Mix::Read,
            isa: Isa::Avx2,
            block_lines: None,
            delay: DelayRef::Fixed(0),
            manner: memgauge_model::Manner::default(),
        };
        let threads = (0..2).map(|cpu| Thread { cpu, job: job(cpu) }).collect();
        let point = lab.point(Measure::Scan { node: 0, region, mix: Mix::Read }, threads);
        lab.measure(point, 6, |round| bandwidths(&[rate(region, round); 3]));
        for block in &mut lab.record.run.points[point].rounds {
            block.placements = vec![placed(arena, Pages::Thp, "thp", 1000)];
        }
        arenas.push(arena);
    }
    let points = (0..regions as usize).collect();
    lab.record.plan.phases.push(Phase { arenas: arenas.clone(), points, held: Some(RULE), ..Phase::default() });
    lab.record.plan.scans.push(ScanPlan {
        node: 0,
        phase: 0,
        region_bytes: GIB,
        arenas,
        available_bytes: 8 << 30,
        memory_bytes: 8 << 30,
        cache_bytes: Some(32 * MIB),
    });
    lab
}

/// What the engine would have found: these points below the fence, and again at these rates beside `controls`.
fn found(lab: &mut Lab, slow: &[usize], controls: &[usize], again: impl Fn(usize, u32) -> Vec<Window>) {
    for &point in slow.iter().chain(controls) {
        lab.record.run.points[point].again = (0..6).map(|round| block(round, again(point, round))).collect();
    }
    lab.record.run.again.push(AgainRecord {
        phase: 0,
        mix: Mix::Read,
        pages: Pages::Thp,
        values: lab.record.plan.scans[0].arenas.len() as u32,
        median: Some(99.4e9),
        fence: Some(96.4e9),
        slow: slow.to_vec(),
        measured: slow.len() as u32,
        controls: controls.to_vec(),
    });
}

/// Region 3 of 8 reads `first` at first and `again` later.
fn one_slow(first: f64, again: f64) -> Lab {
    let mut lab = scan(8, |region, round| if region == 3 { first } else { usual(region, round) });
    found(&mut lab, &[3], &[1, 5, 6], |point, round| {
        bandwidths(&[if point == 3 { again * (1.0 + 0.001 * f64::from(round)) } else { usual(point as u32, round) }; 3])
    });
    lab
}

fn finding(report: &Report) -> Option<&Finding> {
    let finding = report.findings.iter().find(|finding| finding.id == "slow_regions")?;
    assert!(finding.evidence.iter().all(|metric| *metric < report.metrics.len()), "{finding:?}");
    Some(finding)
}

fn only_slow(report: &Report) -> &SlowRegion {
    let [slow] = &report.scans[0].slow[..] else { panic!("{:?}", report.scans[0].slow) };
    slow
}

#[test]
fn a_scan_is_a_view_of_its_regions() {
    let report = scan(8, usual).report();
    let [scan] = &report.scans[..] else { panic!("{:?}", report.scans) };
    assert_eq!((scan.node, scan.mix.as_str(), scan.region_bytes, scan.scanned_bytes), (0, "read", GIB, 8 * GIB));
    for (region, id) in scan.regions.iter().enumerate() {
        let metric = &report.metrics[id.unwrap()];
        assert_eq!((metric.name.as_str(), metric.unit.as_str(), metric.samples), ("scan_bandwidth", "B/s", 6));
        assert!(metric.is(&[("region", &region.to_string()), ("node", "0"), ("bytes", &GIB.to_string()), ("threads", "2")]));
        assert!(metric.ci95.is_some() && metric.placement.is_some());
    }
    let value = |id: Option<usize>| report.metrics[id.unwrap()].value;
    assert!(value(scan.slowest) < value(scan.median) && value(scan.median) < value(scan.fastest));
    let median = metric(&report, "scan_median_bandwidth", &[("mix", "read"), ("node", "0")]);
    assert!(!median.labels.contains_key("region") && median.ci95.is_some());
    assert_eq!(scan.histogram.iter().map(|bin| bin.regions).sum::<u32>(), 8);
    assert_eq!(scan.pages.iter().map(|(kind, regions)| (kind.as_str(), *regions)).collect::<Vec<_>>(), [("thp", 8)]);
    assert!(scan.slow.is_empty() && finding(&report).is_none());
    assert!(!report.metrics.iter().any(|metric| metric.name.ends_with("_dram")), "all regions alike: it tells nothing");
}

#[test]
fn a_region_that_stays_slow_is_found() {
    let mut lab = one_slow(80e9, 81e9);
    let physical = Physical { ranges: vec![[4 * GIB, 5 * GIB]], ..Physical::default() };
    lab.record.run.physical.push(ArenaPhysical { arena: 3, physical: Avail::Known(physical.clone()) });
    let report = lab.report();
    let slow = only_slow(&report);
    assert_eq!((slow.region, slow.stayed, slow.pages.as_str()), (3, Some(true), "thp"));
    assert_eq!(slow.physical, Avail::Known(physical));
    let value = |id: Option<usize>| report.metrics[id.unwrap()].value;
    assert_eq!(value(slow.first), 80e9);
    assert!((value(slow.again) / 81.2e9 - 1.0).abs() < 0.01 && (value(slow.controls) / 99.4e9 - 1.0).abs() < 0.01);
    assert!((value(slow.ratio) - 0.816).abs() < 0.01);
    assert_eq!(report.metrics[slow.controls.unwrap()].remarks, ["regions 1, 5, 6"]);
    let finding = finding(&report).expect("a fifth less, twice");
    assert_eq!(finding.severity, Severity::Critical, "an eighth of all");
    assert!(finding.text.starts_with("1 GiB of the 8 GiB scanned on node 0 (12 %) stay slow"), "{}", finding.text);
    assert!(finding.text.contains("region 3 has 18 % less") && finding.text.contains("(81.2 against 99."), "{}", finding.text);
    assert_eq!(finding.evidence.len(), 4);
    let fence = &report.scans[0].fences[0];
    assert_eq!((fence.regions, fence.fence, fence.rule), (8, Some(96.4e9), RULE));
}

#[test]
fn a_region_that_comes_back_to_the_others_is_none() {
    let report = one_slow(90e9, 99e9).report();
    assert_eq!(only_slow(&report).stayed, Some(false));
    assert!(finding(&report).is_none());
    // Everything was slow the second time: that is no region's doing.
    let mut lab = scan(8, |region, round| if region == 3 { 80e9 } else { usual(region, round) });
    found(&mut lab, &[3], &[1, 5, 6], |_, round| bandwidths(&[80e9 + 1e8 * f64::from(round); 3]));
    let report = lab.report();
    assert_eq!(only_slow(&report).stayed, Some(false));
    assert!(finding(&report).is_none());
}

#[test]
fn what_the_figures_leave_open_is_left_open() {
    // Sometimes slow, sometimes not.
    let mut lab = scan(8, |region, round| if region == 3 { 80e9 } else { usual(region, round) });
    found(&mut lab, &[3], &[1, 5, 6], |point, round| {
        bandwidths(&[if point == 3 { 85e9 + 3e9 * f64::from(round) } else { usual(point as u32, round) }; 3])
    });
    // Too few rounds for an interval; disturbed windows; no controls.
    let mut few = one_slow(80e9, 81e9);
    few.record.run.points[3].again.truncate(4);
    let mut disturbed = one_slow(80e9, 81e9);
    for block in &mut disturbed.record.run.points[3].again {
        block.windows.push(switched(block.windows[0].clone()));
    }
    let mut alone = one_slow(80e9, 81e9);
    alone.record.run.again[0].controls.clear();
    for (why, lab) in [("unsteady", lab), ("few", few), ("disturbed", disturbed), ("alone", alone)] {
        let report = lab.report();
        let slow = only_slow(&report);
        assert!(slow.first.is_some() && slow.again.is_some(), "{why}: {slow:?}");
        assert_eq!(slow.stayed, None, "{why}");
        assert!(finding(&report).is_none(), "{why}");
    }
}

#[test]
fn what_was_not_measured_again_says_nothing() {
    let mut lab = one_slow(80e9, 81e9);
    lab.record.run.points.iter_mut().for_each(|point| point.again.clear());
    let report = lab.report();
    let slow = only_slow(&report);
    assert_eq!((slow.again, slow.controls, slow.ratio, slow.stayed), (None, None, None, None));
    assert!(matches!(&slow.physical, Avail::Unavailable { unavailable: Reason::OutOfTime, .. }));
    assert!(finding(&report).is_none());
}

#[test]
fn small_pages_among_huge_ones_are_told_as_such() {
    let mut lab = one_slow(80e9, 81e9);
    for block in &mut lab.record.run.points[3].rounds {
        block.placements = vec![placed(3, Pages::Thp, "mixed 40 %", 1000)];
    }
    let report = lab.report();
    // Which pages a region got is no fault of a scan that took what there was.
    assert!(report.status.reasons.is_empty(), "{:?}", report.status);
    assert_eq!(report.scans[0].pages.get("mixed"), Some(&1));
    let finding = finding(&report).expect("slow all the same");
    assert_eq!(finding.severity, Severity::Info);
    assert!(finding.text.contains("their pages are mixed, most regions' thp"), "{}", finding.text);
    // Where they were asked for, it is one.
    lab.record.plan.request.pages = Some(Pages::Thp);
    assert!(lab.report().status.reasons.iter().any(|reason| reason.contains("asked thp, got mixed 40 %")));
}

#[test]
fn a_region_that_is_missing_leaves_the_others() {
    let mut lab = scan(8, usual);
    lab.record.run.points[2].rounds.clear();
    let what = EventKind::PointFailed { point: 2, reason: Reason::NotPresent, detail: "cannot map it".into() };
    lab.record.run.events.push(Event { at_ns: 0, what });
    let report = lab.report();
    let scan = &report.scans[0];
    assert_eq!((scan.regions[2], scan.regions.iter().flatten().count(), scan.scanned_bytes), (None, 7, 7 * GIB));
    assert!(report.unavailable.iter().any(|gap| gap.name == "scan_bandwidth" && gap.labels["region"] == "2"));
}

#[test]
fn regions_are_of_one_placement_class() {
    // The host had the CPUs apart in half of the rounds; region 3 saw one round more of those.
    let mut lab = scan(8, |_, _| 1.0);
    for point in 0..8 {
        lab.record.plan.points[point].class_pair = Some((0, 1));
        for block in &mut lab.record.run.points[point].rounds {
            let far = block.round < if point == 3 { 4 } else { 2 };
            (block.class_before_ns, block.class_after_ns) =
                if far { (Some(180.0), Some(180.0)) } else { (Some(40.0), Some(40.0)) };
            block.windows = bandwidths(&[if far { 180e9 } else { 90e9 }; 3]);
        }
    }
    let report = lab.report();
    for region in 0..8 {
        let metric = metric(&report, "scan_bandwidth", &[("region", &region.to_string())]);
        assert_eq!((metric.labels["class"].as_str(), metric.value), ("near", 90e9), "region {region}");
    }
}
