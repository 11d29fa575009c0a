//! Pure: Request + Machine to Plan, or a typed refusal with the remedy
#![forbid(unsafe_code)]
