//! Reads /sys, /proc, DMI and CPUID under a root path into a Machine
#![forbid(unsafe_code)]
