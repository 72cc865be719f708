//! `env` and `envFrom` of a container.
