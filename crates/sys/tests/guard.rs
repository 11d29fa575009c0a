//! Registers are put back on every way out.

#![expect(clippy::print_stdout, reason = "parts talk to their test this way")]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common {
    pub mod part;
}

use memgauge_sys::guard::{GuardError, Recovered, RegisterGuard, Setting, recover};
use memgauge_sys::msr::{self, MsrError};
use std::{
    fs::{self, OpenOptions},
    io::{BufRead, BufReader, Write},
    os::unix::fs::{DirBuilderExt, FileExt, PermissionsExt, symlink},
    panic,
    path::{Path, PathBuf},
    process::Child,
};

const MSR: u32 = 0x1a4;
const MASK: u64 = 0xf;
/// Bits that are no prefetcher's: they must survive.
const OTHERS: u64 = 0x4_0000_0000;
const KNOWN: &[(u32, u64)] = &[(MSR, MASK)];

/// A fake machine whose registers are sparse files, and a place for journals.
struct Fake {
    folder: tempfile::TempDir,
}

impl Fake {
    fn new(cpus: u32) -> Self {
        let fake = Self { folder: tempfile::tempdir().unwrap() };
        for cpu in 0..cpus {
            fs::create_dir_all(fake.device(cpu).parent().unwrap()).unwrap();
            fs::write(fake.device(cpu), "").unwrap();
            fake.poke(cpu, OTHERS);
        }
        fake
    }

    /// The CPU's device is a link to something that behaves in another way.
    fn link(&self, cpu: u32, target: &str) {
        fs::create_dir_all(self.device(cpu).parent().unwrap()).unwrap();
        let _ = fs::remove_file(self.device(cpu));
        symlink(target, self.device(cpu)).unwrap();
    }

    fn root(&self) -> &Path {
        self.folder.path()
    }

    fn device(&self, cpu: u32) -> PathBuf {
        self.root().join(format!("dev/cpu/{cpu}/msr"))
    }

    fn journals(&self) -> PathBuf {
        self.root().join("journals")
    }

    fn poke(&self, cpu: u32, value: u64) {
        let file = OpenOptions::new().write(true).open(self.device(cpu)).unwrap();
        file.write_all_at(&value.to_ne_bytes(), u64::from(MSR)).unwrap();
    }

    fn value(&self, cpu: u32) -> u64 {
        msr::read(self.root(), cpu, MSR).unwrap()
    }

    fn take(&self, cpus: &[u32]) -> Result<RegisterGuard, GuardError> {
        let wanted: Vec<Setting> = cpus.iter().map(|&cpu| Setting { cpu, msr: MSR, mask: MASK }).collect();
        RegisterGuard::take(self.root(), &self.journals(), &wanted)
    }

    /// Files in the journals' folder, hidden ones too.
    fn files(&self) -> Vec<PathBuf> {
        fs::read_dir(self.journals()).map_or_else(|_| Vec::new(), |all| all.map(|entry| entry.unwrap().path()).collect())
    }

    fn recover(&self) -> Vec<Recovered> {
        recover(self.root(), &self.journals(), KNOWN)
    }

    /// Writes a journal as a dead run would have left it, but for what `edit` does to it.
    fn plant(&self, edit: impl Fn(String) -> String) -> PathBuf {
        fs::DirBuilder::new().mode(0o700).recursive(true).create(self.journals()).unwrap();
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
        let text = format!(
            "memgauge-guard 1\nboot {}\nowner 4194305 1\nmsr 0 {MSR:#x} {OTHERS:#x} {:#x}\nend\n",
            boot.trim(),
            OTHERS | MASK
        );
        let path = self.journals().join("memgauge-guard-4194305-1.journal");
        fs::write(&path, edit(text)).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        path
    }
}

