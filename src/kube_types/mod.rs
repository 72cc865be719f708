//! Small types and rules that several parts share: names, quantities, selectors, times. Pure.

pub mod ip;
pub mod names;
pub mod quantity;
pub mod selector;
pub mod time;
