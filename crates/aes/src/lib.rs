//! AES kernels and hashes on every tier, as batch functions over slices.
