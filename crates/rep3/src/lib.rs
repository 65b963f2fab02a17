//! Three-party replicated secret sharing (Araki et al.) and AES on shares.
