"""Runs the plumb command for tests, and collects what went wrong."""
import json
import os
import re
import resource
import struct
import subprocess
import sys
import tempfile
import pathlib

RESULT = re.compile(r"^RESULT (pass|fail|unsupported) kernels=\d+ elements=\d+ decided=\d+(\.\d+)?%$")


class Suite:
    def __init__(self):
        self.plumb, self.source = sys.argv[1], pathlib.Path(sys.argv[2])
        self.problems = []
        self.sanitized = "PLUMB_SANITIZED" in os.environ  # AddressSanitizer needs more address space than a limit leaves it
        self.folder = tempfile.TemporaryDirectory()
        self.dir = pathlib.Path(self.folder.name)

    def run(self, *args, expect=None, timeout=300, limit=None):
        """limit: bytes of memory that the command may have."""
        bound = (lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))) if limit else None
        p = subprocess.run([self.plumb, *map(str, args)], capture_output=True, text=True, timeout=timeout, cwd=self.dir, preexec_fn=bound)
        if self.sanitized:  # the sanitizer remarks on each allocation that fails
            p.stderr = "".join(line for line in p.stderr.splitlines(True) if not re.match(r"==\d+==WARNING", line))
        what = "plumb " + " ".join(map(str, args))
        if expect is not None:
            self.check(p.returncode == expect, f"{what}: exit {p.returncode}, not {expect}\n{p.stdout}{p.stderr}")
        self.check(p.returncode in (0, 1, 2, 3), f"{what}: exit {p.returncode}: a crash\n{p.stderr}")
        for word in ("terminate called", "Assertion", "what():", "Segmentation"):
            self.check(word not in p.stderr, f"{what}: says '{word}'")
        return p

    def check(self, holds, message):
        if not holds:
            self.problems.append(message)
        return holds

    def result(self, p, verdict):
        """The RESULT line is the last one, well formed, and says `verdict`."""
        lines = p.stdout.splitlines()
        last = lines[-1] if lines else ""
        self.check(RESULT.match(last), f"{p.args}: the last line is '{last}'")
        self.check(last.startswith(f"RESULT {verdict} "), f"{p.args}: '{last}', not {verdict}")
        self.check(sum(l.startswith("RESULT") for l in lines) == 1, f"{p.args}: more than one RESULT line")

    def json(self, p):
        try:
            return json.loads(p.stdout)
        except ValueError as e:
            self.check(False, f"{p.args}: not one JSON object: {e}\n{p.stdout[:500]}")
            return {}

    def write(self, name, text):
        path = self.dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def npy(self, name, shape, values, code="f", descr="<f4"):
        header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''}), }}"
        header += " " * (-(len(header) + 11) % 64) + "\n"
        data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}{code}", *values)
        return self.write(name, data)

    def read_npy(self, path, code="f"):
        data = pathlib.Path(path).read_bytes()
        start = 10 + struct.unpack("<H", data[8:10])[0]
        return list(struct.unpack(f"<{(len(data) - start) // struct.calcsize(code)}{code}", data[start:]))

    def finish(self):
        self.folder.cleanup()
        for p in self.problems:
            print("FAILED:", p)
        print(f"{len(self.problems)} problems")
        sys.exit(1 if self.problems else 0)
