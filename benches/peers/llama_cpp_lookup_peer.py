"""Generates with llama.cpp's Python package and its prompt lookup, for `cargo xtask speculation peers`.

The lookup is the package's own (`LlamaPromptLookupDecoding`, in Python with numpy), as is the loop that
checks the guesses; llama.cpp computes the passes. The environment variable LOOKUP is the number of
tokens that it guesses in a step, or empty: then the same loop runs without guesses.
"""

import os
import tempfile

import llama_cpp
from llama_cpp.llama_speculative import LlamaPromptLookupDecoding

import gguf_file
from protocol import serve


def load(folder, dtype, threads, scratch):
    lookup = os.environ.get("LOOKUP")
    draft = LlamaPromptLookupDecoding(num_pred_tokens=int(lookup)) if lookup else None
    stored = llama_cpp.GGML_TYPE_F32 if dtype == "f32" else llama_cpp.GGML_TYPE_F16
    # The file is in memory or mapped once the model is loaded, and then needs no name.
    with tempfile.TemporaryDirectory(dir=scratch, ignore_cleanup_errors=True) as own:
        path = os.path.join(own, "model.gguf")
        gguf_file.write(folder, dtype, path)
        model = llama_cpp.Llama(
            path,
            n_gpu_layers=0,
            n_ctx=512,
            n_batch=512,
            n_threads=threads,
            n_threads_batch=threads,
            type_k=stored,
            type_v=stored,
            draft_model=draft,
            verbose=False,
        )

    def generate(prompt, _):
        model.reset()
        return model.generate(prompt, temp=0.0, reset=True)

    return generate


if __name__ == "__main__":
    serve(f"llama-cpp-python {llama_cpp.__version__}", load)