#[test]
fn set_and_put_back_leave_other_bits_and_other_cpus_alone() {
    let fake = Fake::new(3);
    let guard = fake.take(&[0, 1]).unwrap();
    assert_eq!([0, 1, 2].map(|cpu| fake.value(cpu)), [OTHERS; 3], "taken is not set");
    assert_eq!(fake.files().len(), 1, "the journal is there before the first change");
    guard.set(&[1]).unwrap();
    assert_eq!([0, 1, 2].map(|cpu| fake.value(cpu)), [OTHERS, OTHERS | MASK, OTHERS]);
    guard.put_back(&[1]).unwrap();
    assert_eq!(fake.value(1), OTHERS);
    guard.close().unwrap();
    assert!(fake.files().is_empty());
}

#[test]
fn an_early_return_and_a_panic_put_back() {
    let fake = Fake::new(1);
    let guard = fake.take(&[0]).unwrap();
    guard.set(&[0]).unwrap();
    drop(guard);
    assert_eq!((fake.value(0), fake.files().len()), (OTHERS, 0));
    let unwound = panic::catch_unwind(panic::AssertUnwindSafe(|| {
        let guard = fake.take(&[0]).unwrap();
        guard.set(&[0]).unwrap();
        assert_eq!(fake.value(0), OTHERS, "this is the panic");
    }));
    assert!(unwound.is_err());
    assert_eq!((fake.value(0), fake.files().len()), (OTHERS, 0));
}

#[test]
fn writes_that_are_dropped_are_noticed() {
    let fake = Fake::new(1);
    // Takes every write and reads as 0, like a register that a hypervisor only tolerates.
    fake.link(1, "/dev/zero");
    let error = fake.take(&[0, 1]).unwrap_err();
    assert!(matches!(error, GuardError::Dropped { cpu: 1, msr: MSR }), "{error}");
    assert_eq!((fake.value(0), fake.files().len()), (OTHERS, 0), "what was set before it is put back");
}

#[test]
fn refusals_have_types_and_leave_nothing_changed() {
    let fake = Fake::new(1);
    let refused = |cpu| match fake.take(&[0, cpu]).unwrap_err() {
        GuardError::Msr(error) => error,
        other => panic!("{other}"),
    };
    assert_eq!(refused(7), MsrError::NotPresent { cpu: 7 });
    // Page 0 of a process is never mapped: EIO, as of a register that the CPU doesn't have.
    fake.link(1, "/proc/self/mem");
    assert!(matches!(refused(1), MsrError::Refused { cpu: 1, errno, .. } if errno.0 == libc::EIO));
    // Can be read, can't be written.
    fake.link(2, "/dev/full");
    assert!(matches!(refused(2), MsrError::ReadOnly { cpu: 2, msr: MSR, .. }));
    assert_eq!((fake.value(0), fake.files().len()), (OTHERS, 0));
}

#[test]
fn without_a_journal_nothing_is_changed() {
    let fake = Fake::new(1);
    let elsewhere = tempfile::tempdir().unwrap();
    symlink(elsewhere.path(), fake.journals()).unwrap();
    assert!(matches!(fake.take(&[0]).unwrap_err(), GuardError::Journal { .. }), "a link is no folder of ours");
    fs::remove_file(fake.journals()).unwrap();
    fs::create_dir(fake.journals()).unwrap();
    fs::set_permissions(fake.journals(), fs::Permissions::from_mode(0o777)).unwrap();
    assert!(matches!(fake.take(&[0]).unwrap_err(), GuardError::Journal { .. }), "others could write it");
    assert_eq!((fake.value(0), fs::read_dir(elsewhere.path()).unwrap().count()), (OTHERS, 0));
}

#[test]
fn what_somebody_else_changed_is_told_and_left() {
    let fake = Fake::new(1);
    let guard = fake.take(&[0]).unwrap();
    guard.set(&[0]).unwrap();
    fake.poke(0, 3);
    assert!(matches!(guard.put_back(&[0]), Err(GuardError::Changed { cpu: 0, msr: MSR })));
    guard.close().unwrap();
    assert_eq!((fake.value(0), fake.files().len()), (3, 0));
}

const KILLED: &str = "a_killed_run_is_put_back_by_the_next_and_a_live_one_is_not";
const ROOT: &str = "MEMGAUGE_TEST_ROOT";

