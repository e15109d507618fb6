//! 12 Fewer bits

mod quantize_group;

#[path = "../../suite/quantized/quantize_group.rs"]
mod quantize_group_tests;

mod pack_nibbles;

#[path = "../../suite/quantized/pack_nibbles.rs"]
mod pack_nibbles_tests;

mod gguf_block;

#[path = "../../suite/quantized/gguf_block.rs"]
mod gguf_block_tests;

mod group_product;

#[path = "../../suite/quantized/group_product.rs"]
mod group_product_tests;

mod nibble_in_mantissa;

#[path = "../../suite/quantized/nibble_in_mantissa.rs"]
mod nibble_in_mantissa_tests;

mod integer_product;

#[path = "../../suite/quantized/integer_product.rs"]
mod integer_product_tests;

mod group_error;

#[path = "../../suite/quantized/group_error.rs"]
mod group_error_tests;

mod best_scale;

#[path = "../../suite/quantized/best_scale.rs"]
mod best_scale_tests;

mod round_to_e2m1;

#[path = "../../suite/quantized/round_to_e2m1.rs"]
mod round_to_e2m1_tests;

mod write_mxfp4;

#[path = "../../suite/quantized/write_mxfp4.rs"]
mod write_mxfp4_tests;

mod kl_divergence;

#[path = "../../suite/quantized/kl_divergence.rs"]
mod kl_divergence_tests;

mod over_the_end;

#[path = "../../suite/quantized/over_the_end.rs"]
mod over_the_end_tests;

mod nan_in_e4m3;

#[path = "../../suite/quantized/nan_in_e4m3.rs"]
mod nan_in_e4m3_tests;
