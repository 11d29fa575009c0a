//! Signals, each case in a process of its own: handlers belong to a whole process.

#![expect(clippy::print_stdout, reason = "parts talk to their test this way")]
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common {
    pub mod part;
}

use std::{
    os::unix::process::ExitStatusExt,
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use memgauge_sys::signals::{self, Signal};

fn raise(signal: i32) {
    // SAFETY: sends a signal to the calling thread.
    assert_eq!(unsafe { libc::raise(signal) }, 0);
}

#[test]
fn the_first_signal_asks() {
    ends_by(None, "the_first_signal_asks", "", || {
        signals::install().unwrap();
        signals::install().unwrap();
        assert_eq!(signals::stop_requested(), None);
        assert!(!signals::stop_flag().load(Ordering::Relaxed));
        raise(libc::SIGTERM);
        assert_eq!(signals::stop_requested(), Some(Signal::Terminate));
        assert!(signals::stop_flag().load(Ordering::Relaxed));
        println!("went on");
    });
}

#[test]
fn the_second_signal_kills() {
    ends_by(Some(libc::SIGTERM), "the_second_signal_kills", "", || {
        signals::install().unwrap();
        raise(libc::SIGINT);
        println!("went on");
        // Another one than the first.
        raise(libc::SIGTERM);
        println!("survived");
    });
}

#[test]
fn what_the_caller_ignores_stays_ignored() {
    ends_by(None, "what_the_caller_ignores_stays_ignored", "trap '' HUP INT;", || {
        signals::install().unwrap();
        raise(libc::SIGHUP);
        raise(libc::SIGINT);
        assert_eq!(signals::stop_requested(), None);
        raise(libc::SIGTERM);
        assert_eq!(signals::stop_requested(), Some(Signal::Terminate));
        // Still ignored after the first signal gave the caught ones their defaults back.
        raise(libc::SIGHUP);
        println!("went on");
    });
}

#[test]
fn a_sleeper_wakes() {
    ends_by(None, "a_sleeper_wakes", "", || {
        signals::install().unwrap();
        assert!(!signals::sleep_unless_stopped(Duration::from_millis(20)));
        let start = Instant::now();
        std::thread::scope(|scope| {
            // The signal hits this thread, the sleeper wakes all the same.
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(50));
                raise(libc::SIGINT);
            });
            assert!(signals::sleep_unless_stopped(Duration::from_secs(60)));
        });
        assert!(start.elapsed() < Duration::from_secs(30));
        assert!(signals::sleep_unless_stopped(Duration::from_secs(60)));
        println!("went on");
    });
}

#[test]
fn a_worker_is_not_hit() {
    ends_by(None, "a_worker_is_not_hit", "", || {
        signals::install().unwrap();
        let worker = std::thread::spawn(|| {
            signals::block_in_this_thread().unwrap();
            raise(libc::SIGINT);
            signals::stop_requested()
        });
        assert_eq!(worker.join().unwrap(), None);
        println!("went on");
    });
}

#[test]
fn a_closed_pipe_ends_quietly() {
    ends_by(Some(libc::SIGPIPE), "a_closed_pipe_ends_quietly", "", || {
        // Rust ignores it, so this does nothing.
        raise(libc::SIGPIPE);
        println!("went on");
        signals::restore_default_sigpipe();
        raise(libc::SIGPIPE);
        println!("survived");
    });
}

/// Runs a part, which must go on after the first signal; `killer` is what must end it.
fn ends_by(killer: Option<i32>, test: &str, before: &str, part: impl FnOnce()) {
    let Some(child) = common::part::start(test, before, part) else { return };
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("went on") && !text.contains("survived"), "{output:?}");
    assert_eq!(output.status.signal(), killer, "{output:?}");
    assert!(output.status.success() || killer.is_some(), "{output:?}");
}
