//! Safe wrappers over the few Linux calls that memgauge needs.
//!
//! The public interface is safe; every `unsafe` block holds one operation and says why it is sound.
//! Nothing here prints, exits, or changes the machine's state, but for [`guard`], which puts back what it changed.
//! Refusals come back as typed values, because in a container or a sandbox being refused is the normal case and has a
//! fallback.

#[cfg(not(target_os = "linux"))]
compile_error!("memgauge measures Linux machines");

mod errno;
mod mapping;
mod mask;
mod numa_maps;
mod populate;
mod raw;
mod smaps;

pub mod arena;
pub mod clock;
pub mod cpu;
pub mod folder;
pub mod guard;
pub mod limits;
pub mod lock;
pub mod mempolicy;
pub mod msr;
pub mod pagemap;
pub mod pages;
pub mod perf;
pub mod placement;
pub mod proc;
pub mod sched;
pub mod signals;
pub mod stdio;

pub use arena::{Arena, ArenaError, ArenaSpec, BindError, Binding};
pub use cpu::{CpuSet, PinError, Pinned};
pub use errno::Errno;
pub use pages::Pages;
pub use placement::{GotKind, Method, Placement};
pub use populate::PopulateError;
