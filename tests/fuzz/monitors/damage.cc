#include "tests/fuzz/monitors/damage.h"

#include <algorithm>
#include <iterator>

#include "device/inner.h"
#include "device/philox.h"

namespace firn::io {
namespace {

// One change of a file that is not empty.
void Change(const std::function<uint64_t(uint64_t)>& draw, std::string* bytes) {
  constexpr char kBytes[] = {0,   1,   2,    8,   0x7f, '\x80', '\xff', '"', '\n', '\r',
                             ',', ' ', '\\', 'u', '{',  '}',    'e',    '-', '.',  '9'};
  const size_t at = draw(bytes->size());
  const size_t length = std::min<size_t>(1 + draw(16), bytes->size() - at);
  switch (draw(4)) {
    case 0:
      (*bytes)[at] = kBytes[draw(std::size(kBytes))];
      break;
    case 1:
      bytes->insert(draw(bytes->size()), bytes->substr(at, length));
      break;
    case 2:
      bytes->erase(at, length);
      break;
    default:
      (*bytes)[at] = static_cast<char>(draw(256));
      break;
  }
}

}  // namespace

void ForEachDamage(const std::string& whole, int64_t rounds,
                   const std::function<void(const std::string&)>& f) {
  for (size_t n = 0; n < whole.size(); ++n) f(whole.substr(0, n));
  std::string flipped = whole;
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    const auto mask = static_cast<char>(1 << bit % 8);
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ mask);
    f(flipped);
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ mask);
  }
  uint64_t drawn = 0;
  const auto draw = [&drawn](uint64_t below) {
    return PhiloxAt({20250611, drawn++}, 0).v[0] % below;
  };
  for (int64_t round = 0; round < rounds; ++round) {
    std::string damaged = whole;
    const uint64_t changes = 1 + draw(8);
    for (uint64_t i = 0; i < changes && !damaged.empty(); ++i) Change(draw, &damaged);
    f(damaged);
  }
}

}  // namespace firn::io
