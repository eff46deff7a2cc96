#!/usr/bin/env python3
"""Checks the rules for the library's messages that a machine can check.

Finds every call that makes an error (InvalidArgument(...), file.DamagedAt(...), ...) in the sources and
holds its words against RULES. It reads the sources where they lie in the repository, which BUILD says by
the tag "external".
"""

import os
import re
import sys
import unittest

ROOT = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../..")
sys.path.insert(0, os.path.join(ROOT, "tools/scripts"))
from public_api import names, read, sources  # noqa: E402

# The functions of device/status_macros.h, and those of readers that put the file before the words.
CODES = ["InvalidArgument", "FailedPrecondition", "OutOfRange", "ResourceExhausted", "DataLoss", "NotFound",
         "Unimplemented", "Unavailable", "Internal"]
MAKERS = CODES + ["Damaged", "DamagedAt", "DamagedImage", "UnreadImage", "Unread", "Damage", "Bad", "BadTag",
                  "Refused", "UsageError"]
CALL = re.compile(r"\b(%s)\(" % "|".join(MAKERS))
# Words that mean something only to readers of the source.
INTERNAL = re.compile(r"\b(slab|impl|nullptr|errno|enum|struct|assert\w*|unreachable|thunk|refcount|functor|"
                      r"should not happen|internal error|bad input|illegal)\b", re.IGNORECASE)
PUBLIC = {name for name, _ in names(ROOT)}
# Places where messages begin without the file, by the beginning of the path, and the code that adds
# it.
NAMED_BY_CALLER = {
    "io/csv": "the line", "io/data/csv_": "the line", "io/data/internal/csv_": "the line or the table",
    "io/image/image.cc": "the image", "io/data/rows.cc": "the row",
    "io/nnabla/internal/nnabla_cache_index.cc": "the line",
    "io/internal/stored_elements.cc": "the reader", "io/monitors/series.cc": "the line",
    "io/json/internal/": "the reader", "io/safetensors/internal/": "the reader", "io/torch/internal/": "the reader",
    "io/nnabla_model/internal/": "the reader", "io/onnx/internal/": "the reader",
    "io/onnx/ops/": "the network, with the node",
    "io/captured/": "the exporter", "io/nnabla_network/internal/nnabla_export_graph.cc": "the exporter",
    "io/nnabla_model/nnb_write.cc": "SaveNnb",
    "io/monitors/event_messages.cc": "the record",
    "io/monitors/record_parsers.cc": "the record", "io/wire/internal/wire.cc": "the record",
    "io/graph/graph_file_check.cc": "the reader", "io/graph/graph_file_restore.cc": "the reader",
    "io/checkpoints/internal/checkpoint_folder.cc": "the folder stands in the words",
}
# These files are written, not read: the caller of the writer knows the path.
WRITERS = re.compile(r"io/\w+/(graph_file_(device|portable|write)|internal/(zip_writer|npy_header|ordered_prefetch))\.cc")
WRITES = re.compile(r"(JPEG|PNG): $|no memory to write")
# Limits that no option raises.
NO_OPTION = [
    r"no memory|out of memory|cannot start a thread|made to fail",  # of the machine
    r"cannot be written|message\(",  # of the disk
    r"^(: )?(JPEG|PNG|TIFF):$",  # of the library below, in its words
    r"4 GiB|share more than|length of the header|strings of",  # no sound file has it
    r"want at most|a record of more than|^(: )?more than \.\.\. (columns|files)$",  # of pages and listings
    r"fields in a record",  # the caller adds it
    r"calls of modules run inside each other",  # of the stack
    r"no room",  # of a page, which says what was left out
    r"reads of parameters is a formula",  # no published network comes near it
]


class Call:
    """One call that makes an error: its words, and the code between them."""

    def __init__(self, path, line, maker, text):
        self.path, self.line, self.maker = path, line, maker
        # An argument in brackets of its own belongs to the words around it, too.
        text = re.sub(r'"\s*\n?\s*"', "", text)
        parts = re.split(r'"((?:[^"\\]|\\.)*)"', text)
        self.code, self.words = " ".join(parts[0::2]), parts[1::2]
        self.begins_with_words = parts[0].strip() in ("", "absl::StrCat(")
        self.ends_with_words = re.fullmatch(r"[\s)]*", parts[-1]) is not None

    def __str__(self):
        return f"{self.path}:{self.line}: {self.maker}: {' ... '.join(self.words)}"


def end_of(text, at):
    """Where the bracket that was opened before `at` is closed."""
    depth = 1
    for m in re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)\'|[()]').finditer(text, at):
        depth += {"(": 1, ")": -1}.get(m[0], 0)
        if depth == 0:
            return m.start()
    return len(text)


def calls(path, text):
    text = re.sub(r"(?m)^ *//.*", "", text)
    end = 0
    for m in CALL.finditer(text):
        if m.start() < end:
            continue
        end = end_of(text, m.end())
        call = Call(path, text.count("\n", 0, m.start()) + 1, m[1], text[m.end():end])
        if call.words:
            yield call


def no_full_stop(c, _):
    """A message goes on behind "file: ", and others go on behind it."""
    more = c.words[-1].endswith("...") or c.words[-1] == ", "  # a name that was cut; absl::StrJoin's
    return c.ends_with_words and not more and re.search(r"([.!]|\s|\\n)$", c.words[-1]) is not None


def no_capital(c, functions):
    """A message begins small, unless with a name."""
    first = re.match(r"([A-Z][a-z]+)\b(?![.:(])", c.words[0])
    return c.begins_with_words and first is not None and first[1] not in functions


