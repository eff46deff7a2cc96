#!/usr/bin/env python3
"""What counts as a call and as a definition: python3 tests/tools/scripts/api_uses_test.py"""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../../tools/scripts"))
from api_uses import Text, matches, patterns, uncalled, undefined  # noqa: E402
from cpp_declarations import declarations  # noqa: E402

HEADER = """
namespace firn {
class Tensor {
 public:
  Tensor();
  ~Tensor();
  Tensor Mean() const;
  Tensor T() const { return {}; }
  int size(int dim) const;
  Tensor& operator+=(const Tensor& y);
  static Tensor Make();
  Tensor(const Tensor&) = delete;
 protected:
  void Grow();
};
struct Shape { int size() const { return 0; } };
Tensor Ceil(const Tensor& x);
Tensor Pick(const Tensor& x, int dim);
Tensor Pick(const Tensor& x, const Shape& s, int dim = 0);
namespace nn {
class Module { public: virtual void Run() = 0; int depth() const; };
class Conv : public Module { public: void Run() override; };
using Silu = FunctionLayer<SiluFunction>;
template <class F> class FunctionLayer : public Module {};
struct SiluFunction { static Tensor Call(const Tensor& x); };
}
namespace internal { void Hidden(); }
}
"""


def not_called(*sources, of=HEADER, library=False):
    """The short names of what the header declares and `sources` do not call."""
    texts = [Text(f"t{i}.cc", s, library) for i, s in enumerate(sources)]
    return {d.name.replace("firn::", "") for d in uncalled(declarations(of, "h.h"), texts)}


class CallsTest(unittest.TestCase):

    def assert_called(self, name, source):
        self.assertIn(name, not_called(""), "the test's own name is wrong")
        self.assertNotIn(name, not_called(source))

    def assert_not_called(self, name, source):
        self.assertIn(name, not_called(source))

    def test_without_text_nothing_is_called(self):
        self.assertEqual(not_called(""), {
            "Tensor::Mean", "Tensor::T", "Tensor::size", "Tensor::Make", "Tensor::Grow",
            "Shape::size", "Ceil", "Pick", "nn::Module", "nn::Module::Run", "nn::Module::depth",
            "nn::Conv", "nn::Conv::Run", "nn::Silu", "nn::FunctionLayer",
            "nn::SiluFunction::Call"})

    def test_a_function_is_called_by_its_name(self):
        for call in ("Ceil(x)", "y = firn::Ceil(x)", "return Ceil(x)", "f(a && Ceil(x))",
                     "#define C(x) Ceil(x)", "Ceil<int>(x)", "{Ceil(x), 1}"):
            self.assert_called("Ceil", f"{call};")

    def test_a_function_that_is_handed_over_is_called(self):
        for call in ("Freeze(Ceil, x)", "f(&Ceil)", "Unary<Ceil>(x)", "{.f = Ceil}"):
            self.assert_called("Ceil", f"{call};")

    def test_samples_name_functions_and_not_layers(self):
        header = HEADER + "namespace firn { Tensor Conv(const Tensor& x); }"
        self.assertNotIn("Conv", not_called("s.Function<Conv>();", of=header))
        self.assertIn("Conv", not_called("Make<Conv>();", of=header))

    def test_what_only_looks_like_a_call_is_none(self):
        for text in ("// Ceil(x)", '"Ceil(x)"', "x.Ceil(1)", "p->Ceil(1)", "std::Ceil(x)",
                     "Tensor Ceil(const Tensor& x);", "Tensor& Ceil(int);", "Ceiling(x)",
                     "std::vector<Tensor> Ceil(int x) { return {}; }", "TEST(Ceil2, CeilWorks)"):
            self.assert_not_called("Ceil", text + ";")

    def test_a_method_is_called_on_its_class(self):
        for text in ("Tensor x; x.Mean();", "const Tensor& x = f(); x.Mean();", "Ceil(a).Mean();",
                     "Tensor().T().Mean();", "auto x = Ceil(a); x.Mean();", "v[0].Mean(); Tensor x;",
                     "std::vector<Tensor> x; x[0].Mean();", "f(&Tensor::Mean);"):
            self.assert_called("Tensor::Mean", text)

    def test_a_free_function_of_the_name_is_no_method_call(self):
        self.assert_not_called("Tensor::Mean", "Tensor x = Mean(y);")
        self.assert_not_called("Tensor::Mean", "struct Net : nn::Module { int a = Mean(x); };")
        self.assert_not_called("Tensor::Mean", "Tensor Tensor::Mean() const { return {}; }")

    def test_a_shared_name_is_resolved_by_the_receiver(self):
        text = "Tensor x; Shape s; x.size(0);"
        self.assert_called("Tensor::size", text)
        self.assert_not_called("Shape::size", text)

    def test_an_unknown_receiver_counts_only_where_the_class_is_known(self):
        self.assert_not_called("Shape::size", "Other o; o.list().size();")
        self.assert_called("Shape::size", "Shape a; o.list().size();")

    def test_static_methods_are_qualified_and_protected_ones_used_in_subclasses(self):
        self.assert_called("Tensor::Make", "x = Tensor::Make();")
        self.assert_not_called("Tensor::Make", "x = Other::Make();")
        self.assert_called("Tensor::Grow", "struct Mine : public Tensor { void F() { Grow(); } };")
        self.assert_not_called("Tensor::Grow", "struct Mine { void F() { Grow(); } };")

    def test_inherited_methods_are_called_on_derived_classes(self):
        self.assert_called("nn::Module::depth", "nn::Conv c; c.depth();")

    def test_overrides_are_called_through_their_base(self):
        self.assert_called("nn::Conv::Run", "nn::Conv c; call(c);")
        self.assert_not_called("nn::Conv::Run", "call(c);")

    def test_layers_are_called_by_their_name(self):
        left = not_called("nn::Silu silu;")
        self.assertNotIn("nn::Silu", left)
        self.assertNotIn("nn::SiluFunction::Call", left)
        self.assertIn("nn::Conv", left)

    def test_who_includes_the_list_of_layers_names_them_all(self):
        header = HEADER.replace("class Conv : public", "template <class O, class B> class "
                                "LayerWithOptions : public B {}; class Layer : public Module {}; "
                                "class Conv : public LayerWithOptions<int>, public")
        text = '#include "firn/nn/layer_types.inc"\n'
        left = not_called(text, of=header)
        self.assertNotIn("nn::Conv", left)
        self.assertNotIn("nn::Silu", left)
        self.assertIn("Ceil", left)
        self.assertNotIn("nn::Module::depth", not_called(text + "any.depth();", of=header))
        self.assertIn("nn::Conv", not_called("#include <vector>\n", of=header))

    def test_layers_that_options_describe_are_layers(self):
        header = ("namespace firn::nn { class Module {}; class Layer : public Module {};"
                  "template <class O, class B = Layer> class LayerWithOptions : public B {};"
                  "class Fold : public LayerWithOptions<int> {}; }")
        self.assertIn("nn::Fold", not_called("", of=header))
        self.assertNotIn("nn::Fold", not_called("nn::Fold fold;", of=header))

    def test_the_library_calls_methods_by_name_alone(self):
        self.assertNotIn("Tensor::Mean", not_called("r.template Mean<T>(a);", library=True))
        self.assertIn("Tensor::Mean",
                      not_called("Tensor Tensor::Mean() const { return {}; }", library=True))


