"""Writes the Llama of a model folder as the GGUF file that llama.cpp reads.

    python benches/peers/gguf_file.py data/smollm2-135m smollm2.gguf --dtype int8
"""

import argparse
import glob
import json
import os

import gguf
import numpy

# In GGUF's names; a number takes the place of {}.
MODEL = {
    "model.embed_tokens.weight": "token_embd.weight",
    "model.norm.weight": "output_norm.weight",
    "lm_head.weight": "output.weight",
}
LAYER = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
# The types of matrices, and those of the embedding and the head.
TYPES = {
    "f32": ("F32", "F32"),
    "f16": ("F16", "F16"),
    "int8": ("Q8_0", "Q8_0"),
    "int4": ("Q4_0", "Q8_0"),
}
FILE_TYPES = {
    "f32": "ALL_F32",
    "f16": "MOSTLY_F16",
    "int8": "MOSTLY_Q8_0",
    "int4": "MOSTLY_Q4_0",
}
NUMBERS = {"F32": numpy.float32, "F16": numpy.float16, "BF16": numpy.uint16}


def write(folder, dtype, path, with_tokenizer=False):
    """Matrices are stored as `dtype`, the weights of the norms as f32."""
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    refuse_what_is_not_written(config)
    heads = config["num_attention_heads"]
    kv_heads = config.get("num_key_value_heads", heads)
    head_dim = config.get("head_dim") or config["hidden_size"] // heads

    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(heads)
    writer.add_head_count_kv(kv_heads)
    writer.add_key_length(head_dim)
    writer.add_value_length(head_dim)
    writer.add_rope_dimension_count(head_dim)
    writer.add_rope_freq_base(rope_theta(config))
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_vocab_size(config["vocab_size"])
    if with_tokenizer:
        write_tokenizer(writer, folder, config)
    else:
        writer.add_tokenizer_model("no_vocab")
    writer.add_file_type(gguf.LlamaFileType[FILE_TYPES[dtype]])
    for name, values in tensors(folder):
        if name == "lm_head.weight" and config.get("tie_word_embeddings"):
            continue
        if ".q_proj." in name:
            values = in_pairs(values, heads)
        if ".k_proj." in name:
            values = in_pairs(values, kv_heads)
        of_layers, of_tokens = TYPES[dtype]
        kind = of_tokens if name in MODEL else of_layers
        if values.ndim == 1:
            kind = "F32"
        kind = gguf.GGMLQuantizationType[kind]
        values = numpy.ascontiguousarray(values, dtype=numpy.float32)
        writer.add_tensor(gguf_name(name), gguf.quants.quantize(values, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def write_tokenizer(writer, folder, config):
    """The byte-level BPE of `tokenizer.json`, if it splits texts as GPT-2 does."""
    with open(os.path.join(folder, "tokenizer.json"), encoding="utf-8") as file:
        tokenizer = json.load(file)
    model, split = tokenizer["model"], tokenizer["pre_tokenizer"]
    if model["type"] != "BPE" or split["type"] != "ByteLevel" or split["add_prefix_space"]:
        raise SystemExit("this writes the tokenizers that split texts as GPT-2 does, and no others")
    added = {token["id"]: token["content"] for token in tokenizer["added_tokens"]}
    names = {id: name for name, id in model["vocab"].items()} | added
    kinds = [gguf.TokenType.CONTROL if id in added else gguf.TokenType.NORMAL for id in sorted(names)]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list([names[id] for id in sorted(names)])
    writer.add_token_types(kinds)
    merges = model["merges"]
    writer.add_token_merges([merge if isinstance(merge, str) else " ".join(merge) for merge in merges])
    writer.add_bos_token_id(config["bos_token_id"])
    writer.add_eos_token_id(config["eos_token_id"])
    before = ((tokenizer.get("post_processor") or {}).get("single") or [{}])[0]
    writer.add_add_bos_token("SpecialToken" in before)


def refuse_what_is_not_written(config):
    if config.get("model_type") != "llama":
        raise SystemExit(f"this writes a llama, and not a {config.get('model_type')}")
    for key in ["attention_bias", "mlp_bias", "rope_scaling"]:
        if config.get(key):
            raise SystemExit(f"this writes no llama with {key}")


def rope_theta(config):
    # Newer files hold it with all that concerns RoPE.
    return config.get("rope_theta") or config.get("rope_parameters", {}).get("rope_theta", 10000.0)


def gguf_name(name):
    if name in MODEL:
        return MODEL[name]
    layer, part = name.removeprefix("model.layers.").removesuffix(".weight").split(".", 1)
    return f"blk.{layer}.{LAYER[part]}.weight"


def in_pairs(values, heads):
    """llama.cpp rotates neighbours, where Hugging Face rotates numbers that are half a head
    apart: [heads, 2, half, in] becomes [heads, half, 2, in]."""
    outputs, inputs = values.shape
    halves = values.reshape(heads, 2, outputs // heads // 2, inputs)
    return halves.swapaxes(1, 2).reshape(outputs, inputs)


def tensors(folder):
    """Names and values of all tensors in the safetensors files, in the order of the files."""
    paths = sorted(glob.glob(os.path.join(folder, "*.safetensors")))
    if not paths:
        raise SystemExit(f"no safetensors file in {folder}")
    for path in paths:
        with open(path, "rb") as file:
            length = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(length))
        data = numpy.memmap(path, mode="r", offset=8 + length)
        header.pop("__metadata__", None)
        for name, entry in header.items():
            start, end = entry["data_offsets"]
            values = data[start:end].view(NUMBERS[entry["dtype"]]).reshape(entry["shape"])
            if entry["dtype"] == "BF16":
                values = (values.astype(numpy.uint32) << 16).view(numpy.float32)
            yield name, values


def main():
    parser = argparse.ArgumentParser(description="Writes the Llama of a model folder as a GGUF file.")
    parser.add_argument("folder", help="with config.json, safetensors files and tokenizer.json")
    parser.add_argument("file", help="the file to write")
    parser.add_argument("--dtype", choices=TYPES, default="f32")
    args = parser.parse_args()
    write(args.folder, args.dtype, args.file, with_tokenizer=True)


if __name__ == "__main__":
    main()
