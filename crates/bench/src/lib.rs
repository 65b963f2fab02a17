//! Benchmarks with the limit measured in the same run, tables and plots.
