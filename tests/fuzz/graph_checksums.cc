#include "tests/fuzz/graph_checksums.h"

#include <zlib.h>

#include <cstdint>
#include <cstring>

namespace firn::testing {
namespace {

uint32_t Crc(const std::string& bytes, size_t at, size_t n) {
  return static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()) + at, n));
}

}  // namespace

std::string WithRightChecksums(std::string_view bytes) {
  constexpr size_t kHeader = 32, kCrc = 4;
  std::string graph(bytes);
  if (graph.size() < kHeader + kCrc) return graph;
  uint64_t structure = graph.size() - kHeader - kCrc, elements = 0;
  std::memcpy(&elements, graph.data() + 24, sizeof(elements));
  if (elements <= structure) structure -= elements;
  std::memcpy(graph.data() + 16, &structure, sizeof(structure));
  uint32_t crc = Crc(graph, kHeader, structure);
  std::memcpy(graph.data() + 12, &crc, kCrc);
  crc = Crc(graph, 0, graph.size() - kCrc);
  std::memcpy(graph.data() + graph.size() - kCrc, &crc, kCrc);
  return graph;
}

}  // namespace firn::testing