class DefinitionsTest(unittest.TestCase):

    SOURCE = """namespace firn {
      Tensor::Tensor() = default;
      Tensor::~Tensor() {}
      Tensor Tensor::Mean() const { return Sum() / 2; }
      int Tensor::size(int dim) const { return dim; }
      Tensor& Tensor::operator+=(const Tensor& y) { return *this; }
      Tensor Tensor::Make() { return {}; }
      void Tensor::Grow() {}
      Tensor Ceil(const Tensor& x) { return x; }
      Tensor Pick(const Tensor& x, int dim) { return x; }
      Tensor Pick(const Tensor& x, const Shape& s, int dim) { return x; }
      namespace nn {
      int Module::depth() const { return 1; }
      void Conv::Run() {}
      Tensor SiluFunction::Call(const Tensor& x) { return x; }
      }
      void internal::Hidden() {}
    }"""

    def missing(self, source):
        return [d.name for d in undefined(declarations(HEADER), declarations(source))]

    def test_nothing_is_missing_where_all_is_defined(self):
        self.assertEqual(self.missing(self.SOURCE), [])

    def test_each_definition_that_is_taken_away_is_missed(self):
        definitions = [line for line in self.SOURCE.splitlines() if "(" in line]
        self.assertEqual(len(definitions), 14)
        for definition in definitions:
            with self.subTest(definition):
                self.assertEqual(len(self.missing(self.SOURCE.replace(definition, "", 1))), 1)

    def test_another_namespace_defines_something_else(self):
        other = self.SOURCE.replace("void internal::Hidden", "void Hidden")
        self.assertEqual(self.missing(other), ["firn::internal::Hidden"])

    def test_a_class_of_inner_is_defined_there_or_in_firn(self):
        header = declarations("namespace firn::inner { class A { void F(); }; }")
        for namespace in ("firn", "firn::inner"):
            source = declarations(f"namespace {namespace} {{ void A::F() {{}} }}")
            self.assertEqual(undefined(header, source), [])


class ListTest(unittest.TestCase):

    def test_patterns_are_of_headers_or_names(self):
        self.assertEqual(patterns("# a\n\ntensor/*_fn.h  why\nfirn::*Grad  why\n"),
                         [("tensor/*_fn.h", 3), ("firn::*Grad", 4)])
        d = declarations("namespace firn { int ReluGrad(); }", "tensor/relu.h")[-1]
        self.assertTrue(matches("firn::*Grad", d) and matches("tensor/*.h", d))
        self.assertFalse(matches("firn::Grad*", d) or matches("tensor/*_fn.h", d))


if __name__ == "__main__":
    unittest.main()
