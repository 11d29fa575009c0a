//! Literal sections, every row of published outputs, and what the programs that read them rely on.

pub mod build;
mod readers;
mod samples;
mod sections;
