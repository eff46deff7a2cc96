// Prints docs/zoo.md from the registry of networks.
#include <iostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "firn/nn/zoo/zoo.h"

namespace firn::zoo {
namespace {

constexpr char kHead[] =
    "# Published networks\n\n"
    "What `zoo::Make` knows (`nn/zoo/zoo.h`), as its registry says it; a test holds this page to "
    "it. After a change,\n"
    "print it anew:\n\n"
    "    bazel run //tests/docs:zoo_page > docs/zoo.md\n\n"
    "Parameters are those of the published network, millions. Multiply-adds are of products and "
    "convolutions of one\n"
    "sample, in thousands of millions, as they are published. Images are cut out of the middle of "
    "one whose shorter side\n"
    "was resized to the number in brackets; colours are 0 to 1, then (x - mean) / stddev, where "
    "`c` stands in the column\n"
    "with (0.485, 0.456, 0.406) and (0.229, 0.224, 0.225). Resizing is bilinear, bicubic where "
    "that "
    "stands beside the\n"
    "number, with antialias. All of it is as torchvision's first weights of a network want it; "
    "later ones (V2) of those\n"
    "with 256 want 232, `efficientnet_b1`'s want 255 and bilinear. `examples/zoo.cc` does it.\n\n"
    "Results are held to PyTorch's; `nn/zoo/README.md` says how. `googlenet` has its two auxiliary "
    "heads: 13.00 million\n"
    "parameters, of which the published count, 6.62, leaves theirs out.\n\n"
    "| name | input | colours | classes | parameters | multiply-adds | names of parameters | paper "
    "|\n"
    "|---|---|---|---|---|---|---|---|\n";

std::string InputText(const Input& input) {
  return absl::StrCat(input.name, " ", input.shape.ToString(),
                      input.count > 0 ? absl::StrCat(" below ", input.count) : "");
}

std::string Row(const Network& n) {
  const std::string inputs =
      absl::StrJoin(n.inputs, ", ", [](std::string* out, const Input& i) { *out += InputText(i); });
  const bool usual = n.colours.mean == ImagenetColours().mean;
  const std::string colours = n.colours.mean.empty() ? ""
                              : usual
                                  ? "c"
                                  : absl::StrCat("(", absl::StrJoin(n.colours.mean, ", "), "), (",
                                                 absl::StrJoin(n.colours.stddev, ", "), ")");
  return absl::StrCat(
      "| `", n.name, "` | ", inputs,
      n.resize > 0 ? absl::StrCat(" (", n.resize, n.bicubic ? ", bicubic)" : ")") : "", " | ",
      colours, " | ", n.classes > 0 ? absl::StrCat(n.classes) : "",
      n.class_set.empty() ? "" : absl::StrCat(" of ", n.class_set), " | ",
      absl::StrFormat("%.2f", static_cast<double>(n.parameters) / 1e6), " | ",
      n.giga_multiply_adds > 0 ? absl::StrCat(n.giga_multiply_adds) : "", " | ", n.origin, " | ",
      n.paper, " |\n");
}

}  // namespace
}  // namespace firn::zoo

int main() {
  std::cout << firn::zoo::kHead;
  for (const std::string& name : firn::zoo::Names()) {
    std::cout << firn::zoo::Row(firn::zoo::Find(name));
  }
}
