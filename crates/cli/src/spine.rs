//! The one way through: request → machine → plan → record → report → bytes.

use crate::args::{self, About, Call, Command};
use crate::outputs::{self, Outputs};
use crate::progress::Line;
use crate::trouble::{Trouble, signal_code};
use crate::{documents, environment, exit, folder, import, prefetch, repeat, say, simulation};
use memgauge_engine::simulated::Simulated;
use memgauge_engine::{Backend, Hardware};
use memgauge_machine::Root;
use memgauge_model::{
    Command as Called, End, Event, EventKind, Machine, Plan, PrefetchState, Record, Refusal, Report, Run, State, Tool,
};
use memgauge_render::Format;
use memgauge_sys::lock::{HostLock, LockOutcome};
use memgauge_sys::signals;
use std::time::{Duration, Instant};

/// How long another run is waited for.
const WAIT: Duration = Duration::from_secs(60);

/// Does what was asked for and returns the exit code.
///
/// # Errors
///
/// [`Trouble`] where there is no result.
pub fn run(call: &Call) -> Result<u8, Trouble> {
    let here = call.root.is_none() && call.simulate.is_none();
    let measures = matches!(call.command, Command::Measure(_) | Command::Topology);
    if here && measures {
        prefetch::recover();
    }
    match call.command {
        Command::About(what) => about(what),
        Command::Topology => topology(call),
        Command::Import => import::run(call),
        Command::Repeat => repeat::run(call),
        Command::Measure(_) if call.dry_run => dry_run(call),
        Command::Measure(_) => finish(call),
    }
}

fn about(what: About) -> Result<u8, Trouble> {
    say::result(&args::about::text(what)).map_err(|error| Trouble::Failed(format!("stdout: {error}")))?;
    Ok(exit::DONE)
}

fn topology(call: &Call) -> Result<u8, Trouble> {
    let machine = machine(call)?;
    let text = memgauge_render::topology(&machine, call.format, &say::style()).unwrap_or_default();
    outputs::at_once(call, &text, || memgauge_render::json(&machine), "machine.json")?;
    Ok(exit::DONE)
}

fn dry_run(call: &Call) -> Result<u8, Trouble> {
    let machine = machine(call)?;
    let mut plan = memgauge_plan::build(&call.request, &machine)?;
    folder::look(&mut plan)?;
    let text = memgauge_render::plan(&plan, &machine, call.format, &say::style()).unwrap_or_default();
    outputs::at_once(call, &text, || memgauge_render::json(&plan), "plan.json")?;
    Ok(exit::DONE)
}

/// What came out, and where it goes.
pub struct Obtained {
    /// All that was measured.
    pub record: Record,
    /// What follows from it.
    pub report: Report,
    /// Opened before anything was measured.
    pub outputs: Outputs,
}

/// Measures what is asked, here or on the machine that is described.
///
/// # Errors
///
/// [`Trouble`] where there is no result.
pub fn obtain(call: &Call) -> Result<Obtained, Trouble> {
    if call.simulate.is_some() { simulate(call) } else { measure(call) }
}

fn finish(call: &Call) -> Result<u8, Trouble> {
    let Obtained { record, report, mut outputs } = obtain(call)?;
    write(call, &record, &report, &mut outputs)?;
    Ok(code(call, &record.run, &report))
}

fn measure(call: &Call) -> Result<Obtained, Trouble> {
    let mut machine = machine(call)?;
    let mut plan = memgauge_plan::build(&call.request, &machine)?;
    let outputs = Outputs::prepare(&call.output)?;
    signals::install().map_err(|error| Trouble::Failed(format!("signals: {error}")))?;
    let turn = turn(call.output.quiet)?;
    if turn.waited {
        // The other run held memory, by which this one's buffers would be sized.
        machine = self::machine(call)?;
    }
    let source = machine.platform.clocksource.known().map(String::as_str);
    let mut hardware = Hardware::new(source, signals::stop_flag()).map_err(|failure| Trouble::Failed(failure.to_string()))?;
    machine.apply_probes(memgauge_engine::probe_siblings(&machine, &hardware));
    if turn.waited || machine.sharing_probes.iter().any(|probe| probe.shared) {
        plan = memgauge_plan::build(&call.request, &machine)?;
    }
    folder::look(&mut plan)?;
    let (guard, prefetchers) = prefetch::take(&plan, !turn.concurrent)?;
    if let Some(guard) = guard {
        hardware.hold_prefetchers(guard);
    }
    let record = record(call, machine, plan, hardware, prefetchers, &turn)?;
    let report = memgauge_analysis::analyze(&record);
    Ok(Obtained { record, report, outputs })
}

/// The same way with a backend that makes its answers: nothing here is locked, probed, switched or watched.
fn simulate(call: &Call) -> Result<Obtained, Trouble> {
    let description = simulation::description(call)?;
    let machine = description.machine();
    let mut plan = memgauge_plan::build(&call.request, &machine)?;
    folder::look(&mut plan)?;
    let outputs = Outputs::prepare(&call.output)?;
    signals::install().map_err(|error| Trouble::Failed(format!("signals: {error}")))?;
    let mut backend = Simulated::new(description, plan.request.seed, signals::stop_flag());
    let started = jiff::Timestamp::now();
    let mut progress = Line::new(plan.estimate.total_ns(), call.output.quiet);
    let mut run = memgauge_engine::run(&plan, &mut backend, &mut progress);
    progress.clear();
    run.prefetch = PrefetchState::Left { reason: plan.prefetch.left.clone().unwrap_or_default() };
    // Its own time, in which the run would have taken as long as this.
    let seconds = backend.now_ns() as f64 / 1e9;
    let command = called(call, &plan, started, seconds);
    let (before, after) = Default::default();
    let record = Record { tool: tool(), command, machine, plan, before, after, run };
    let report = memgauge_analysis::analyze(&record);
    Ok(Obtained { record, report, outputs })
}

