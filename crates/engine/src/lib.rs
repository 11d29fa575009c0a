//! Runs a Plan: arenas, pinned workers, rounds and windows, placement checks
#![forbid(unsafe_code)]
