# SPDX-License-Identifier: GPL-2.0-only
"""Further cases for cases.py: code whose functions have no names here."""
import perffile as pf
from cases import K, START, case, named, some, usual
from perffile import Event, Recording

CHAINS = pf.IP | pf.TID | pf.TIME | pf.CALLCHAIN | pf.PERIOD
K32 = 0xc0100000  # where kernels of 32 bits have their code


@case
def kernel_of_32_bits():
    # The mode of the CPU and the marker in the chain say that it is the kernel.
    cycles = Event("cycles", sample_type=CHAINS)
    rec = Recording(cycles, host={pf.ARCH: "armv7l", pf.OSRELEASE: "3.8.11"})
    named(rec)
    rec.mmap(1000, 0x10000, 0x3000, 0, "/opt/none/program", START - 1000)
    for i in range(10):
        ip = K32 + 0x40 * (i % 2)
        chain = [pf.CONTEXT_KERNEL, ip, K32 + 0x1000, pf.CONTEXT_USER, 0x10100]
        rec.sample(cycles, START + i * 1_000_000, ip, chain=chain)
    some(rec, cycles, 4, begin=START + 20_000_000, ips=(0x10200,), user=True,
         chain=[pf.CONTEXT_USER, 0x10200])
    return rec, rec.as_file()


@case
def libraries_without_symbols():
    cycles = Event("cycles", sample_type=CHAINS)
    rec = usual(cycles)
    for i, name in enumerate(("liba.so", "libb.so")):
        rec.mmap(1000, 0x10000 * (i + 1), 0x3000, 0x1000, "/opt/none/" + name, START - 1000)
    for i in range(12):
        ip = 0x10000 * (1 + i % 2) + 0x100 * (1 + i // 6)
        rec.sample(cycles, START + i * 1_000_000, ip, user=True, chain=[pf.CONTEXT_USER, ip])
    some(rec, cycles, 3, begin=START + 20_000_000, ips=(K + 0x1000,), chain=[pf.CONTEXT_KERNEL, K + 0x1000])
    return rec, rec.as_file()