/// The machine that is measured, read or described.
///
/// # Errors
///
/// [`Trouble`] where there is none.
pub fn machine(call: &Call) -> Result<Machine, Trouble> {
    if call.simulate.is_some() {
        return Ok(simulation::description(call)?.machine());
    }
    let root = call.root.as_ref().map_or_else(Root::system, Root::tree);
    memgauge_machine::read(&root).map_err(|error| match &call.root {
        Some(path) => {
            let problem = "holds no machine: neither sys nor proc is in it";
            Refusal::new("--root", path.to_string_lossy(), problem, "name the folder of a captured tree").into()
        }
        None => Trouble::Failed(error.to_string()),
    })
}

/// Our turn on this host.
struct Turn {
    /// Held until the run is over.
    _lock: Option<HostLock>,
    waited: bool,
    concurrent: bool,
}

fn turn(quiet: bool) -> Result<Turn, Trouble> {
    let mut waited = false;
    let tell = |busy: &memgauge_sys::lock::Busy| {
        waited = true;
        let who = busy.holder.map_or_else(String::new, |pid| format!(" (process {pid})"));
        if !quiet {
            say::line(&format!("another run{who} is measuring; waiting up to {} s", WAIT.as_secs()));
        }
    };
    let outcome = HostLock::acquire(WAIT, tell, signals::stop_flag());
    if let Some(signal) = signals::stop_requested() {
        return Err(Trouble::Stopped(signal.number()));
    }
    Ok(match outcome {
        LockOutcome::Held(lock) => Turn { _lock: Some(lock), waited, concurrent: false },
        LockOutcome::Busy(_) => {
            if !quiet {
                say::line("the other run goes on; measuring beside it, the result is marked");
            }
            Turn { _lock: None, waited, concurrent: true }
        }
        // Where no file can be locked there is no telling; the sentinels still see what disturbs.
        LockOutcome::Unavailable(_) => Turn { _lock: None, waited, concurrent: false },
    })
}

fn record(
    call: &Call,
    machine: Machine,
    plan: Plan,
    mut hardware: Hardware,
    prefetchers: PrefetchState,
    turn: &Turn,
) -> Result<Record, Trouble> {
    let root = Root::system();
    let started = jiff::Timestamp::now();
    let clock = Instant::now();
    let before = memgauge_machine::snapshot(&root);
    let mut progress = Line::new(plan.estimate.total_ns(), call.output.quiet);
    let mut run = memgauge_engine::run(&plan, &mut hardware, &mut progress);
    progress.clear();
    run.prefetch = prefetchers;
    if let Err(error) = hardware.release_prefetchers() {
        say::line(&format!("prefetchers: {error}; the next run tries again to put them back"));
    }
    if turn.concurrent {
        run.concurrent = true;
        run.events.insert(0, Event { at_ns: 0, what: EventKind::Concurrent });
    }
    let command = called(call, &plan, started, clock.elapsed().as_secs_f64());
    let after = memgauge_machine::snapshot(&root);
    Ok(Record { tool: tool(), command, machine, plan, before, after, run })
}

fn called(call: &Call, plan: &Plan, started: jiff::Timestamp, seconds: f64) -> Called {
    Called {
        argv: call.argv.clone(),
        seed: plan.request.seed,
        started: jiff::Timestamp::from_second(started.as_second()).unwrap_or(started).to_string(),
        seconds,
        environment: environment::recorded(),
    }
}

fn tool() -> Tool {
    let libc = if cfg!(target_env = "musl") { "musl" } else { "gnu" };
    let profile = if cfg!(debug_assertions) { "debug" } else { "release" };
    Tool {
        name: "memgauge".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        build: format!("{}-{}-{libc} {profile}", std::env::consts::ARCH, std::env::consts::OS),
    }
}

fn write(call: &Call, record: &Record, report: &Report, outputs: &mut Outputs) -> Result<(), Trouble> {
    let document = || match call.output.raw {
        true => memgauge_render::document_with_raw(report, &record.run.points),
        false => memgauge_render::json(report),
    };
    let text = match call.format {
        Format::Json => document(),
        format => memgauge_render::render(report, format, &say::style()),
    };
    documents::tell(call.format, report, &text);
    let files = || vec![("report.json", document()), ("record.json", memgauge_render::json(record))];
    outputs.write(&text, document, &files)
}

/// The exit code: a signal weighs most, then a failure, then the verdict.
pub fn code(call: &Call, run: &Run, report: &Report) -> u8 {
    match (&run.end, signals::stop_requested()) {
        (End::Complete, _) if report.metrics.iter().all(|metric| metric.name.starts_with("clock_")) => {
            say::line("no figure could be measured; the result says why");
            return exit::FAILED;
        }
        (End::Complete, _) => {}
        (End::Interrupted { .. }, Some(signal)) => return signal_code(signal.number()),
        (End::Interrupted { signal: reason } | End::Failed { reason }, _) => {
            say::line(reason);
            return exit::FAILED;
        }
    }
    if call.output.strict && report.status.state == State::Rejected { exit::REJECTED } else { exit::DONE }
}
