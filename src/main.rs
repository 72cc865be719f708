//! Command line of rollgate.

fn main() {}
