//! Pure, bit-reproducible estimators used while measuring and after
#![forbid(unsafe_code)]
