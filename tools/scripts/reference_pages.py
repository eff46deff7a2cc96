#!/usr/bin/env python3
"""docs/reference: what layers, losses, optimizers and so on there are, a page for each kind.

    tools/scripts/reference_pages.py LIST             says which pages are not what they should be
    tools/scripts/reference_pages.py LIST --write     writes them

LIST is what `bazel run //tests/docs:list_registries` prints of the registries: layers, optimizers, formats and
commands. What they do, and all other pages, comes from the comments of headers and, for variables of the environment,
of the sources that read them. No page is written by hand.
"""

import argparse
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from reference_kinds import Kinds, table  # noqa: E402

FOLDER = "docs/reference"
COMMAND = ("bazel run //tests/docs:list_registries > /tmp/registries && "
           "tools/scripts/reference_pages.py /tmp/registries --write")
PAGES = {
    "layers": ("Layers", """\
`nn::Conv2d conv({.out = 32, .kernel = 3});`, or `Add<nn::Conv2d>("conv", {.out = 32})` in a module, or by name:
`nn::MakeLayer("Conv2d", {{"out", "32"}})`. You may leave out an option that the first input determines. Only the header
lists options that are initializers, such as `weight_init`."""),
    "losses": ("Losses", """\
Each loss is a layer, called with (input, target) unless its row says otherwise. [Operations](../operations.md#loss)
lists the same losses as functions."""),
    "optimizers": ("Optimizers", """\
`optim::Adam adam(net.parameters(), {.lr = 1e-3});`, or by the name in the second column:
`optim::ConfigureOptimizer("adam", options)`, and `"optimizer": {"name": "adam"}` in the file of `firn train`. The
headers give the formulas."""),
    "schedules": ("Schedules of learning rates", """\
Make `optim::Scheduler scheduler(adam, optim::CosineLr({.steps = 1000}));` and call `scheduler.Step()` after each step
of the optimizer; `FitOptions::schedule` takes a schedule, too. Any function `double(int64_t step, double base_lr)` is a
schedule."""),
    "initializers": ("Initial values", """\
An initializer is an option of a layer, such as `.weight_init = nn::init::KaimingNormal()`. Called with a tensor, it
fills it: `nn::init::Constant(1)(net.fc.weight())`."""),
    "training": ("Training and freezing", """\
`Fit(net, adam, train, {.epochs = 10, .folder = "run"});` is a whole run, `Evaluate(net, test)` a validation; both use
only what any program can use. `Freeze` makes a graph of a function, and of a whole training step."""),
    "metrics": ("Metrics", """\
`io::Accuracy accuracy; accuracy.Update(net(images), labels); accuracy.Value();`, or `Evaluate(net, test, {.metric =
io::Accuracy()})`. All of them take batches of any size, and `io::MergeRanks` combines the results of several ranks."""),
    "transforms": ("Transforms of images", """\
A `DataLoader` applies one to each sample: `.transform = io::Compose({io::RandomHorizontalFlip(), io::ToFloat()})`."""),
    "datasets": ("Data sets", """\
`io::DataLoader train(io::ImageFolder("photos"), {.batch = 64, .shuffle = true});` loops over a data set in batches."""),
    "formats": ("Formats of files", """\
`io::Load`, `io::Save`, cells of CSV data sets and the commands of `firn` use these formats. The end of a file's name
chooses the format to write; the contents of a file tell the format to read. `io::RegisterFormat` adds a program's own
format ([io/formats/formats.h](../../io/formats/formats.h))."""),
    "commands": ("Commands", """\
Every command of `firn` takes `--help`, which says the same, and `--json`, which prints its result as one JSON value.
Exit status: 0 for success, 1 if something is wrong, 2 for an invalid command line."""),
    "environment": ("Environment variables", """\
Firn and the programs that belong to it read these. An invalid value is reported on stderr and treated as unset.
OpenMP's own variables (`OMP_NUM_THREADS`, `OMP_PROC_BIND`) are obeyed as well."""),
    "errors": ("Error codes", """\
Functions throw `firn::Error` on a caller's mistake, a damaged file or a failed resource
([tensor/error.h](../../tensor/error.h)). `what()` names the operation or the module, what was expected and what came.
`code()` is one of these codes of `absl::StatusCode` (`absl/status/status.h`). Functions called `Try...` return the code
in an `absl::Status` instead of throwing. After an error, nothing has changed."""),
}
HELD = f"""\
This page is printed from the registries, the headers and the sources, and a test compares it. To print it again:

    {COMMAND}
"""


def printed(root, registries):
    """{path: what the page should be}"""
    kinds = Kinds(root, registries)
    found, rows = {}, []
    for name, (title, intro) in PAGES.items():
        text, count = getattr(kinds, name)()
        found[f"{FOLDER}/{name}.md"] = f"# {title}\n\n{intro}\n\n{HELD}\n{text.rstrip()}\n"
        rows.append((f"[{title}]({name}.md)", str(count)))
    index = table(("page", "rows"), rows + [("[Operations](../operations.md), every function on tensors", "")])
    found[f"{FOLDER}/README.md"] = (
        "# Reference\n\nEach page lists all things of one kind with their options and defaults.\n\n"
        + index.rstrip() + "\n")
    return found


def main():
    parser = argparse.ArgumentParser(description="The pages of docs/reference.")
    parser.add_argument("list", help="what //tests/docs:list_registries printed")
    parser.add_argument("--write", action="store_true", help=f"into {FOLDER}")
    arguments = parser.parse_args()
    root = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../.."))
    with open(arguments.list, encoding="utf-8") as file:
        pages = printed(root, file.read())
    os.makedirs(os.path.join(root, FOLDER), exist_ok=True)
    changed = []
    for path, text in pages.items():
        there = os.path.join(root, path)
        if not os.path.exists(there) or open(there, encoding="utf-8").read() != text:
            changed.append(path)
            if arguments.write:
                with open(there, "w", encoding="utf-8") as file:
                    file.write(text)
    print("\n".join(("written: " if arguments.write else "not as it should be: ") + path for path in changed)
          or "all pages are as they should be")
    sys.exit(bool(changed and not arguments.write))


if __name__ == "__main__":
    main()
