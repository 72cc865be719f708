//! `status` of a Deployment, written through its subresource.
