#!/usr/bin/env python3
"""What tools/scripts/mutate changes, and what it leaves alone: python3 tests/tools/scripts/mutations_test.py"""

import contextlib
import importlib.machinery
import importlib.util
import io
import itertools
import os
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

TOOLS = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../../tools/scripts")
sys.path.insert(0, TOOLS)
import mutations  # noqa: E402

_LOADER = importlib.machinery.SourceFileLoader("mutate", os.path.join(TOOLS, "mutate"))
mutate = importlib.util.module_from_spec(importlib.util.spec_from_loader("mutate", _LOADER))
sys.dont_write_bytecode = True
_LOADER.exec_module(mutate)


def changed(text, kind):
    """Every text that a mutation of `kind` makes of `text`."""
    return [mutations.apply(text, m) for m in mutations.mutations(text) if m.kind == kind]


def in_function(statement):
    return f"void F() {{ {statement} }}"


class MutationsTest(unittest.TestCase):

    def assert_changes(self, kind, statement, *expected):
        self.assertEqual(changed(in_function(statement), kind), [in_function(e) for e in expected])

    def test_comparisons(self):
        for old, new in (("<", "<="), ("<=", "<"), (">", ">="), (">=", ">"), ("==", "!="),
                         ("!=", "==")):
            self.assert_changes("comparison", f"if (a {old} b) G();", f"if (a {new} b) G();")

    def test_angles_of_templates_are_no_comparisons(self):
        self.assert_changes("comparison", "std::vector<std::pair<int, T>> v = f<3>(x);")
        for text in ("template <class T, int N = 3, bool B = true> struct A;",
                     "extern template class A<int, 3, true>;"):
            self.assertEqual(mutations.mutations(text), [])

    def test_what_only_costs_time_is_left_alone(self):
        for statement in ("v.reserve(a + b * 2);", "x[0].v.reserve(n);"):
            self.assert_changes("arithmetic", statement)
            self.assert_changes("statement", statement)
            self.assert_changes("integer", statement)
        self.assert_changes("integer", "absl::InlinedVector<std::pair<int, A<2>>, 4> v;")
        self.assert_changes("integer", "absl::InlinedVector<T, kN + 1> v(2);",
                            "absl::InlinedVector<T, kN + 1> v(1);",
                            "absl::InlinedVector<T, kN + 1> v(3);")

    def test_arithmetic(self):
        self.assert_changes("arithmetic", "x = a + b * c;", "x = a - b * c;", "x = a + b + c;")
        self.assert_changes("arithmetic", "x += a / b;", "x -= a / b;", "x += a * b;")

    def test_pointers_references_and_signs_are_no_arithmetic(self):
        self.assert_changes("arithmetic", "const T* p = &x; T&& y = -*p; ++i; z = Op(operator+);")

    def test_logic_and_negation(self):
        self.assert_changes("logic", "r = !a && b || c;", "r = !a || b || c;", "r = !a && b && c;")
        self.assert_changes("negation", "r = !a != b;", "r = a != b;")
        self.assertEqual(changed("struct A { void operator=(int) && { x(); } };", "logic"), [])

    def test_constants_and_jumps(self):
        self.assert_changes("constant", "x = true;", "x = false;")
        self.assert_changes("jump", "while (a) break;", "while (a) continue;")

    def test_integers_go_up_and_down_and_never_below_zero(self):
        self.assert_changes("integer", "x = 16u;", "x = 15u;", "x = 17u;")
        self.assert_changes("integer", "x = 0;", "x = 1;")
        self.assert_changes("integer", "x = 0x1F + 1'000;", "x = 0x1e + 1'000;",
                            "x = 0x20 + 1'000;", "x = 0x1F + 999;", "x = 0x1F + 1001;")
        self.assert_changes("integer", "x = 1.5 + 2e3f;")
        self.assertEqual(changed("struct A { virtual int F() const = 0; };", "integer"), [])

    def test_neighbouring_arguments_are_exchanged(self):
        self.assert_changes("arguments", "G(a, h(b, c), a);", "G(h(b, c), a, a);", "G(a, a, h(b, c));",
                            "G(a, h(c, b), a);")
        self.assertEqual(changed("void G(const T& a, int b);", "arguments"), [])
        self.assert_changes("arguments", "G(a, a); if (a) return;")

    def test_calls_are_left_out(self):
        self.assert_changes("statement", "a.b(c); if (d) E(f);", "; if (d) E(f);",
                            "a.b(c); if (d) ;")
        self.assert_changes("statement", "FIRN_RETURN_IF_ERROR(Check(x));", ";")

    def test_declarations_and_assignments_are_no_calls(self):
        self.assert_changes("statement", "Foo x(1); Foo<int> y(2); x = G(); return G(); x += H();"
                            " for (int i = 0; More(i); ++i) {}")
        self.assertEqual(changed("class A { Tensor G(); int F(int x); A(); };", "statement"), [])

    def test_functions_with_a_status_return_at_once(self):
        text = "absl::Status A::Check(int a) const { return B(a); }"
        self.assertEqual(changed(text, "return"), [
            "absl::Status A::Check(int a) const { return absl::OkStatus(); return B(a); }"])
        self.assertEqual(changed("absl::StatusOr<int> F() { return 1; }", "return"), [])

    def test_text_and_checks_that_tests_do_not_run_stay(self):
        for text in ('s = "a < b && 1";', "// x = a + 1;", "static_assert(a == 1 && b);",
                     "FIRN_DCHECK(a < b, 1);", "return InvalidArgument(a + 1, b);",
                     "\n#define X a + 1", "s = absl::StrCat(a + 1, b);"):
            with self.subTest(text):
                self.assertEqual([m for m in mutations.mutations(in_function(text + "\n"))
                                  if m.kind != "statement"], [])

    def test_a_check_changes_and_its_message_stays(self):
        self.assertEqual(
            {mutations.before_and_after(t, m)[1]
             for t in [in_function("FIRN_RETURN_IF(a < b, G(a + 1), c);")]
             for m in mutations.mutations(t)},
            {in_function("FIRN_RETURN_IF(a <= b, G(a + 1), c);"), in_function(";")})

    def test_lines_are_those_of_the_text(self):
        text = "void F() {\n  int a = b +\n          c;\n}\n"
        (m,) = mutations.mutations(text)
        self.assertEqual(m.line, 2)
        self.assertEqual(mutations.before_and_after(text, m), ("int a = b +", "int a = b -"))


class FilesTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name

    def write(self, path, text="void F() { x = a < b; }\n"):
        os.makedirs(os.path.dirname(os.path.join(self.root, path)), exist_ok=True)
        with open(os.path.join(self.root, path), "w", encoding="utf-8") as file:
            file.write(text)

    def test_only_library_code_is_changed(self):
        for path in ("tensor/a.cc", "tensor/ops/b.h", "tensor/ops/b.cu", "tensor/ops/b_cuda.cc",
                     "tensor/ops/b_samples.cc", "device/internal/cuda_api.h", "nn/describe.cc",
                     "tests/tensor/a_test.cc", "io/c.cc"):
            self.write(path)
        self.assertEqual(mutations.files(self.root),
                         [("io/c.cc", 1), ("tensor/a.cc", 1), ("tensor/ops/b.h", 1)])
        self.assertEqual(mutations.files(self.root, "tensor/ops"), [("tensor/ops/b.h", 1)])

    def test_a_seed_gives_the_same_changes_and_none_twice(self):
        for i in range(5):
            self.write(f"nn/f{i}.cc", "void F() { x = a < b + c; G(2); }\n" * (i + 1))
        first, again, other = (
            [(path, m) for path, _, m in itertools.islice(mutate.changes(self.root, None, seed), 20)]
            for seed in (1, 1, 2))
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)
        self.assertEqual(len(set(first)), 20)

    def test_changes_end_when_all_are_made(self):
        self.write("nn/a.cc")
        self.assertEqual(len(list(mutate.changes(self.root, None, 1))), 1)

    def test_the_mirrored_test_goes_first(self):
        self.write("tests/tensor/from_test.cc")
        self.write("tests/tensor/BUILD")
        self.write("tests/device/BUILD")
        self.write("tests/device/small_pool_test.cc")
        self.assertEqual([t for t, _ in mutate.stages(self.root, "tensor/from.cc")],
                         [["//tests/tensor:from_test"], ["//tests/tensor:all"],
                          ["//tests/ops:conformance_test"]])
        self.assertEqual(mutate.stages(self.root, "device/internal/small_pool.h")[0][0],
                         ["//tests/device:small_pool_test"])
        self.assertEqual(mutate.stages(self.root, "tensor/kernels/cpu/gemm.cc")[0][0],
                         ["//tests/tensor:all"], "the nearest folder with tests")
        self.write("tensor/ops/f/page.cc", "FIRN_REGISTER_OP(add) {}\nFIRN_REGISTER_OP(mul) {}\n")
        for name in ("page_fn.h", "page_body.h"):
            self.assertEqual(mutate.stages(self.root, "tensor/ops/f/" + name)[0],
                             (["//tests/ops:conformance_test"], ["--test_filter=*.add:*.mul"]))
        self.assertEqual(mutate.stages(self.root, "tensor/ops/f/rules.h")[0][0],
                         ["//tests/ops:all", "//tests/tensor:all"])

    def test_results_go_on_from_their_file(self):
        path = os.path.join(self.root, "results")
        identity = {"seed": 1, "folder": None, "sources": "a"}
        record = {"path": "a.cc", "line": 1, "kind": "x", "before": "", "after": ""}
        results = mutate.Results(path, identity)
        for result in ("noticed", "survived", "not built"):
            results.add({**record, "result": result, "by": ""})
        with open(path, "a", encoding="utf-8") as file:
            file.write('{"path": "cut of')  # the run was killed while it wrote
        again = mutate.Results(path, identity)
        self.assertEqual(again.done, results.done)
        self.assertEqual(again.judged(), 2)
        again.add({**record, "result": "noticed", "by": "//t"})
        self.assertEqual(mutate.Results(path, identity).done, again.done)
        with self.assertRaisesRegex(mutate.MutateError, "of another run"):
            mutate.Results(path, {**identity, "seed": 2})


