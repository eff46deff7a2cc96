#include "firn/tensor/kernels/cuda/embedded_headers.h"

#include <algorithm>
#include <functional>
#include <set>

namespace firn::cuda {
namespace {

constexpr std::string_view kStandIn = "#include \"firn/tensor/kernels/cuda/nvrtc/stand_in.h\"\n";

const EmbeddedHeader* Find(std::string_view name) {
  for (const EmbeddedHeader* h = kEmbeddedHeaders; !h->name.empty(); ++h) {
    if (h->name == name) return h;
  }
  return nullptr;
}

// The name in an #include line; no value for other lines.
std::string_view Included(std::string_view line) {
  constexpr std::string_view kInclude = "#include ";
  if (!line.starts_with(kInclude)) return {};
  line.remove_prefix(kInclude.size() + 1);
  return line.substr(0, line.find_first_of("\">"));
}

}  // namespace

const EmbeddedHeader* HeaderThatDeclares(std::string_view name) {
  const std::string declared = "struct " + std::string(name) + " ";
  for (const EmbeddedHeader* h = kEmbeddedHeaders; !h->name.empty(); ++h) {
    if (h->name.ends_with("_fn.h") && h->text.find(declared) != h->text.npos) return h;
  }
  return nullptr;
}

std::vector<std::pair<std::string, std::string>> HeadersFor(std::string_view source) {
  std::vector<std::pair<std::string, std::string>> found;
  std::set<std::string, std::less<>> seen;
  const auto add_includes_of = [&](std::string_view text) {
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      const std::string_view name = Included(text.substr(at, end - at));
      at = end + 1;
      if (name.empty() || !seen.emplace(name).second) continue;
      const EmbeddedHeader* const h = Find(name);
      found.emplace_back(name, h != nullptr ? h->text : kStandIn);
    }
  };
  add_includes_of(source);
  for (size_t i = 0; i < found.size(); ++i) add_includes_of(std::string(found[i].second));
  return found;
}

}  // namespace firn::cuda
