//! Records built by code, and what analysis makes of them.

mod access;
mod classes;
mod counters;
mod curves;
mod derived;
mod dram;
mod figures;
mod findings;
mod plausible;
mod prefetch;
mod properties;
mod scans;
mod status;
mod stored;
mod support;
mod sweeps;
