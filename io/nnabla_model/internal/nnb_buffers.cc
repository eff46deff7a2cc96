// The k-th largest buffer is as large as the k-th largest variable of any function. Function by
// function, each variable whose life begins takes the first free buffer that holds it, else the
// first free one, which grows.
#include "firn/io/nnabla_model/internal/nnb_buffers.h"

#include <algorithm>
#include <functional>

namespace firn::io::internal {
namespace {

bool LivesAt(const NnbLife& life, int64_t function) {
  return life.named() && life.first <= function && function <= life.last;
}

// Ascending.
std::vector<int64_t> Sizes(const std::vector<NnbLife>& lives, int64_t functions) {
  std::vector<int64_t> largest;  // descending
  for (int64_t f = 0; f < functions; ++f) {
    std::vector<int64_t> sizes;
    for (const NnbLife& life : lives) {
      if (LivesAt(life, f)) sizes.push_back(life.size);
    }
    std::sort(sizes.begin(), sizes.end(), std::greater<>());
    if (largest.size() < sizes.size()) largest.resize(sizes.size(), 0);
    for (size_t k = 0; k < sizes.size(); ++k) largest[k] = std::max(largest[k], sizes[k]);
  }
  std::reverse(largest.begin(), largest.end());
  return largest;
}

}  // namespace

NnbBuffers AssignNnbBuffers(const std::vector<NnbLife>& lives, int64_t functions) {
  NnbBuffers out{.sizes = Sizes(lives, functions),
                 .buffer = std::vector<int64_t>(lives.size(), -1)};
  for (int64_t f = 0; f < functions; ++f) {
    std::vector<bool> taken(out.sizes.size(), false);
    for (size_t i = 0; i < lives.size(); ++i) {
      if (LivesAt(lives[i], f) && out.buffer[i] >= 0)
        taken[static_cast<size_t>(out.buffer[i])] = true;
    }
    for (size_t i = 0; i < lives.size(); ++i) {
      if (!LivesAt(lives[i], f) || out.buffer[i] >= 0) continue;
      size_t at = taken.size();
      for (size_t k = taken.size(); k-- > 0;) {
        if (!taken[k] && out.sizes[k] >= lives[i].size) at = k;
      }
      if (at == taken.size()) {
        at = static_cast<size_t>(std::find(taken.begin(), taken.end(), false) - taken.begin());
        out.sizes[at] = lives[i].size;
      }
      taken[at] = true;
      out.buffer[i] = static_cast<int64_t>(at);
    }
  }
  return out;
}

}  // namespace firn::io::internal
