//! Records built by code, and what analysis makes of them.

mod access;
mod classes;
mod curves;
mod derived;
mod dram;
mod figures;
mod findings;
mod plausible;
mod properties;
mod status;
mod support;
