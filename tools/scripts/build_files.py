"""What BUILD files say of folders: what they are for and, by the package groups of the root, which may use which.

A folder X with a group X_users may be used by those whom the group names (architecture.py draws them).
"""

import ast
import os
import re


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Builds:
    """What BUILD files below a folder say. Starlark is read as the Python that it looks like."""

    def __init__(self, root):
        self.texts = {}
        for folder, below, files in os.walk(root):
            below[:] = sorted(name for name in below if not name.startswith((".", "bazel-")))
            if "BUILD" in files:
                package = "" if folder == root else os.path.relpath(folder, root)
                self.texts[package] = read(os.path.join(folder, "BUILD"))

    def summary(self, package):
        """The first sentence of the comment that a BUILD file begins with."""
        comment = re.match(r"(?:#.*\n)*", self.texts[package])[0]
        words = " ".join(line.lstrip("# ") for line in comment.splitlines())
        return re.split(r"(?<=\.) ", words)[0].rstrip(".")

    def parts(self, folder):
        """Packages one folder below."""
        return sorted(package for package in self.texts if os.path.dirname(package) == folder)

    def uses(self, package):
        """Packages that rules of `package` or of those below name among their sources and dependencies."""
        found = set()
        for name, text in self.texts.items():
            if name == package or name.startswith(package + "/"):
                for node in ast.walk(ast.parse(text)):
                    if isinstance(node, ast.keyword) and node.arg and node.arg.endswith("deps"):
                        found.update(label[2:].split(":")[0] for label in strings(node.value) if label.startswith("//"))
        return found

    def groups(self):
        """name -> (packages, names of included groups), of the root's package groups."""
        found = {}
        for node in ast.walk(ast.parse(self.texts[""])):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "package_group":
                said = {keyword.arg: strings(keyword.value) for keyword in node.keywords}
                found[said["name"][0]] = (said.get("packages", []), [name[1:] for name in said.get("includes", [])])
        return found


def strings(tree):
    return [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def folder_of(label):
    """The folder of "//folder/..." or "//folder/part"."""
    return label.lstrip("-/").split("/")[0]


def whole(groups, name):
    """Folders all of which a group names, or one that it includes."""
    packages, includes = groups[name]
    found = {folder_of(label) for label in packages if label.endswith("/...") and label.count("/") == 3}
    return found.union(*[whole(groups, include) for include in includes])


def may_use(builds):
    """folder -> folders that it may use, itself left out, of those that have a group."""
    groups = builds.groups()
    folders = [name[:-len("_users")] for name in groups if name.endswith("_users") and name[:-len("_users")] in builds.texts]
    return {folder: {other for other in folders if other != folder and folder in whole(groups, other + "_users")}
            for folder in folders}


def floors(uses):
    """folder -> its floor: 0 uses nothing, others stand one above the highest that they use."""
    found = {}
    while len(found) < len(uses):
        ready = [folder for folder in uses if folder not in found and uses[folder] <= set(found)]
        if not ready:
            raise ValueError("they may use each other: " + ", ".join(sorted(set(uses) - set(found))))
        for folder in ready:
            found[folder] = 1 + max((found[other] for other in uses[folder]), default=-1)
    return found


def exceptions(builds, uses):
    """(user, how many of its folders, folder, part): users of a part of a folder on which they do not stand."""
    found = []
    for name, (packages, _) in builds.groups().items():
        match = re.fullmatch(r"([a-z]+)_(\w+)_users", name)
        if match and match[1] in uses:
            users = [folder_of(label) for label in packages]
            found += [(user, users.count(user), match[1], match[2]) for user in sorted(set(users))
                      if user in uses and user != match[1] and match[1] not in uses[user]]
    return found


def columns(uses):
    """folder -> (first, last) of the columns that it fills. Each folder that no other uses has one column."""
    ends = [folder for folder in uses if not any(folder in others for others in uses.values())]
    ends.sort(key=lambda folder: (-len(uses[folder]), folder))
    spans = {}
    for folder in uses:
        over = [i for i, end in enumerate(ends) if folder == end or folder in uses[end]]
        if over != list(range(over[0], over[-1] + 1)):
            raise ValueError(f"{folder} is used by {[ends[i] for i in over]}, which do not stand side by side")
        spans[folder] = (over[0], over[-1])
    return spans, len(ends)


def chain(builds, folder):
    """Parts of a folder in the order in which one uses the next, or [] if that is not one line."""
    parts = [part for part in builds.parts(folder) if not part.endswith("/testing")]
    uses = {part: {other for other in parts if other != part and
                   any(used == other or used.startswith(other + "/") for used in builds.uses(part))} for part in parts}
    used = [part for part in parts if uses[part] or any(part in others for others in uses.values())]
    order = sorted(used, key=lambda part: -len(uses[part]))
    for i, part in enumerate(order):
        if uses[part] != set(order[i + 1:]):
            return []
    return order if len(order) > 2 else []
