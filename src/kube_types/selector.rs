//! Matching label selectors against labels.
