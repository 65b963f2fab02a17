//! Seeds, PRG with domain labels, and the three-party PRSS addressed by word index.
