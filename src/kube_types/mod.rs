//! Small types and rules that several parts share: names, quantities, selectors. Pure.

pub mod ip;
pub mod names;
pub mod quantity;
pub mod selector;
