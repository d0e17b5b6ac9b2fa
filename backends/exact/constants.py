#!/usr/bin/env python3
"""Prints internal/constants.h: the tables of the exact functions.

usage: constants.py > internal/constants.h
"""
import mpmath as mp

mp.mp.prec = 1600


def halves(n):
    return f"{{0x{n >> 64:016x}, 0x{n & (1 << 64) - 1:016x}}}"


def fixed(x, fraction_bits):
    return halves(int(mp.nint(x * mp.mpf(2)**fraction_bits)))


def wide(x):
    e = int(mp.floor(mp.log(x, 2)))
    return f"{{Bits{fixed(x, 127 - e)}.value(), {e}, false}}"


def table(doc, name, values):
    print(f"/// {doc}\nconstexpr Bits {name}[] = {{")
    rows = list(values)
    for i in range(0, len(rows), 4):
        print("    " + ", ".join(rows[i:i + 4]) + ",")
    print("};\n")


print("""// Tables of the exact functions, printed by constants.py.
#pragma once
#include "backends/exact/internal/wide.h"

namespace plumb::backends::exact {
""")
for name, value in (("log2_of_e", 1 / mp.log(2)), ("log10_of_e", 1 / mp.log(10)), ("ln2", mp.log(2)), ("third", mp.mpf(1) / 3), ("pi", mp.pi),
                    ("reciprocal_root_pi", 1 / mp.sqrt(mp.pi))):
    print(f"constexpr Wide {name}{wide(value)};")
print()
print("/// atan(j/4) for j = 1 … 4.")
print("constexpr Wide arctangents[] = {\n" + "".join(f"    {wide(mp.atan(mp.mpf(j) / 4))},\n" for j in range(1, 5)) + "};\n")
table("1/n!, in units of 2^-127.", "inverse_factorials", (fixed(1 / mp.factorial(n), 127) for n in range(34)))
table("1/(2n + 1), in units of 2^-127.", "odd_reciprocals", (fixed(1 / mp.mpf(2 * n + 1), 127) for n in range(27)))
table("2^(j/16), in units of 2^-127.", "roots_of_two", (fixed(mp.mpf(2)**(mp.mpf(j) / 16), 127) for j in range(16)))
bits = int(mp.floor(2 / mp.pi * mp.mpf(2)**(64 * 20)))
words = [0] + [bits >> 64 * (19 - i) & (1 << 64) - 1 for i in range(20)]
print("/// The bits of 2/pi, highest first, after 64 zeros.\nconstexpr u64 two_over_pi[] = {")
for i in range(0, len(words), 7):
    print("    " + ", ".join(f"0x{w:016x}" for w in words[i:i + 7]) + ",")
print("};\n\n}  // namespace plumb::backends::exact")
