//! Safe wrappers over the few Linux calls that are needed

