//! Plans for made-up machines.

// The attribute tells clippy that helpers outside `#[test]` functions are tests too.
#[cfg(test)]
mod memory;
mod options;
#[cfg(test)]
mod pairs;
#[cfg(test)]
mod points;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod refusals;
#[cfg(test)]
mod roles;
#[cfg(test)]
mod scan;
#[cfg(test)]
mod support;
#[cfg(test)]
mod timing;
mod traffic;
