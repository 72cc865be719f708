//! `metadata` of a Deployment: on create, and what may change on update.
