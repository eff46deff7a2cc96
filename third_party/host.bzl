"""@firn_host: the processor and the compiler of the machine that builds, as load()ed values.

NATIVE_MARCH is the x86-64 level of the processor, for builds that run on this processor alone. -march=native
tells the compiler more than that: each kind of processor would then compile different code, and a fault on one
kind would not show on any other.
"""

load("//third_party:compiler.bzl", "compiler_says", "compiler_takes")

# Names of /proc/cpuinfo, level by level, as device/cpu.cc asks the processor itself.
_LEVELS = [
    ("x86-64-v2", ["pni", "ssse3", "cx16", "sse4_1", "sse4_2", "popcnt", "lahf_lm"]),
    ("x86-64-v3", ["fma", "movbe", "avx", "f16c", "bmi1", "avx2", "bmi2", "abm"]),
    ("x86-64-v4", ["avx512f", "avx512dq", "avx512cd", "avx512bw", "avx512vl"]),
]

def _march(cpuinfo):
    flags = {}
    for line in cpuinfo.split("\n"):
        if line.startswith("flags"):
            flags = {flag: True for flag in line.split(" ")}
            break
    march = ""
    for name, needed in _LEVELS:
        if [flag for flag in needed if flag not in flags]:
            break
        march = name
    return march

# A pass of g++ 14 for aarch64 joins two loads to one. If it runs late, it confuses the two registers of a vector pair
# (TransformInput of tensor/kernels/cpu/winograd_image_transform.cc computes half of its channels wrong).
_NO_LATE_PAIRS = "-mno-late-ldp-fusion"

# g++ 12.2 for AVX-512 keeps the constant words of an initializer in one number of 256 bits or more, and gets it wrong:
# new std::vector<double>{1, 1, 0, 0} holds four ones (tests/device/constant_words_test.cc). Numbers of 128 bits, by
# which the other levels copy, are right. A vector that is copied by itself is still copied by one instruction.
_COPIES_BY_16_BYTES = ["-mmove-max=128", "-mstore-max=128"]

def _processor_copts(ctx, machine):
    of_machine = {"aarch64": [_NO_LATE_PAIRS], "x86_64": _COPIES_BY_16_BYTES}
    return [
        flag
        for name, flags in of_machine.items()
        for flag in flags
        if name in machine and compiler_takes(ctx, flag)
    ]

def _host_impl(ctx):
    cpuinfo = ctx.path("/proc/cpuinfo")
    machine = compiler_says(ctx, "-dumpmachine")
    x86_64 = "x86_64" in machine
    march = _march(ctx.read(cpuinfo)) if x86_64 and cpuinfo.exists else ""
    ctx.file("BUILD", "")
    ctx.file("defs.bzl", "\n".join([
        "NATIVE_MARCH = %r  # \"\": the compiler's default" % march,
        "X86_64 = %r  # whether that is what the compiler compiles for" % x86_64,
        "PROCESSOR_COPTS = %r  # what it has to be told for that" % _processor_copts(ctx, machine),
        "CLANG = %r  # whether the compiler is clang, else g++" % ("clang" in compiler_says(ctx, "--version")),
        "",
    ]))

firn_host = repository_rule(implementation = _host_impl, environ = ["CC"], local = True)
