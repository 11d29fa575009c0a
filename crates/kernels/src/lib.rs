//! The measured loops and clocks, each loop declaring its accounting

