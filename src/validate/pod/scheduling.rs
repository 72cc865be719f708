//! Where pods may run: affinity, tolerations, spread constraints, node selectors, gates.
