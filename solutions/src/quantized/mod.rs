//! 12 Fewer bits

pub mod best_scale;
pub mod gguf_block;
pub mod group_error;
pub mod group_product;
pub mod integer_product;
pub mod kl_divergence;
pub mod nibble_in_mantissa;
pub mod over_the_end;
pub mod pack_nibbles;
pub mod quantize_group;
