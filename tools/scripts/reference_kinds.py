"""The contents of each page of docs/reference: a method of Kinds for each, used by reference_pages.py."""

import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import environment_variables  # noqa: E402
from header_docs import (Structs, comment_of, declared, declared_at, file_comment, first,  # noqa: E402
                         lines_of, options_cell, said, short, signature, things)
from operations_page import functions  # noqa: E402
from public_api import public_headers, reached, sources  # noqa: E402

UP = "../../"  # from there to the root
SCHEDULES = ("optim/schedule.h", "optim/scheduler.h")
# What optimizers are made of.
NOT_BESIDE_OPTIMIZERS = SCHEDULES + ("optim/registry.h", "optim/optimizer.h", "optim/rule_optimizer.h",
                                     "optim/unless.h")

# Codes that come from elsewhere than device/status_macros.h.
OTHER_CODES = {
    "kAborted": "Another rank failed: the text after `rank N gave up` is that rank's own error",
    "kDeadlineExceeded": "A rank, or a device that ranks share, did not answer within the timeout",
    "kPermissionDenied": "The system denies access to a file, or a cell of a CSV names a file outside of its folder",
    "kAlreadyExists": "A file that should be created exists already",
    "kCancelled": "Work on other threads was stopped because some of it failed; the error of that part is thrown instead",
    "kUnknown": "One of the program's own functions threw something other than a `firn::Error`",
}


def linked(path):
    return f"[{path}]({UP}{path})"


def table(head, rows):
    if not rows:
        return ""
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(cells) + " |\n" for cells in lines) + "\n"


def cell(text):
    return re.sub(r"(?<!\\)\|", r"\\|", text)


def listed(text):
    """[(kind, parts, [parts of the lines of options or arguments below it])]"""
    found = []
    for line in text.splitlines():
        kind, *parts = line.split("\t")
        if kind in ("option", "argument"):
            found[-1][2].append(parts)
        else:
            found.append((kind, parts, []))
    return found


def _option(name, default, comment):
    """What the registry of layers says of an option, and what its header says."""
    if default not in ("the first input tells", "undefined"):
        return name, default, comment
    return name, "", "; ".join(filter(None, ("from the first input" * (default != "undefined"), comment)))


def _footer(text):
    """What `firn COMMAND --help` ends with: text, and what is indented as code."""
    made, before = [], ""
    for line in re.sub(r"(?<=Example:) +(?=firn )", "\x1f  ", text).split("\x1f"):
        code = line.startswith("  ")
        if line.strip() and code != before:
            made.append("")
        before = code
        made.append("    " + line[2:] if code else line.strip().replace("<", "&lt;"))
    return "\n".join(made).strip("\n") + "\n\n" if text else ""


