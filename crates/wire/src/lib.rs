//! Channels, handshake, TLS, in-process and lockstep drivers, decorators.