# Stands for Bazel: tests of unchanged code pass, and the script says which changes compile and
# which the tests notice.
_BAZEL = """#!/bin/sh
echo "$PWD: $*" >>"$0.log"
grep -q 'a + b' nn/a.cc || exit 0
grep -q 'a || b' nn/a.cc && exit 1
grep -q 'a <= b' nn/a.cc && { echo '//tests/nn:a_test  FAILED in 1s'; exit 3; }
exit 0
"""


_SUMMARY = "{} of 2 noticed (1 did not compile, 0 changed no code)"


class RunTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = os.path.join(folder.name, "firn")
        self.bazel = os.path.join(folder.name, "bazel")
        for path, text in (("nn/a.cc", "void F() { x = a < b; y = a && b; z = a + b; }\n"),
                           ("tests/nn/BUILD", ""), ("tests/nn/a_test.cc", "")):
            os.makedirs(os.path.dirname(os.path.join(self.root, path)), exist_ok=True)
            with open(os.path.join(self.root, path), "w", encoding="utf-8") as file:
                file.write(text)
        with open(self.bazel, "w", encoding="utf-8") as file:
            file.write(_BAZEL)
        os.chmod(self.bazel, 0o755)
        for command in (["init", "-q"], ["add", "."],
                        ["-c", "user.name=t", "-c", "user.email=t", "commit", "-qm", "t"]):
            self.git(*command)

    def git(self, *command):
        return subprocess.run(["git", "-C", self.root, *command], check=True, text=True,
                              stdout=subprocess.PIPE).stdout

    def mutate(self, *arguments):
        said = io.StringIO()
        with mock.patch.object(mutate, "ROOT", self.root), contextlib.redirect_stdout(said), \
                mock.patch.object(sys, "argv", ["mutate", "--bazel", self.bazel, *arguments]):
            mutate.main()
        return said.getvalue()

    def test_survivors_are_shown_and_the_tree_is_left_alone(self):
        said = self.mutate("--", "--jobs=1")
        self.assertIn(_SUMMARY.format(1), said)
        self.assertIn("nn/a.cc:1: arithmetic\n"
                      "  - void F() { x = a < b; y = a && b; z = a + b; }\n"
                      "  + void F() { x = a < b; y = a && b; z = a - b; }\n", said)
        self.assertIn("noticed //tests/nn:a_test: nn/a.cc:1", said)
        self.assertEqual(self.git("status", "--porcelain"), "")
        self.assertEqual(len(self.git("worktree", "list").splitlines()), 1)
        with open(self.bazel + ".log", encoding="utf-8") as file:
            calls = file.read().splitlines()
        self.assertTrue(all(call.startswith(tempfile.gettempdir()) for call in calls))
        self.assertFalse(any(call.startswith(self.root + ":") for call in calls))
        self.assertIn("--jobs=1", calls[0])

    def test_a_run_goes_on_where_it_was_stopped(self):
        file = os.path.join(os.path.dirname(self.root), "results")
        first = self.mutate("--count", "1", "--resume", file)
        self.assertIn(" of 1 noticed", first)
        self.assertIn(_SUMMARY.format(1), self.mutate("--resume", file))
        os.remove(self.bazel)  # nothing is left to run
        self.assertIn(_SUMMARY.format(1), self.mutate("--resume", file))

    def test_what_survived_is_tried_again_on_new_tests(self):
        file = os.path.join(os.path.dirname(self.root), "results")
        self.mutate("--resume", file)
        with open(self.bazel, "w", encoding="utf-8") as bazel:
            bazel.write("#!/bin/sh\ngrep -q 'a - b' nn/a.cc && exit 3\nexit 0\n")
        with open(os.path.join(self.root, "tests/nn/a_test.cc"), "a", encoding="utf-8") as test:
            test.write("// a new test\n")
        self.git("-c", "user.name=t", "-c", "user.email=t", "commit", "-qam", "test")
        self.assertIn("1 of 2 noticed", self.mutate("--resume", file))
        self.assertIn(_SUMMARY.format(2), self.mutate("--resume", file, "--again"))
        self.assertIn(_SUMMARY.format(2), self.mutate("--resume", file))

    def test_what_compiles_to_the_same_object_is_no_change(self):
        for object_file, expected in (("cat nn/a.cc", "1 of 2 noticed"),
                                      ("echo", "1 of 1 noticed (1 did not compile, 1 changed")):
            with open(self.bazel, "w", encoding="utf-8") as bazel:
                bazel.write(_BAZEL.replace("#!/bin/sh\n", f"""#!/bin/sh
mkdir -p bazel-bin/nn/_objs/a
echo 'a.o: nn/a.cc' > bazel-bin/nn/_objs/a/a.d
{object_file} > bazel-bin/nn/_objs/a/a.o
"""))
            self.assertIn(expected, self.mutate())

    def test_results_of_other_sources_are_refused(self):
        file = os.path.join(os.path.dirname(self.root), "results")
        self.mutate("--resume", file)
        with open(os.path.join(self.root, "nn/a.cc"), "a", encoding="utf-8") as source:
            source.write("// changed\n")
        self.git("-c", "user.name=t", "-c", "user.email=t", "commit", "-qam", "change")
        with self.assertRaisesRegex(mutate.MutateError, "of another run"):
            self.mutate("--resume", file)

    def test_tests_that_fail_without_a_change_are_an_error(self):
        with open(self.bazel, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nexit 3\n")
        with self.assertRaisesRegex(mutate.MutateError, "noticed without any change"):
            self.mutate()
        self.assertEqual(len(self.git("worktree", "list").splitlines()), 1)


if __name__ == "__main__":
    unittest.main()
