"""Generates with Hugging Face's transformers on torch, for `cargo xtask bench --peers`."""

import torch
import transformers

from protocol import serve


def load(folder, dtype, threads, _scratch):
    torch.set_num_threads(threads)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    stored = {"f32": torch.float32, "f16": torch.float16}[dtype]
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).to(stored).eval()
    return lambda prompt, _new_tokens: greedy(model, prompt)


@torch.inference_mode()
def greedy(model, new):
    """Yields the most likely token, then the one after that, without an end."""
    cache = None
    while True:
        ids = torch.tensor([new])
        output = model(input_ids=ids, past_key_values=cache, use_cache=True, logits_to_keep=1)
        cache = output.past_key_values
        best = int(output.logits[0, -1].argmax())
        yield best
        new = [best]


if __name__ == "__main__":
    serve(f"transformers {transformers.__version__} on torch {torch.__version__}", load)
