//! Pure: Report to bytes, one small file per format
#![forbid(unsafe_code)]