class Kinds:
    """Each page has a method, which gives its tables and how many rows they have."""

    def __init__(self, root, registries):
        self.root = root
        self.listed = listed(registries)
        self.headers = public_headers(root)
        self.structs = Structs(root, self.headers)
        self.functions = functions(root)  # {family: {name: (signatures, what it does)}}
        self.reached = reached(root)  # by firn.h

    def of_kind(self, kind):
        return [(parts, below) for k, parts, below in self.listed if k == kind]

    def in_folder(self, folder):
        return [p for p in self.headers if os.path.dirname(p) == folder and not p.endswith("_status.h")]

    # --- Layers and losses

    def _layer_declarations(self):
        return {short(d.name): d for path in self.in_folder("nn")
                for d in things(self.root, [path], "firn::nn", ("class", "struct", "alias"))}

    def _what_function_does(self, name):
        return next((found[name][1] for found in self.functions.values() if name in found), "")

    def _layer_text(self, name, d, among):
        own = said(self.root, d)
        target = declared_at(lines_of(self.root, d.path), d.line) if d.kind == "alias" else ""
        function = re.search(r"firn::(\w+)", target)
        does = self._what_function_does(function[1]) if function else ""
        if does:
            return does + (f". {own}" if own else "")
        behind = [among[t] for t in d.types if d.kind == "alias" and t in among and among[t].path == d.path]
        texts = [own, *(said(self.root, t) for t in behind), self._what_function_does(name)]
        return next(filter(None, texts), "") or first(file_comment(lines_of(self.root, d.path)))

    def _layer_options(self, name, d, options):
        text = " ".join(lines_of(self.root, d.path))
        words = re.findall(r"\w+", declared_at(lines_of(self.root, d.path), d.line))
        words += re.findall(rf"class {name} [^{{]*?LayerWithOptions<(\w+)", text)
        for t in words[:]:
            words += re.findall(rf"struct {t} {{[^}}]*?using Options = (?:\w+::)*(\w+);", text)
            words += [t + "Options"]
        known = {}
        for word in [name + "Options", *words]:
            for field, _, comment in self.structs.fields(word):
                known.setdefault(field, comment)
        return [_option(name, default, known.get(name, "")) for name, default in options]

    def _layers(self, wanted):
        among, text, count = self._layer_declarations(), "", 0
        rows = {}
        for (name,), options in self.of_kind("layer"):
            d = among[name]
            if wanted(d.path):
                does = self._layer_text(name, d, among)
                rows.setdefault(d.path, []).append(
                    (f"`{name}`", does, cell(options_cell(self._layer_options(name, d, options)))))
        for path in sorted(rows):
            heading = os.path.splitext(os.path.basename(path))[0].replace("_", " ")
            text += f"## {heading.capitalize()}\n\n{linked(path)}\n\n"
            text += table(("layer", "what it gives", "options"), rows[path])
            count += len(rows[path])
        return text, count

    def layers(self):
        return self._layers(lambda path: path != "nn/loss.h")

    def losses(self):
        return self._layers(lambda path: path == "nn/loss.h")

    # --- What headers declare

    def _takes(self, d):
        """The fields of the struct of options that a function, or a class's constructor, takes."""
        declared_here = [d] if d.kind == "function" else [
            c for c in declared(self.root, d.path)
            if c.kind == "constructor" and c.name == f"{d.name}::{short(d.name)}"]
        words = [w for c in declared_here for a in c.arguments for w in re.findall(r"\w+Options\b", a)]
        return next(filter(None, map(self.structs.fields, words)), [])

    def _rows(self, found):
        rows = []
        for d in found:
            lines = lines_of(self.root, d.path)
            name = f"`{short(d.name)}`"
            if d.kind == "function":
                name = signature(declared_at(lines, d.line)).replace(" -> void", "")
            rows.append((cell(name), self._text(d), cell(options_cell(self._takes(d))), linked(d.path)))
        return rows

    def _text(self, d):
        """The first sentence of its own comment, else that of the first in its group, else that of its header."""
        lines = lines_of(self.root, d.path)
        at = d.line
        while not comment_of(lines, at) and at > 1 and lines[at - 2].strip():
            at -= 1
        return first(comment_of(lines, at)) or first(file_comment(lines))

    def _declared(self, found):
        return table(("name", "what it gives", "options", "header"), self._rows(found)), len(found)

    def optimizers(self):
        paths = self.in_folder("optim")
        named = things(self.root, paths, "firn::optim", ("class", "alias"))
        by_name = {short(d.name).lower(): d for d in named}
        rows, taken = [], set()
        for (name,), options in self.of_kind("optimizer"):
            d = by_name[name.replace("_", "")]
            taken.add(short(d.name))
            struct = self.structs.find(short(d.name) + "Options")
            comments = {field: comment for field, _, comment in self.structs.fields(short(d.name) + "Options")}
            text = re.sub(r"Options of .*?\w: ", "", first(comment_of(lines_of(self.root, struct.path), struct.line)))
            text = text or said(self.root, d)
            rows.append((f"`{short(d.name)}`", f"`{name}`", text[0].upper() + text[1:],
                         cell(options_cell([(o, default, comments.get(o, "")) for o, default in options])),
                         linked(d.path)))
        others = [d for d in things(self.root, paths, "firn::optim", ("class", "function"))
                  if d.path in self.reached and d.path not in NOT_BESIDE_OPTIMIZERS and
                  short(d.name) not in taken and said(self.root, d)]
        text, count = self._declared(others)
        return (table(("class", "by name", "what it is", "options", "header"), rows) + "## Other tools for optimizers\n\n" + text,
                len(rows) + count)

    def schedules(self):
        return self._declared(things(self.root, SCHEDULES, "firn::optim", ("class", "function")))

    def initializers(self):
        return self._declared([d for d in things(self.root, ["nn/init.h"], "firn::nn::init", ("function",))
                               if d.types == ["Initializer"]])

    def metrics(self):
        paths = self.in_folder("io/metrics")
        found = [d for d in things(self.root, paths, "firn::io", ("class",))
                 if any(m.name == f"{d.name}::Update" for m in declared(self.root, d.path))]
        return self._declared(found)

    def transforms(self):
        return self._declared(things(self.root, self.in_folder("io/data/transforms"), "firn::io", ("function",)))

    def datasets(self):
        paths = self.in_folder("io/data") + ["io/nnabla/nnabla_cache.h"]
        made = re.compile("DatasetPtr|ImageFolderDataset|NnablaCache|EpochOrder|Collate|Sample")
        found = [d for d in things(self.root, paths, "firn::io", ("class", "function"))
                 if short(d.name) == "DataLoader" or d.kind == "function" and any(map(made.fullmatch, d.types))]
        return self._declared(found)

    def training(self):
        loops = things(self.root, ["fit.h", "evaluate.h"], "firn", ("function",))
        frozen = next(d for d in things(self.root, ["autograd/graph/static_graph.h"], "firn", ("function",))
                      if short(d.name) == "Freeze")
        classes = [d for path, scope in (("nn/static_module.h", "firn::nn"),
                                         ("io/checkpoints/checkpoint_manager.h", "firn::io"))
                   for d in things(self.root, [path], scope, ("class",)) if self._takes(d)]
        options = cell(options_cell(self.structs.fields("CompileOptions")))
        rows = self._rows(loops)
        rows.append(("`Freeze(options, fn, inputs...)`", self._text(frozen), options, linked(frozen.path)))
        rows += self._rows(classes)
        return table(("name", "what it gives", "options", "header"), rows), len(rows)

    # --- Registries of io and of the command line

    def formats(self):
        pages = {}
        for path in sources(self.root):
            if path.startswith("io/") and path.endswith(".cc"):
                text = "\n".join(lines_of(self.root, path))
                for body in text.split("FIRN_FILE_FORMAT(")[1:]:
                    pages.update({name: path for name in re.findall(r"\.name = \"([^\"]+)\"", body)[:1]})
        rows, foreign = [], []
        for (name, holds, suffixes, read, reads, writes, instead), _ in self.of_kind("format"):
            path = linked(os.path.dirname(pages[name])) if name in pages else ""
            if instead:
                foreign.append((name, holds, cell(instead)))
            else:
                read = ", ".join(s for s in read.split(", ") if s and s not in suffixes.split(", "))
                also = f"; read as {read}" if read else ""
                rows.append((name, holds, suffixes + also, reads or "-", writes or "-", path))
        return (table(("format", "holds", "names end in", "is read as", "is written from", "folder"), rows) +
                "## Recognised, but not read\n\n" + table(("format", "holds", "instead"), foreign), len(rows) + len(foreign))

    def commands(self):
        where = {}
        for name in sorted(os.listdir(os.path.join(self.root, "tools/firn"))):
            if name.endswith(".cc"):
                text = "\n".join(lines_of(self.root, f"tools/firn/{name}"))
                for group, command in re.findall(r"^FIRN_(?:SUB)?COMMAND\((?:(\w+), )?(\w+),\s", text, re.M):
                    where[" ".join(filter(None, (group, command))).replace("_", "-")] = f"tools/firn/{name}"
        text, count = "", 0
        for (name, summary, footer), arguments in self.of_kind("command"):
            # CLI11 says what a flag that begins with no- sets: --no-labels{false}.
            rows = [(f"`{re.sub(r'{false}$', '', names)}`", re.sub(r"^(\w+):\1 ", r"\1 ", kind), *parts) for names, kind, *parts in arguments]
            text += f"## firn {name}\n\n{summary}. {linked(where[name])}\n\n"
            text += table(("argument", "type", "default", "needed", "what it does"),
                          [tuple(cell(c) for c in row) for row in rows])
            text += _footer(footer)
            count += 1
        return text, count

    # --- The environment, and errors

    def environment(self):
        return environment_variables.page(self.root, table, cell, linked)

    def errors(self):
        path = "device/status_macros.h"
        rows = [(f"`k{short(d.name)}`", said(self.root, d)) for d in things(self.root, [path], "firn", ("function",))]
        rows += [(f"`{code}`", text) for code, text in OTHER_CODES.items()]
        return table(("code", "when"), rows), len(rows)
