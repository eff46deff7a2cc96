#!/usr/bin/env python3
"""What the tools understand of C++: python3 tests/tools/scripts/cpp_declarations_test.py"""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../../tools/scripts"))
from cpp_declarations import declarations  # noqa: E402
from cpp_tokens import CppError, tokenize  # noqa: E402


def found(text, *marks):
    """["kind name mark...", ...] of what `text` declares."""
    return [" ".join([d.kind, d.name] + [m for m in marks if getattr(d, m)])
            for d in declarations(text)]


class TokensTest(unittest.TestCase):

    def test_comments_vanish_and_literals_stay_whole(self):
        text = 'a /* "b" */ + R"x(")" c)x" // d\n\'"\' 1\'000.5e-3f u8"\\"e"'
        self.assertEqual([t.text for t in tokenize(text)],
                         ["a", "+", 'R"x(")" c)x"', "'\"'", "1'000.5e-3f", 'u8"\\"e"'])

    def test_a_directive_is_one_token_with_its_continuations(self):
        tokens = tokenize("int a;\n  # define B(c) \\\n  c;\nint d;")
        self.assertEqual([t.kind for t in tokens].count("directive"), 1)
        self.assertEqual((tokens[-2].text, tokens[-2].line), ("d", 4))

    def test_offsets_and_lines_are_those_of_the_text(self):
        text = "x\n\n  /* y\n */ <<= z"
        for token in tokenize(text):
            self.assertEqual(text[token.begin:token.begin + len(token.text)], token.text)
        self.assertEqual([t.line for t in tokenize(text)], [1, 4, 4])