def nothing_internal(c, _):
    """A message is for who has never seen the source."""
    constants = re.findall(r"\bk[A-Z]\w+", " ".join(c.words))
    return any(INTERNAL.search(w) for w in c.words) or not PUBLIC.issuperset(constants)


def plain_grammar(c, _):
    """No word twice, no wrong article, no two blanks."""
    return any(re.search(r"\b([a-z]+) \1\b|\ban (?!nn\b)[bcdgjknpqtvwyz]|"
                         r"\ba ((?!one\b)[aeio][a-z]|un(?!i))|\S  +\S", w)
               for w in c.words)


def limit_has_option(c, _):
    """A limit says which option raises it."""
    if c.maker != "ResourceExhausted" or any("max_" in w for w in c.words):
        return False
    named = re.search(r"\boption\b", c.code)  # an argument, which says which
    text = " ... ".join(w.strip() for w in c.words)
    return not named and not any(re.search(p, text) or re.search(p, c.code) for p in NO_OPTION)


def file_is_named(c, _):
    """A reader's error begins with the file."""
    if not c.path.startswith("io/") or c.maker not in ("DataLoss", "Unimplemented", "ResourceExhausted"):
        return False
    return c.begins_with_words and not c.path.startswith(tuple(NAMED_BY_CALLER)) and \
        not WRITERS.match(c.path) and not WRITES.match(c.words[0])


RULES = [no_full_stop, no_capital, nothing_internal, plain_grammar, limit_has_option, file_is_named]


def functions_of(texts):
    """Names that begin with a capital and are called or declared somewhere: Step, Backward."""
    return set(re.findall(r"\b([A-Z][a-z]+)(?=[(<{]|::)", "\n".join(texts)))


def broken(path, text, functions=frozenset(["Step"])):
    return [rule.__name__ for c in calls(path, text) for rule in RULES if rule(c, functions)]


class RulesTest(unittest.TestCase):
    """Each rule finds what breaks it, and passes over what does not."""

    def test_messages_that_are_right(self):
        for text in ('InvalidArgument("k is ", k, " (want >= 1)")',
                     'InvalidArgument("Step reads the loss, so it cannot be captured")',
                     'InvalidArgument("padding kSame wants stride 1")',
                     'FailedPrecondition("x[...] = y would change an i64, a u8, a one, ...")',
                     'DataLoss(path, ": line ", n, ": expected a row")',
                     'ResourceExhausted(path, ": ", n, " bytes are more than the ", limits.max_bytes, '
                     '" allowed (limits.max_bytes)")',
                     'ResourceExhausted(name(), ": no memory to unpack gzip")',
                     '// DataLoss("Ends badly.")\n'):
            self.assertEqual(broken("io/x.cc", text), [], text)

    def test_messages_that_are_wrong(self):
        for rule, text in (("no_full_stop", 'InvalidArgument("k is wrong.")'),
                           ("no_full_stop", 'Damaged(name, at, "size", absl::StrCat(n, " bytes "))'),
                           ("no_full_stop", 'InvalidArgument("k is "\n    "wrong\\n")'),
                           ("no_capital", 'InvalidArgument("Kernel is ", k)'),
                           ("nothing_internal", 'InvalidArgument("impl is gone (", why, ")")'),
                           ("nothing_internal", 'Bad(at, "a slab of ", n)'),
                           ("nothing_internal", 'InvalidArgument("padding kSome wants stride 1")'),
                           ("plain_grammar", 'InvalidArgument("want a a number")'),
                           ("plain_grammar", 'InvalidArgument("want an number"'),
                           ("plain_grammar", 'InvalidArgument("this is a undefined tensor")'),
                           ("plain_grammar", 'InvalidArgument("two  blanks")'),
                           ("limit_has_option",
                            'ResourceExhausted(path, ": more than the ", limits.max_bytes, " allowed")'),
                           ("limit_has_option", 'ResourceExhausted(path, ": too large")'),
                           ("file_is_named", 'DataLoss("line ", n, ": expected a row")'),
                           ("file_is_named", 'Unimplemented("compression ", n)')):
            self.assertEqual(broken("io/x.cc", text), [rule], text)

    def test_only_readers_name_files(self):
        self.assertEqual(broken("tensor/x.cc", 'Unimplemented("takes no empty tensors")'), [])

    def test_a_call_ends_with_its_bracket(self):
        found = list(calls("x.cc", 'Bad(f(")"), \')\', "a"); g("b."); NotFound("c")'))
        self.assertEqual([c.words for c in found], [[")", "a"], ["c"]])


class MessagesTest(unittest.TestCase):

    def test_messages_keep_the_rules(self):
        paths = sources(ROOT) + [
            os.path.relpath(os.path.join(folder, name), ROOT)
            for folder, _, names in os.walk(os.path.join(ROOT, "tools/firn")) for name in names
            if re.search(r"\.(cc|h)$", name)]
        texts = {path: read(ROOT, path) for path in sorted(set(paths))}
        functions = functions_of(texts.values())
        all_calls = [c for path, text in texts.items() if path != "device/status_macros.h"
                     for c in calls(path, text)]
        self.assertGreater(len(all_calls), 900)
        for rule in RULES:
            with self.subTest(rule.__name__):
                found = [str(c) for c in all_calls if rule(c, functions)]
                self.assertFalse(found, f"{rule.__doc__}\n" + "\n".join(found))


if __name__ == "__main__":
    unittest.main()
