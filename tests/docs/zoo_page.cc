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
    "# Published networks\n"
    "\n"
    "The networks that `zoo::Make` knows (`nn/zoo/zoo.h`), printed from their registry; a test "
    "compares this page. To print\n"
    "it again:\n"
    "\n"
    "    bazel run //tests/docs:zoo_page > docs/zoo.md\n"
    "\n"
    "| column | meaning |\n"
    "|---|---|\n"
    "| input | the input of one sample; `ids` are whole numbers below the given one |\n"
    "| number in brackets | an image is resized so that its shorter side has so many pixels, and "
    "its middle is cut out |\n"
    "| colours | pixels from 0 to 1 become (x - mean) / stddev; `c` stands for (0.485, 0.456, "
    "0.406), (0.229, 0.224, 0.225) |\n"
    "| parameters | the parameters of the published network, in millions |\n"
    "| multiply-adds | those of matrix products and convolutions for one sample, in thousands of "
    "millions, as published |\n"
    "| names of parameters | where weights come from that load by their names |\n"
    "\n"
    "Images are resized with antialiasing, bilinearly unless the row says bicubic. For networks of "
    "torchvision, sizes and\n"
    "colours are those of its first weights; its later weights (V2) were made for 232 where the "
    "row says 256, and those of\n"
    "`efficientnet_b1` for 255 and bilinear resizing. `examples/zoo.cc` prepares an image in this "
    "way.\n"
    "\n"
    "A test compares the results with PyTorch's; `nn/zoo/README.md` says how. `googlenet` has "
    "13.00 million parameters with\n"
    "its two auxiliary heads; the published count, 6.62, is without them.\n"
    "\n"
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
