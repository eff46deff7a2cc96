"""Small images of every kind that Firn reads, and damaged copies of them. They are the same in every run.

TIFF, BMP, PNM and PNG are put together here, so that there are kinds that Pillow does not write.
"""

import io
import random
import struct
import zlib

from PIL import Image


def png_chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(width, height, bits, color_type, rows, chunks=(), interlace=0):
    header = struct.pack(">IIBBBBB", width, height, bits, color_type, 0, 0, interlace)
    pieces = zlib.compress(b"".join(b"\0" + row for row in rows), 9)
    half = len(pieces) // 2
    return (b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", header) + b"".join(chunks) +
            png_chunk(b"IDAT", pieces[:half]) + png_chunk(b"IDAT", pieces[half:]) +
            png_chunk(b"tEXt", b"k\0v") + png_chunk(b"IEND", b""))


def with_right_checksums(data):
    """A PNG whose chunks' checksums are right, so that what is within them is looked at."""
    out, at = bytearray(data), 8
    while at + 12 <= len(out):
        n = struct.unpack_from(">I", out, at)[0]
        if n > len(out) - at - 12:
            break
        struct.pack_into(">I", out, at + 8 + n, zlib.crc32(bytes(out[at + 4:at + 8 + n])))
        at += n + 12
    return bytes(out)


def tiff(tags, data, order="<"):
    """A classic TIFF: data at byte 8, then the directory. tags: {tag: (type, [values])}."""
    data += b"\0" * (len(data) % 2)
    directory = 8 + len(data)
    behind = directory + 2 + 12 * len(tags) + 4
    entries, values = b"", b""
    for tag, (kind, numbers) in sorted(tags.items()):
        packed = struct.pack(order + {1: "B", 3: "H", 4: "I"}[kind] * len(numbers), *numbers)
        entries += struct.pack(order + "HHI", tag, kind, len(numbers))
        if len(packed) <= 4:
            entries += packed.ljust(4, b"\0")
        else:
            entries += struct.pack(order + "I", behind + len(values))
            values += packed + b"\0" * (len(packed) % 2)
    head = (b"II" if order == "<" else b"MM") + struct.pack(order + "HI", 42, directory)
    return head + data + struct.pack(order + "H", len(tags)) + entries + bytes(4) + values


def strips(width, height, bits, samples, photometric, pieces, rows, order="<", more=None):
    offsets, at = [], 8
    for piece in pieces:
        offsets.append(at)
        at += len(piece)
    tags = {256: (3, [width]), 257: (3, [height]), 258: (3, [bits] * samples), 259: (3, [1]),
            262: (3, [photometric]), 273: (4, offsets), 277: (3, [samples]), 278: (3, [rows]),
            279: (4, [len(p) for p in pieces])}
    tags.update(more or {})
    return tiff(tags, b"".join(pieces), order)


def tiles(width, height, side, pieces, more):
    offsets, at = [], 8
    for piece in pieces:
        offsets.append(at)
        at += len(piece)
    tags = {256: (3, [width]), 257: (3, [height]), 258: (3, [8]), 259: (3, [1]), 262: (3, [1]),
            277: (3, [1]), 322: (3, [side]), 323: (3, [side]), 324: (4, offsets),
            325: (4, [len(p) for p in pieces])}
    tags.update(more)
    return tiff(tags, b"".join(pieces))


