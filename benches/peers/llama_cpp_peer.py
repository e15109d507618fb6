"""Generates with llama.cpp by its Python package, for `cargo xtask bench --peers`.

Everything is as llama.cpp's own defaults have it, but for the threads, for a batch that is as
large as the prompt, and for keys and values, which are stored in f32 beside weights in f32, and in
f16 beside all others.
"""

import ctypes
import json
import os
import sys
import tempfile

import llama_cpp
import numpy

import gguf_file
from protocol import serve

ERROR = 4


@llama_cpp.llama_log_callback
def report_errors(level, text, _):
    if level == ERROR:
        sys.stderr.write(text.decode(errors="replace"))


def load(folder, dtype, threads, scratch):
    llama_cpp.llama_log_set(report_errors, ctypes.c_void_p(0))
    llama_cpp.llama_backend_init()
    params = llama_cpp.llama_model_default_params()
    params.n_gpu_layers = 0
    # The file is in memory or mapped once the model is loaded, and then needs no name.
    with tempfile.TemporaryDirectory(dir=scratch, ignore_cleanup_errors=True) as own:
        path = os.path.join(own, "model.gguf")
        gguf_file.write(folder, dtype, path)
        model = llama_cpp.llama_model_load_from_file(path.encode(), params)
    if not model:
        raise SystemExit("llama.cpp could not load the model")
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
        vocab_size = json.load(file)["vocab_size"]
    contexts = {}

    def generate(prompt, new_tokens):
        # A context is as long as the text; it is made in the round that is not counted.
        shape = (len(prompt), new_tokens)
        if shape not in contexts:
            contexts[shape] = new_context(model, dtype, threads, *shape)
        return greedy(contexts[shape], vocab_size, prompt)

    return generate


def new_context(model, dtype, threads, prompt, new_tokens):
    params = llama_cpp.llama_context_default_params()
    params.n_ctx = prompt + new_tokens
    params.n_batch = params.n_ubatch = prompt
    params.n_threads = params.n_threads_batch = threads
    stored = llama_cpp.GGML_TYPE_F32 if dtype == "f32" else llama_cpp.GGML_TYPE_F16
    params.type_k = params.type_v = stored
    context = llama_cpp.llama_init_from_model(model, params)
    if not context:
        raise SystemExit("llama.cpp could not make a context")
    return context


def greedy(context, vocab_size, new):
    """Yields the most likely token, then the one after that, without an end."""
    llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(context), False)
    while True:
        ids = (llama_cpp.llama_token * len(new))(*new)
        outcome = llama_cpp.llama_decode(context, llama_cpp.llama_batch_get_one(ids, len(new)))
        if outcome != 0:
            raise SystemExit(f"llama_decode returned {outcome}")
        logits = llama_cpp.llama_get_logits_ith(context, -1)
        best = int(numpy.ctypeslib.as_array(logits, shape=(vocab_size,)).argmax())
        yield best
        new = [best]


if __name__ == "__main__":
    serve(f"llama.cpp by llama-cpp-python {llama_cpp.__version__}", load)
