//! The type table and what it drives: strict decoding, printing, and (later) patches and hashes.
//!
//! Start with [`table`]; [`source`] is what readers produce, [`value`] what decoding makes of it.

pub mod decode;
pub mod equality;
pub mod fingerprint;
pub mod hash;
pub mod json;
pub mod print;
pub mod source;
pub mod table;
pub mod time;
pub mod value;
pub mod write;
