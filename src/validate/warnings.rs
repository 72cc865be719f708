//! What the API server warns about although it accepts it.
