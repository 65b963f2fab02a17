//! Capability tokens and vector operations, each with a portable form.
