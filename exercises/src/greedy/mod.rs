//! 01 Greedy