/// A process that holds CPU 0's register.
fn holder(fake: &Fake) -> Option<Child> {
    let before = format!("{ROOT}={}", fake.root().display());
    common::part::start(KILLED, &format!("export {before};"), || {
        let root = PathBuf::from(std::env::var(ROOT).unwrap());
        let wanted = [Setting { cpu: 0, msr: MSR, mask: MASK }];
        let guard = RegisterGuard::take(&root, &root.join("journals"), &wanted).unwrap();
        guard.set(&[0]).unwrap();
        println!("\nholding");
        std::io::stdout().flush().unwrap();
        std::thread::sleep(std::time::Duration::from_secs(60));
    })
}

#[test]
fn a_killed_run_is_put_back_by_the_next_and_a_live_one_is_not() {
    let fake = Fake::new(1);
    let Some(mut child) = holder(&fake) else { return };
    let said = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(said.map_while(Result::ok).any(|line| line == "holding"), "the part did not come to hold it");
    let pid = child.id();
    assert_eq!(fake.recover(), [Recovered::Live { pid }]);
    assert!(matches!(fake.take(&[0]), Err(GuardError::Busy { pid: found }) if found == pid));
    assert_eq!(fake.value(0), OTHERS | MASK, "a live run's registers are its own");

    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!((fake.value(0), fake.files().len()), (OTHERS | MASK, 1));
    assert_eq!(fake.recover(), [Recovered::PutBack { pid, cpus: vec![0] }]);
    assert_eq!((fake.value(0), fake.files().len()), (OTHERS, 0));
    assert!(fake.recover().is_empty());
}

#[test]
fn only_what_is_still_ours_is_put_back() {
    let fake = Fake::new(1);
    fake.poke(0, OTHERS | MASK);
    fake.plant(|text| text);
    assert_eq!(fake.recover(), [Recovered::PutBack { pid: 4_194_305, cpus: vec![0] }]);
    assert_eq!(fake.value(0), OTHERS);
    // Somebody has written another value since.
    fake.poke(0, 1);
    fake.plant(|text| text);
    assert_eq!(fake.recover(), [Recovered::Closed { pid: 4_194_305 }]);
    // Another boot: the value is there by somebody else's will.
    fake.poke(0, OTHERS | MASK);
    fake.plant(|text| text.replace("boot ", "boot f"));
    assert_eq!(fake.recover(), [Recovered::Closed { pid: 4_194_305 }]);
    assert_eq!((fake.value(0), fake.files().len()), (OTHERS | MASK, 0));
}

#[test]
fn what_is_no_journal_of_ours_is_not_followed() {
    let fake = Fake::new(1);
    fake.poke(0, OTHERS | MASK);
    let ignored = |what: &str| {
        let found = fake.recover();
        assert!(matches!(found[..], [Recovered::Ignored { .. }]), "{what}: {found:?}");
        assert_eq!((fake.value(0), fake.files().len()), (OTHERS | MASK, 1), "{what}");
    };
    fake.plant(|text| text[..text.len() - 5].to_owned());
    ignored("truncated");
    fake.plant(|text| text.replace("0x1a4", "0x1a0"));
    ignored("another register");
    fake.plant(|text| text.replace("0x400000000 ", "0x0 "));
    ignored("other bits");
    let path = fake.plant(|text| text);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    ignored("others can write it");
    fs::remove_file(&path).unwrap();
    let elsewhere = Fake::new(1);
    symlink(elsewhere.plant(|text| text), &path).unwrap();
    ignored("a link");
    fs::set_permissions(fake.journals(), fs::Permissions::from_mode(0o777)).unwrap();
    assert!(fake.recover().is_empty(), "a folder that others can write holds no word of ours");
}

#[test]
fn what_could_not_be_put_back_is_tried_again() {
    let fake = Fake::new(1);
    fake.poke(0, OTHERS | MASK);
    fake.plant(|text| text.replace("end\n", "msr 9 0x1a4 0x0 0xf\nend\n"));
    assert!(matches!(fake.recover()[..], [Recovered::Failed { .. }]));
    assert_eq!((fake.value(0), fake.files().len()), (OTHERS, 1));
}
