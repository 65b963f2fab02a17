//! Seeded three-party worlds, tampering and pinned wire traces for tests.
