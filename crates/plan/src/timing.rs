//! Rounds, windows and how long each point's windows are.

use crate::checks::value;
use crate::quota;
use memgauge_model::{DisturbanceLimits, Refusal, Request, RoundRule, What, WindowRule};

const MS: u64 = 1_000_000;
/// The shortest window.
pub(crate) const WINDOW_NS: u64 = 10 * MS;
/// One ping-pong burst that tells the placement class.
pub(crate) const CLASS_NS: u64 = 2 * MS;
/// The reference chases beside a block: one, or two where blocks are long.
pub(crate) const REFERENCE_NS: u64 = 4 * MS;
/// Rounds after which the precision may be looked at; more looks would spoil the interval's coverage.
const LOOKS: [u32; 4] = [6, 9, 13, 19];
/// Fewest rounds that show any spread.
const FEWEST: u64 = 2;
/// Wanted where nobody says otherwise.
const PRECISION: f64 = 0.01;
/// Windows of a point in one round of the default run.
const DEFAULT_RUN_NS: u64 = 60 * MS;
/// The same for a transfer between cores, whose passes are short.
const DEFAULT_RUN_C2C_NS: u64 = 20 * MS;

/// Windows of each of a sweep's hundreds of points in one round.
const SWEEP_NS: u64 = 20 * MS;
/// The same of a scan's regions.
const SCAN_NS: u64 = 30 * MS;
/// Blocks of a scan that nobody gave a time: two and a half minutes. Rounds are fewer where there are many regions, not below
/// those that show a spread.
const SCAN_BLOCKS: u64 = 2400;
const SCAN_ROUNDS: u64 = 3;

/// How long everything takes.
pub(crate) struct Timing {
    /// When rounds end; `whole_ns` is settled later.
    pub rounds: RoundRule,
    /// How windows are cut.
    pub windows: WindowRule,
    /// Windows of a point and round, ns.
    pub point_ns: u64,
    /// The same for a transfer between cores.
    pub c2c_ns: u64,
    /// Was the time the user's wish?
    pub asked: bool,
}

impl Timing {
    pub fn new(request: &Request) -> Result<Self, Refusal> {
        let whole_run = request.what == What::All;
        // Of many figures, precision is reported and not promised.
        let reported = matches!(request.what, What::All | What::Sweep | What::Scan) || request.all_pairs || request.per_cpu;
        let looks: &[u32] = if reported && request.precision.is_none() { &LOOKS[..1] } else { &LOOKS };
        let default_ns = match request.what {
            What::All => DEFAULT_RUN_NS * u64::from(looks.last().copied().unwrap_or(1)),
            What::Sweep => SWEEP_NS * u64::from(looks.last().copied().unwrap_or(1)),
            What::Scan => SCAN_NS * u64::from(looks.last().copied().unwrap_or(1)),
            // So many pairs that each gets its passes, and little more.
            What::C2c if request.all_pairs => WINDOW_NS * u64::from(looks.last().copied().unwrap_or(1)),
            // A row for each CPU, of which there are many.
            What::MatrixLatency if request.per_cpu => SCAN_NS * u64::from(looks.last().copied().unwrap_or(1)),
            What::Idle => 2000 * MS,
            What::Peak | What::Max => 1000 * MS,
            What::MatrixLatency | What::MatrixBandwidth | What::Loaded | What::C2c => 500 * MS,
        };
        let asked_ns = request.time_ns.or(quota::time_ns(request));
        let (looks, point_ns) = share(request, looks, asked_ns.unwrap_or(default_ns))?;
        let c2c_ns = if whole_run && request.time_ns.is_none() { DEFAULT_RUN_C2C_NS } else { point_ns };
        let precision = if reported { request.precision } else { Some(request.precision.unwrap_or(PRECISION)) };
        let short = whole_run || point_ns < 50 * MS;
        let windows = WindowRule {
            min_ns: WINDOW_NS,
            min_windows: 1,
            // A sweep's threads have gone through their working set before they start.
            warmup_min_ns: if request.what == What::Sweep {
                10 * MS
            } else if short {
                20 * MS
            } else {
                50 * MS
            },
            warmup_max_ns: (point_ns * 3 / 10).max(50 * MS),
            hops_per_stamp: 200,
            limits: DisturbanceLimits::default(),
        };
        let rounds = RoundRule { looks, precision, whole_ns: None };
        Ok(Self { rounds, windows, point_ns, c2c_ns, asked: asked_ns.is_some() })
    }

    /// Rounds of a scan with so many points; as asked for, where time or precision were.
    pub fn rounds_of_scan(&self, points: usize) -> RoundRule {
        let mut rounds = self.rounds.clone();
        if let (false, None, [looks]) = (self.asked, rounds.precision, &mut rounds.looks[..]) {
            let fitting = (SCAN_BLOCKS / (points as u64).max(1)).max(SCAN_ROUNDS);
            *looks = (*looks).min(u32::try_from(fitting).unwrap_or(u32::MAX));
        }
        rounds
    }
}

/// Shares a point's time among rounds so that even the last look keeps it; where that leaves less than a window a round,
/// there are fewer rounds.
fn share(request: &Request, looks: &[u32], time_ns: u64) -> Result<(Vec<u32>, u64), Refusal> {
    let possible = u32::try_from(time_ns / WINDOW_NS).unwrap_or(u32::MAX);
    if u64::from(possible) < FEWEST {
        let typed = value(request, "--time", format!("{}ms", time_ns / MS));
        return Err(Refusal::new("--time", typed, "less than two rounds of one 10 ms window", "use 20ms or more"));
    }
    let fitting: Vec<u32> = looks.iter().copied().filter(|look| *look <= possible).collect();
    let looks = if fitting.is_empty() { vec![possible] } else { fitting };
    let last = looks.last().copied().unwrap_or(1);
    Ok((looks, time_ns / u64::from(last)))
}