class DeclarationsTest(unittest.TestCase):

    def test_namespaces_nest(self):
        self.assertEqual(
            found("namespace a::b { inline namespace c { int F(); } namespace { int G(); } }"),
            ["namespace a", "namespace a::b", "namespace a::b::c", "function a::b::c::F",
             "namespace a::b::(anonymous)", "function a::b::(anonymous)::G"])

    def test_macros_may_open_an_inline_namespace(self):
        self.assertEqual(
            found("namespace a { A_NAMESPACE_BEGIN class B; A_NAMESPACE_END }", "forward"),
            ["namespace a", "class a::B forward"])

    def test_a_body_and_a_declaration_differ(self):
        self.assertEqual(found("int F(int a = G({1, 2})); inline int H() { return 1; }", "body"),
                         ["function F", "function H body"])

    def test_members_know_their_access_and_kind(self):
        text = """class A : public B<int> {
          int hidden_;
         public:
          A() = default;
          explicit A(int n) : n_(n), list_{n, 2} {}
          ~A();
          A(const A&) = delete;
          static A Make();
          int size() const noexcept { return n_; }
          virtual void Run() = 0;
          void Go() override;
          struct Inner { int x; void F(); };
         protected:
          template <class T> requires(sizeof(T) > 1) T As() const;
        };"""
        self.assertEqual(
            [f"{d.access} {d.kind} {d.name}" for d in declarations(text)],
            ["public class A", "private variable A::hidden_", "public constructor A::A",
             "public constructor A::A", "public destructor A::~A", "public constructor A::A",
             "public static method A::Make", "public method A::size", "public method A::Run",
             "public method A::Go", "public struct A::Inner", "public variable A::Inner::x",
             "public method A::Inner::F", "protected method A::As"])
        by = {d.name + str(d.line): d for d in declarations(text)}
        self.assertTrue(by["A::A4"].defaulted)
        self.assertTrue(by["A::A7"].deleted)
        self.assertTrue(by["A::Run10"].pure)
        self.assertTrue(by["A::Go11"].override)
        self.assertEqual(by["A1"].types, ["B"])

    def test_what_is_in_a_private_class_is_private(self):
        inner = declarations("class A { struct B { void F(); }; };")[-1]
        self.assertEqual((inner.name, inner.access), ("A::B::F", "private"))

    def test_operators_are_told_by_their_symbols(self):
        text = """struct A { bool operator()(int) const; A& operator=(A&&) &&; explicit operator bool();
                   int operator[](int); auto operator<=>(const A&) const = default; };
                  A& A::operator=(A&&) && { return *this; }
                  std::ostream& operator<<(std::ostream&, const A&);"""
        self.assertEqual(found(text, "outside", "defaulted"),
                         ["struct A", "operator A::operator()", "operator A::operator=",
                          "operator A::operator bool", "operator A::operator[]",
                          "operator A::operator<=> defaulted", "operator A::operator= outside",
                          "operator operator<<"])

    def test_friend_functions_belong_to_the_namespace_around(self):
        text = """namespace n { class A { friend class B; friend int F(const A& a) { return a.x; }
                  friend bool operator==(const A&, const A&) = default; }; }"""
        self.assertEqual(found(text, "friend", "body"),
                         ["namespace n", "class n::A body", "function n::F friend body",
                          "operator n::operator== friend"])

    def test_templates_and_constraints_are_stepped_over(self):
        text = """template <class T, class = std::enable_if_t<(sizeof(T) > 4)>> T F(T x = T(1));
                  template <class M> requires(!requires { typename M::Options; }) M& Add(M&& m);
                  template <class M> requires requires(M m) { m.x(); } && std::is_class_v<M>
                  M& Get();
                  template <> struct std::hash<A> { int operator()(A) const { return 1; } };
                  extern template int F<int>(int);
                  template <class T> concept C = requires(T t) { t.f(); };"""
        self.assertEqual(found(text),
                         ["function F", "function Add", "function Get", "struct std::hash",
                          "operator std::hash::operator()", "concept C"])

    def test_parameters_have_types(self):
        def types(text):
            return declarations(text)[-1].arguments
        self.assertEqual(types("int F(const Tensor& x, bool on = true, std::vector<int, A<b>> = {});"),
                         ["const Tensor &", "bool", "std :: vector < int , A < b >>"])
        self.assertEqual(types("int F(inner::Flag on = G(1, 2), int64_t);"), ["inner :: Flag", "int64_t"])
        self.assertEqual(types("int F(void);"), [])
        self.assertTrue(declarations("template <class T> int F(T t);")[-1].template)

    def test_parameters_are_counted(self):
        def count(text):
            return declarations(text)[-1].parameters
        self.assertEqual(count("void F();"), (0, 0))
        self.assertEqual(count("void F(std::map<int, int> m, int b = G(1, 2));"), (1, 2))
        self.assertEqual(count("template <class... T> void F(int a, const T&... rest);"), (1, None))

    def test_variables_are_no_functions(self):
        text = """inline constexpr int kOne = 1; int a, b{2}; absl::Status (*run)(int) = nullptr;
                  std::function<void(int)> f; static const Thing kThing(1);
                  extern "C" { int c[3]; }"""
        self.assertEqual(found(text), ["variable kOne", "variable a", "variable b", "variable run",
                                       "variable f", "variable kThing", "variable c"])

    def test_definitions_outside_their_class_are_qualified(self):
        text = """namespace n {
          Tensor Tensor::Mean() const { return {}; }
          Loader::Iterator::~Iterator() = default;
          class Loader::Pass { int x; };
        }"""
        self.assertEqual(found(text, "outside", "body", "defaulted"),
                         ["namespace n", "function n::Tensor::Mean outside body",
                          "destructor n::Loader::Iterator::~Iterator outside defaulted",
                          "class n::Loader::Pass outside body", "variable n::Loader::Pass::x body"])

    def test_enums_usings_and_macros(self):
        text = """#define FIRN_X(a) a
                  enum class E : int { kA = 1, kB }; enum F { kC }; enum class G : char;
                  using H = std::vector<E>; using n::I; using namespace m; typedef int J;
                  class [[deprecated("use B")]] K;"""
        self.assertEqual(found(text, "forward", "deprecated"),
                         ["macro FIRN_X", "enum E", "enumerator E::kA", "enumerator E::kB", "enum F",
                          "enumerator kC", "enum G forward", "alias H", "using I", "alias J",
                          "class K forward deprecated"])

    def test_unbalanced_text_is_refused_with_its_place(self):
        with self.assertRaisesRegex(CppError, r"x\.h:2: \{ is not closed"):
            declarations("int a;\nvoid F() {", "x.h")


if __name__ == "__main__":
    unittest.main()
