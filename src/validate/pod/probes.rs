//! Probes and lifecycle handlers.