def pattern(n, seed):
    """The pattern is not quite regular, so that a piece at a wrong place shows."""
    return bytes((i * 7 + i * i // 5 + seed * 31) % 256 for i in range(n))


def picture(mode, width=13, height=11):
    n = {"1": 1, "L": 1, "LA": 2, "P": 1, "RGB": 3, "RGBA": 4, "CMYK": 4}[mode]
    if mode == "1":
        return Image.frombytes("L", (width, height), pattern(width * height, 3)).convert("1")
    if mode == "P":
        return Image.frombytes("RGB", (width, height), pattern(3 * width * height, 4)).quantize(16)
    return Image.frombytes(mode, (width, height), pattern(n * width * height, 5))


def saved(kind, image, **options):
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def bmp(width, height, bits, compression, data, palette=b"", masks=b""):
    at = 54 + len(masks) + len(palette)
    return (b"BM" + struct.pack("<IHHI", at + len(data), 0, 0, at) +
            struct.pack("<IiiHHIIiiII", 40, width, height, 1, bits, compression, len(data), 0, 0,
                        len(palette) // 4, 0) + masks + palette + data)


def bmp_rows(width, height, bits, seed):
    row = (width * bits + 31) // 32 * 4
    return b"".join(pattern((width * bits + 7) // 8, seed + y).ljust(row, b"\0")
                    for y in range(height))


def packbits(row):
    return bytes([len(row) - 1]) + row


def with_t4_options(data):
    """The TIFF with a tag that its codec, Group 4, does not have."""
    tags = Image.open(io.BytesIO(data)).tag_v2
    pieces = [data[at:at + n] for at, n in zip(tags[273], tags[279])]
    return strips(tags[256], tags[257], 1, 1, tags[262], pieces, tags[278],
                  more={259: (3, [4]), 292: (4, [0])})


def png_files():
    palette = png_chunk(b"PLTE", bytes(range(0, 48)))
    alpha = png_chunk(b"tRNS", bytes([0, 60, 120, 255]))
    row = lambda bits, y: pattern((13 * bits + 7) // 8, y)
    many = lambda bits: [row(bits, y) for y in range(7)]
    yield "png_grey", png(13, 7, 8, 0, many(8))
    yield "png_rgb", png(13, 7, 8, 2, many(24))
    yield "png_rgba", png(13, 7, 8, 6, many(32))
    yield "png_grey_alpha", png(13, 7, 8, 4, many(16))
    yield "png_grey_2", png(13, 7, 2, 0, many(2))
    yield "png_grey_16", png(13, 7, 16, 0, many(16))
    yield "png_rgb_16", png(13, 7, 16, 2, many(48))
    yield "png_palette", png(13, 7, 4, 3, many(4), [palette])
    yield "png_palette_alpha", png(13, 7, 2, 3, many(2), [palette, alpha])
    yield "png_key", png(13, 7, 8, 2, many(24), [png_chunk(b"tRNS", bytes([0, 1, 0, 2, 0, 3]))])


def tiff_files():
    for name, code, pack in (("none", 1, bytes), ("deflate", 8, lambda b: zlib.compress(b, 9))):
        two = lambda n: [pack(pattern(n, 1)), pack(pattern(n, 2))]
        how = {259: (3, [code])}
        yield f"tiff_grey_{name}", strips(9, 6, 8, 1, 1, two(27), 3, more=how)
        yield f"tiff_rgb_{name}", strips(9, 6, 8, 3, 2, two(81), 3, more=how)
        yield f"tiff_rgb_planes_{name}", strips(
            9, 3, 8, 3, 2, [pack(pattern(27, s)) for s in range(3)], 3,
            more={**how, 284: (3, [2])})
        yield f"tiff_grey16_big_{name}", strips(9, 6, 16, 1, 1, two(54), 3, ">", how)
        yield f"tiff_rgb16_planes_{name}", strips(
            5, 3, 16, 3, 2, [pack(pattern(30, s)) for s in range(3)], 3,
            more={**how, 284: (3, [2])})
        yield f"tiff_tiles_{name}", tiles(
            20, 18, 16, [pack(pattern(256, s)) for s in range(4)], how)
    differences = {259: (3, [8]), 317: (3, [2])}
    yield "tiff_differences", strips(9, 6, 8, 3, 2, [zlib.compress(pattern(162, 1))], 6,
                                     more=differences)
    yield "tiff_packbits", strips(9, 2, 8, 1, 1, [packbits(pattern(9, s)) for s in range(2)], 1,
                                  more={259: (3, [32773])})
    yield "tiff_palette", strips(9, 6, 4, 1, 3, [pattern(30, 7)], 6,
                                 more={320: (3, [v * 257 for v in pattern(48, 1)])})
    yield "tiff_cmyk", strips(9, 6, 8, 4, 5, [pattern(108, 1), pattern(108, 2)], 3)
    yield "tiff_ycbcr_deflate", strips(
        9, 6, 8, 3, 6, [zlib.compress(pattern(81, s), 9) for s in range(2)], 3,
        more={259: (3, [8]), 530: (3, [1, 1])})
    yield "tiff_bits", strips(9, 6, 1, 1, 0, [pattern(12, 7)], 6)
    yield "tiff_lzw", saved("TIFF", picture("RGB"), compression="tiff_lzw")
    yield "tiff_lzw_grey", saved("TIFF", picture("L"), compression="tiff_lzw")
    yield "tiff_g4", saved("TIFF", picture("1", 40, 16), compression="group4")
    yield "tiff_g4_with_t4_options", with_t4_options(saved(
        "TIFF", picture("1", 40, 16), compression="group4"))
    yield "tiff_g3", saved("TIFF", picture("1", 40, 16), compression="group3")
    yield "tiff_fax", saved("TIFF", picture("1", 40, 16), compression="tiff_ccitt")


def other_files():
    yield "gif", saved("GIF", picture("P"))
    yield "gif_large", saved("GIF", picture("P", 70, 60), interlace=0)
    yield "gif_interlaced", saved("GIF", picture("P"), interlace=1)
    yield "gif_transparent", saved("GIF", picture("P"), transparency=3)
    yield "jpeg_grey", saved("JPEG", picture("L"))
    yield "jpeg_rgb", saved("JPEG", picture("RGB", 33, 19), quality=60)
    yield "jpeg_progressive", saved("JPEG", picture("RGB", 33, 19), progressive=True)
    palette = b"".join(bytes([i, 255 - i, i * 7 % 256, 0]) for i in range(16))
    yield "bmp_1", bmp(13, 5, 1, 0, bmp_rows(13, 5, 1, 1), palette[:8])
    yield "bmp_4", bmp(13, 5, 4, 0, bmp_rows(13, 5, 4, 2), palette)
    yield "bmp_8", bmp(13, 5, 8, 0, bmp_rows(13, 5, 8, 3), palette * 16)
    yield "bmp_24", bmp(13, 5, 24, 0, bmp_rows(13, 5, 24, 4))
    yield "bmp_24_from_top", bmp(13, -5, 24, 0, bmp_rows(13, 5, 24, 4))
    yield "bmp_32", bmp(13, 5, 32, 0, bmp_rows(13, 5, 32, 5))
    yield "bmp_565", bmp(13, 5, 16, 3, bmp_rows(13, 5, 16, 5),
                         masks=struct.pack("<III", 0xf800, 0x7e0, 0x1f))
    runs = b"\x05\x01\x00\x03\x02\x03\x04\x00\x05\x06\x00\x00" * 4 + b"\x0d\x07\x00\x01"
    yield "bmp_runs", bmp(13, 5, 8, 1, runs, palette * 16)
    yield "pbm", b"P4 13 5\n" + pattern(10, 1)
    yield "pgm", b"P5 13 5 255\n" + pattern(65, 2)
    yield "ppm", b"P6 # c\n13 5 255\n" + pattern(195, 3)
    yield "pgm_16", b"P5 13 5 65535\n" + pattern(130, 4)


def files():
    """(kind, bytes), whole."""
    for some in (png_files, tiff_files, other_files):
        yield from some()


def damaged(kind, data, rounds):
    """Copies with one or two changes: bits, bytes, pieces left out or repeated, ends cut off."""
    for i in range(rounds):
        r = random.Random(f"{kind} {i}")
        out = bytearray(data)
        for _ in range(r.choice([1, 1, 2])):
            at = r.randrange(len(out))
            what = r.randrange(10)
            if what < 5:
                out[at] ^= 1 << r.randrange(8)
            elif what < 8:
                out[at] = r.choice([0, 1, 2, 127, 128, 255, r.randrange(256)])
            elif what == 8:
                n = 1 + r.randrange(4)
                if r.randrange(2):
                    del out[at:at + n]
                else:
                    out[at:at] = out[at:at + n]
            elif r.randrange(3) == 0:
                del out[max(at, 8):]
        out = bytes(out)
        yield with_right_checksums(out) if kind.startswith("png") and i % 2 else out
