//! One run a host.

#![expect(clippy::print_stdout, reason = "parts talk to their test this way")]

mod common {
    pub mod part;
}

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    os::unix::fs::{MetadataExt, PermissionsExt, symlink},
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use memgauge_sys::lock::{Busy, HostLock, LockOutcome};

static GO_ON: AtomicBool = AtomicBool::new(false);

fn try_in(folders: &[PathBuf]) -> LockOutcome {
    HostLock::acquire_in(folders, Duration::ZERO, |_| panic!("no wait was asked for"), &GO_ON)
}

fn held(outcome: LockOutcome) -> HostLock {
    match outcome {
        LockOutcome::Held(lock) => lock,
        other => panic!("{other:?}"),
    }
}

fn busy(outcome: LockOutcome) -> Busy {
    match outcome {
        LockOutcome::Busy(busy) => busy,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_second_run_finds_it_busy_until_the_first_ends() {
    let folder = tempfile::tempdir().unwrap();
    let folders = [folder.path().to_owned()];
    let first = held(try_in(&folders));
    assert_eq!(first.path(), folder.path().join("memgauge.lock"));
    let found = busy(try_in(&folders));
    assert_eq!(found.path, first.path());
    if fs::read_to_string("/proc/locks").is_ok_and(|locks| locks.contains("FLOCK")) {
        assert_eq!(found.holder, Some(std::process::id()));
    }
    drop(first);
    held(try_in(&folders));
}

#[test]
fn other_users_can_lock_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let lock = held(try_in(&[folder.path().to_owned()]));
    let file = lock.path().to_owned();
    assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o666);
    drop(lock);
    // Read-only is enough (root is not stopped by this, others are).
    fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
    held(try_in(&[folder.path().to_owned()]));
}

#[test]
fn a_waiter_is_told_once_and_gets_it() {
    let folder = tempfile::tempdir().unwrap();
    let folders = [folder.path().to_owned()];
    let first = held(try_in(&folders));
    let mut told = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(250));
            drop(first);
        });
        let wait = Duration::from_secs(20);
        held(HostLock::acquire_in(&folders, wait, |_| told += 1, &GO_ON));
    });
    assert_eq!(told, 1);
}

#[test]
fn waiting_ends_by_time_and_by_stop() {
    let folder = tempfile::tempdir().unwrap();
    let folders = [folder.path().to_owned()];
    let _first = held(try_in(&folders));
    let start = Instant::now();
    let wait = Duration::from_millis(150);
    busy(HostLock::acquire_in(&folders, wait, |_| {}, &GO_ON));
    assert!(start.elapsed() >= wait);
    let stop = AtomicBool::new(false);
    let stopped_by_user = |_: &Busy| stop.store(true, Ordering::Relaxed);
    busy(HostLock::acquire_in(&folders, Duration::from_secs(3600), stopped_by_user, &stop));
}

#[test]
fn the_next_folder_serves_where_the_first_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    let lock = held(try_in(&[missing.clone(), folder.path().to_owned()]));
    assert_eq!(lock.path(), folder.path().join("memgauge.lock"));
    assert!(matches!(try_in(&[missing]), LockOutcome::Unavailable(_)));
}

#[test]
fn bait_is_not_taken() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memgauge.lock");
    let victim = folder.path().join("victim");
    fs::write(&victim, "precious").unwrap();
    for target in [&victim, &folder.path().join("not-yet")] {
        symlink(target, &file).unwrap();
        assert!(matches!(try_in(&[folder.path().to_owned()]), LockOutcome::Unavailable(_)));
        fs::remove_file(&file).unwrap();
    }
    assert!(!folder.path().join("not-yet").exists());
    // A hard link can't be told from a file; it must come through unharmed.
    fs::hard_link(&victim, &file).unwrap();
    held(try_in(&[folder.path().to_owned()]));
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert!(matches!(try_in(&[folder.path().to_owned()]), LockOutcome::Unavailable(_)));
}

#[test]
fn the_kernel_frees_the_lock_of_a_killed_run() {
    let folder = tempfile::tempdir().unwrap();
    let folders = [folder.path().to_owned()];
    let before = format!("LOCK_FOLDER='{}'; export LOCK_FOLDER;", folder.path().display());
    let child = common::part::start("the_kernel_frees_the_lock_of_a_killed_run", &before, || {
        let folder = PathBuf::from(std::env::var("LOCK_FOLDER").unwrap());
        let _lock = held(try_in(&[folder]));
        println!("\nheld");
        std::io::stdout().flush().unwrap();
        std::thread::sleep(Duration::from_secs(60));
    });
    let Some(mut child) = child else { return };
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line == "held"));
    busy(try_in(&folders));
    child.kill().unwrap();
    child.wait().unwrap();
    held(try_in(&folders));
}
