//! The vocabulary of memgauge: every type that flows, units, schema
#![forbid(unsafe_code)]
