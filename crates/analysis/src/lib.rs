//! Pure: Record to Report
#![forbid(unsafe_code)]
