//! 12 Fewer bits

pub mod quantize_group;

#[cfg(test)]
#[path = "../../../exercises/suite/quantized/quantize_group.rs"]
mod quantize_group_tests;

pub mod pack_nibbles;

#[cfg(test)]
#[path = "../../../exercises/suite/quantized/pack_nibbles.rs"]
mod pack_nibbles_tests;

pub mod gguf_block;

#[cfg(test)]
#[path = "../../../exercises/suite/quantized/gguf_block.rs"]
mod gguf_block_tests;

pub mod group_product;

#[cfg(test)]
#[path = "../../../exercises/suite/quantized/group_product.rs"]
mod group_product_tests;

pub mod nibble_in_mantissa;

#[cfg(test)]
#[path = "../../../exercises/suite/quantized/nibble_in_mantissa.rs"]
mod nibble_in_mantissa_tests;

pub mod integer_product;

#[cfg(test)]
#[path = "../../../exercises/suite/quantized/integer_product.rs"]
mod integer_product_tests;

pub mod group_error;

#[cfg(test)]
#[path = "../../../exercises/suite/quantized/group_error.rs"]
mod group_error_tests;

pub mod best_scale;

#[cfg(test)]
#[path = "../../../exercises/suite/quantized/best_scale.rs"]
mod best_scale_tests;

pub mod kl_divergence;

#[cfg(test)]
#[path = "../../../exercises/suite/quantized/kl_divergence.rs"]
mod kl_divergence_tests;

pub mod over_the_end;

#[cfg(test)]
#[path = "../../../exercises/suite/quantized/over_the_end.rs"]
mod over_the_end_tests;
