//! Model-specific registers through the `msr` driver. Who writes holds a [guard](crate::guard).

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
};

use crate::errno::Errno;

/// Why a register could not be read or written.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MsrError {
    /// No such device: the driver is not loaded, or there is no such CPU.
    #[error("CPU {cpu}: no msr device (is the msr module loaded?)")]
    NotPresent {
        /// The CPU that was asked for.
        cpu: u32,
    },
    /// The device may not be opened: it takes root with CAP_SYS_RAWIO, and no lockdown.
    #[error("CPU {cpu}: no permission to open the msr device: {errno}")]
    NoPermission {
        /// The CPU that was asked for.
        cpu: u32,
        /// The kernel's answer.
        errno: Errno,
    },
    /// The CPU or hypervisor has no such register (`EIO`), or the driver lets nobody read it.
    #[error("CPU {cpu}: MSR {msr:#x} can't be read: {errno}")]
    Refused {
        /// The CPU that was asked for.
        cpu: u32,
        /// The register.
        msr: u32,
        /// The kernel's answer.
        errno: Errno,
    },
    /// The register can be read, but not written: `EPERM` by lockdown or the driver's `allow_writes=off`, `EIO` by the CPU.
    #[error("CPU {cpu}: MSR {msr:#x} can't be written: {errno}")]
    ReadOnly {
        /// The CPU that was asked for.
        cpu: u32,
        /// The register.
        msr: u32,
        /// The kernel's answer.
        errno: Errno,
    },
}

/// Reads register `msr` of `cpu` from `root/dev/cpu/N/msr`. A hypervisor may answer 0 for a register
/// that it merely tolerates, so the value alone proves nothing.
///
/// # Errors
///
/// An [`MsrError`].
pub fn read(root: &Path, cpu: u32, msr: u32) -> Result<u64, MsrError> {
    let file = File::open(device(root, cpu)).map_err(|error| open_error(cpu, &error))?;
    let mut value = [0; 8];
    // The register's number is the file's offset.
    file.read_exact_at(&mut value, u64::from(msr)).map_err(|error| MsrError::Refused { cpu, msr, errno: error.into() })?;
    Ok(u64::from_ne_bytes(value))
}

/// Writes register `msr` of `cpu`. A hypervisor may drop what is written without a word: read it back.
///
/// # Errors
///
/// An [`MsrError`].
pub(crate) fn write(root: &Path, cpu: u32, msr: u32, value: u64) -> Result<(), MsrError> {
    let file = OpenOptions::new().write(true).open(device(root, cpu)).map_err(|error| open_error(cpu, &error))?;
    let written = file.write_all_at(&value.to_ne_bytes(), u64::from(msr));
    written.map_err(|error| MsrError::ReadOnly { cpu, msr, errno: error.into() })
}

fn device(root: &Path, cpu: u32) -> PathBuf {
    root.join(format!("dev/cpu/{cpu}/msr"))
}

fn open_error(cpu: u32, error: &io::Error) -> MsrError {
    match error.raw_os_error() {
        Some(errno @ (libc::EPERM | libc::EACCES)) => MsrError::NoPermission { cpu, errno: Errno(errno) },
        _ => MsrError::NotPresent { cpu },
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn root_with(contents: Option<&[u8]>) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("dev/cpu/3");
        fs::create_dir_all(&folder).unwrap();
        if let Some(contents) = contents {
            fs::write(folder.join("msr"), contents).unwrap();
        }
        root
    }

    #[test]
    fn a_register_is_the_eight_bytes_at_its_number() {
        let mut image = vec![0; 0x1a4];
        image.extend(0x0123_4567_89ab_cdef_u64.to_ne_bytes());
        let root = root_with(Some(&image));
        assert_eq!(read(root.path(), 3, 0x1a4), Ok(0x0123_4567_89ab_cdef));
        assert_eq!(read(root.path(), 4, 0x1a4), Err(MsrError::NotPresent { cpu: 4 }));
        assert!(matches!(read(root.path(), 3, 0x1a5), Err(MsrError::Refused { msr: 0x1a5, .. })));
    }

    #[test]
    fn faults_have_types() {
        let root = root_with(None);
        assert_eq!(read(root.path(), 3, 0), Err(MsrError::NotPresent { cpu: 3 }));
        for errno in [libc::EACCES, libc::EPERM] {
            let error = open_error(0, &io::Error::from_raw_os_error(errno));
            assert_eq!(error, MsrError::NoPermission { cpu: 0, errno: Errno(errno) });
        }
        let error = open_error(0, &io::Error::from_raw_os_error(libc::ENXIO));
        assert_eq!(error, MsrError::NotPresent { cpu: 0 });
    }
}
