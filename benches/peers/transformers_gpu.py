"""Speed of torch and transformers on a GPU, with the two shapes and the phases of `cargo xtask gpu`.

Run: python3 benches/peers/transformers_gpu.py   (needs torch with CUDA, and transformers)
"""
import statistics
import time

import torch
import transformers
from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM

SHAPES = {
    "smollm2-135m": dict(
        hidden_size=576, intermediate_size=1536, num_hidden_layers=30, num_attention_heads=9,
        num_key_value_heads=3, vocab_size=49152, tie_word_embeddings=True,
    ),
    "tinyllama-1.1b": dict(
        hidden_size=2048, intermediate_size=5632, num_hidden_layers=22, num_attention_heads=32,
        num_key_value_heads=4, vocab_size=32000,
    ),
}
DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
STEPS = 16


def median(run):
    """Seconds of `run`: the median of five, after two to warm up."""
    times = []
    for _ in range(7):
        torch.cuda.synchronize()
        start = time.perf_counter()
        run()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return statistics.median(times[2:])


def decode(model, sequences, vocab):
    """Seconds of a step of greedy decoding, after 128 tokens each."""
    prompt = torch.randint(0, vocab, (sequences, 128), device="cuda")
    cache = DynamicCache()
    model(prompt, past_key_values=cache, logits_to_keep=1)
    token = prompt[:, :1]
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(STEPS):
        token = model(token, past_key_values=cache).logits[:, -1].argmax(-1, keepdim=True)
    torch.cuda.synchronize()
    return (time.perf_counter() - start) / STEPS


def main():
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, transformers {transformers.__version__}\n")
    print("| this device | |\n|---|--:|")
    for name, dtype in DTYPES.items():
        a, b = (torch.randn(4096, 4096, device="cuda").to(dtype) for _ in range(2))
        seconds = median(lambda: [a @ b for _ in range(10)])
        print(f"| product of two matrices of 4096 x 4096 in {name}, Gflop/s | {10 * 2 * 4096**3 / seconds / 1e9:.0f} |")
    print("\n| model | stored in | phase | tokens/s |\n|---|---|---|--:|")
    for model_name, shape in SHAPES.items():
        config = LlamaConfig(max_position_embeddings=4096, attn_implementation="sdpa", **shape)
        for name, dtype in DTYPES.items():
            with torch.device("cuda"):
                model = LlamaForCausalLM(config).to(dtype).eval()
            with torch.inference_mode():
                for tokens in (512, 2048):
                    prompt = torch.randint(0, shape["vocab_size"], (1, tokens), device="cuda")
                    seconds = median(lambda: model(prompt, use_cache=True, logits_to_keep=1))
                    print(f"| {model_name} | {name} | prefill of {tokens} | {tokens / seconds:.0f} |", flush=True)
                for sequences in (1, 8, 64):
                    decode(model, sequences, shape["vocab_size"])
                    seconds = statistics.median(decode(model, sequences, shape["vocab_size"]) for _ in range(5))
                    print(f"| {model_name} | {name} | decode, batch {sequences} | {sequences / seconds:.0f} |", flush=True)
            del model
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
