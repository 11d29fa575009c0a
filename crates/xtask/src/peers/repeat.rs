//! How well runs repeat: twenty of `memgauge idle` as a user runs it, each beside one of multichase.

use anyhow::Result;

use crate::peers::idle::{STRIDE, WINDOW};
use crate::peers::multichase::{Chase, Multichase};
use crate::peers::ours::USUAL;
use crate::peers::part::Part;
use crate::peers::quiet::Watch;
use crate::peers::ratios::{ENOUGH, Verdict};
use crate::peers::{Body, Section, Setting, table};
use crate::say;

/// Our standard deviation over the peer's, at most.
const ALLOWED: f64 = 1.5;

/// The runs, or what is missing.
pub fn measure(setting: &Setting<'_>) -> Result<Result<Section, String>> {
    let peer = match Multichase::find() {
        Ok(peer) => peer,
        Err(absent) => return Ok(Err(absent)),
    };
    if let Some(refused) = setting.machine.thp_refused() {
        return Ok(Err(refused));
    }
    let bytes = setting.machine.chase_buffer(setting.buffer);
    let chase = Chase { cpu: setting.machine.cpu, bytes, stride: STRIDE, window: WINDOW, huge: true };
    let (mut ours, mut theirs, mut void) = (Vec::new(), Vec::new(), 0_usize);
    say::stage(&format!("repeat: {} runs", setting.pairs));
    for _ in 0..setting.tries() {
        if ours.len() >= setting.pairs || !setting.in_time() {
            break;
        }
        let watch = Watch::start();
        let figure = setting.ours.latency(&chase, "window-random", USUAL)?;
        let latency = peer.run(&chase)?;
        match (figure, watch.disturbance()) {
            (Ok(figure), None) => {
                say::stage(&format!("  {}: {:.2} ns, peer {latency:.2} ns", ours.len() + 1, figure.value));
                ours.push(figure.value);
                theirs.push(latency);
            }
            (Err(why), _) | (_, Some(why)) => {
                say::stage(&format!("  void: {why}"));
                void += 1;
            }
        }
    }
    let about = format!(
        "{} idle against {}, in turns: window-random, thp pages, CPU {}, {} MiB, {STRIDE} B stride; ours at its usual effort. The standard \
         deviation of ours must be at most {ALLOWED} × the peer's",
        setting.ours.version()?,
        peer.version(),
        chase.cpu,
        bytes >> 20
    );
    let (text, verdict) = judged(&ours, &theirs, void);
    Ok(Ok(Section { part: Part::Repeat, about, body: Body::Counted { text, verdict } }))
}

fn judged(ours: &[f64], theirs: &[f64], void: usize) -> (String, Verdict) {
    let (a, b) = (deviation(ours), deviation(theirs));
    let verdict = match a <= ALLOWED * b {
        _ if ours.len() < ENOUGH => Verdict::TooFewPairs,
        true => Verdict::Holds,
        false => Verdict::Fails,
    };
    let word = match verdict {
        Verdict::Holds => "repeats",
        Verdict::Fails => "SPREADS more",
        Verdict::TooFewPairs => "too few runs",
    };
    let head = ["runs", "not counted", "ours, mean", "sd", "peer, mean", "sd", "sd / sd", "verdict"];
    let row = [
        ours.len().to_string(),
        void.to_string(),
        nanoseconds(mean(ours)),
        nanoseconds(a),
        nanoseconds(mean(theirs)),
        nanoseconds(b),
        if (a / b).is_finite() { format!("{:.2}", a / b) } else { "–".to_owned() },
        word.to_owned(),
    ];
    (table::aligned(&head.map(str::to_owned), &[row]), verdict)
}

/// A dash where there are too few runs for one.
fn nanoseconds(value: f64) -> String {
    if value.is_finite() { format!("{value:.2} ns") } else { "–".to_owned() }
}

#[expect(clippy::cast_precision_loss, reason = "a count of runs")]
fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Of a sample; NaN of fewer than two.
#[expect(clippy::cast_precision_loss, reason = "a count of runs")]
fn deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    (squares / (values.len() as f64 - 1.0)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_may_spread_half_as_much_again() {
        let at = |step: f64| -> Vec<f64> { (0..9).map(|index| 100.0 + step * f64::from(index)).collect() };
        assert!((deviation(&[1.0, 2.0, 3.0]) - 1.0).abs() < 1e-12);
        assert_eq!(judged(&at(1.4), &at(1.0), 0).1, Verdict::Holds);
        assert_eq!(judged(&at(1.6), &at(1.0), 0).1, Verdict::Fails);
        assert!(judged(&[], &[], 2).0.contains("| – "));
        assert_eq!(judged(&at(1.0)[..8], &at(1.0)[..8], 0).1, Verdict::TooFewPairs);
    }
}
