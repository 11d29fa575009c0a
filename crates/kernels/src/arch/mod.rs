//! One file per architecture, all of the same shape: counters, spins, chases, hints.

#[cfg(target_arch = "x86_64")]
mod x86_64;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::*;

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "aarch64")]
pub(crate) use aarch64::*;

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod portable;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) use portable::*;

#[cfg(not(target_arch = "x86_64"))]
mod plain;
#[cfg(not(target_arch = "x86_64"))]
pub(crate) use plain::*;
