//! Exit codes. They are part of the contract: scripts rely on them.

/// Done; also a rejected result, which is printed and marked.
pub const DONE: u8 = 0;
/// It failed: the machine, the disk, the measurement.
pub const FAILED: u8 = 1;
/// The call can't be met; nothing was allocated or changed.
pub const USAGE: u8 = 2;
/// The result was rejected, and `--strict` was given.
pub const REJECTED: u8 = 3;
/// A signal ended it; the signal's number is added: 130 for SIGINT, 143 for SIGTERM.
pub const SIGNAL: u8 = 128;
