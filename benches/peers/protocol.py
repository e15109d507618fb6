"""What the peers in Python have in common: their arguments, and the lines they read and write.

    python PEER.py --version
    python PEER.py FOLDER f32|f16 THREADS SCRATCH

The first prints what to call the peer, and fails where one of its packages is missing. The second
loads the model folder, then answers lines with lines, both JSON, as `src/main.rs` does: a line
asks for a generation, `{"prompt": [ids], "new_tokens": n}`, and the answer says how long it took,
`{"prefill": seconds, "decode": seconds, "ids": [ids]}`. SCRATCH is a folder for large files that
nobody needs later.
"""

import json
import sys
import time


def serve(name, load):
    """Runs a peer. `load` takes the folder, the type, the threads and the folder for large files,
    and returns a function from the ids of a prompt to an endless generator of new ones."""
    if sys.argv[1:] == ["--version"]:
        print(name)
        return
    folder, dtype, threads, scratch = sys.argv[1:]
    generate = load(folder, dtype, int(threads), scratch)
    for line in sys.stdin:
        print(json.dumps(measure(generate, json.loads(line))), flush=True)


def measure(generate, workload):
    """The first new token belongs to prefill."""
    start = time.perf_counter()
    tokens = generate(workload["prompt"], workload["new_tokens"])
    ids = [next(tokens)]
    first = time.perf_counter()
    ids.extend(next(tokens) for _ in range(workload["new_tokens"] - 1))
    end = time.perf_counter()
    return {"prefill": first - start, "decode": end - first, "ids": ids}
