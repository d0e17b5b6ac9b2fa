"""One case under one peer, ready to be measured again and again: `facts`, measure(seconds), close().

Torch's peers live in this process; JAX and Plumb in one of their own each, which answers a line a request.
"""
from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from typing import Any

import frameworks as fw
from case import COMPILE_MODES, MI, Case
from timing import event_batch, host_batch, input_sets, measure


@contextlib.contextmanager
def fresh_caches():
    """Empty Inductor and Triton caches while the body runs."""
    from torch._inductor.utils import fresh_cache

    with fresh_cache():
        yield


class TorchRunner:
    def __init__(self, case: Case, peer: str, device: str):
        self.cuda = device == "cuda"
        self.case, self.peer = case, peer
        self.facts: dict[str, Any] = {}
        self.work = case.torch_work()
        with self.scope():
            self.sets = input_sets(self.work, device)
            self.facts["input_sets"] = len(self.sets)
            self.call = self.callable()
            self.first_calls()

    @contextlib.contextmanager
    def scope(self):
        with fw.torch_tf32(self.case.dtype == "tf32"), fw.torch.set_grad_enabled(self.work.grad):
            yield

    def callable(self):
        work, peer = self.work, self.peer

        def compiler(fn, fullgraph=True):
            return fw.torch.compile(fn, fullgraph=fullgraph, dynamic=False, **COMPILE_MODES[peer])

        compiled = peer in COMPILE_MODES
        if work.assemble:
            fn = work.assemble(compiler if compiled else (lambda part, **_: part), peer)
        else:
            fn = work.variants.get(peer, work.fn)
            fn = compiler(fn) if compiled else fn
        if peer != "inductor-graphs":
            return lambda args: work.call(fn, args)

        def begin_step(args):
            fw.torch.compiler.cudagraph_mark_step_begin()
            return work.call(fn, args)

        return begin_step

    def sync(self):
        if self.cuda:
            fw.torch.cuda.synchronize()

    def first_calls(self):
        compiled = self.peer in COMPILE_MODES
        # On a CPU one cache serves the process: each case would else build the compiler's header anew.
        with fresh_caches() if compiled and self.cuda else contextlib.nullcontext():
            self.sync()
            begin = time.perf_counter()
            self.call(self.sets[0])
            self.sync()
            self.facts["compile_s" if compiled else "first_call_s"] = time.perf_counter() - begin
        self.call(self.sets[-1])
        if self.cuda:
            self.sync()
            fw.torch.cuda.reset_peak_memory_stats()
            before = fw.torch.cuda.memory_allocated()
            self.call(self.sets[0])
            self.sync()
            self.facts["peak_mib"] = (fw.torch.cuda.max_memory_allocated() - before) / MI

    def measure(self, seconds: float) -> dict[str, float]:
        run = lambda i: self.call(self.sets[i % len(self.sets)])
        with self.scope():
            if self.cuda:
                return measure(lambda count: event_batch(run, count), seconds)
            return measure(lambda count: host_batch(run, count, lambda _: None), seconds)

    def close(self):
        self.sets = self.call = self.work = None


class Served:
    """A program that answers each line on its standard input with a line of JSON."""

    def __init__(self, command: list[str]):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def answer(self) -> dict[str, Any]:
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(self.process.stderr.read().strip()[-300:] or "it ended")
        return json.loads(line)

    def ask(self, line: str) -> dict[str, Any]:
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.answer()
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer

    def end(self):
        self.process.stdin.close()
        self.process.wait(timeout=30)


class PlumbRunner:
    """`plumb bench CASE --serve`, where bench/programs has the case."""

    def __init__(self, case: Case, device: str, program: str, threads: int | None, contract: str):
        command = [program, "bench", case.id, "--target", device, "--contract", contract, "--serve"]
        self.served = Served(command + (["--threads", str(threads)] if threads else []))
        self.facts = self.served.answer()

    def measure(self, seconds: float) -> dict[str, float]:
        return self.served.ask(str(seconds))

    def close(self):
        self.served.end()


class JaxRunner:
    """A case in the JAX process, which all of its cases share: neither framework's memory pool meets the other's."""

    served: Served | None = None

    def __init__(self, case: Case, device: str, threads: int | None):
        if JaxRunner.served is None:
            JaxRunner.served = Served([sys.executable, __file__.replace("runners.py", "serve_jax.py"), device])
        self.facts = JaxRunner.served.ask(f"case {case.id}")

    def measure(self, seconds: float) -> dict[str, float]:
        return JaxRunner.served.ask(f"measure {seconds}")

    def close(self):
        JaxRunner.served.ask("drop")
