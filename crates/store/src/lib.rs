//! Evidence on disk
#![forbid(unsafe_code)]
