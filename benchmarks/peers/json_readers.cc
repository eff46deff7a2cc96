// Reads the header of a safetensors file with 80,000 tensors, 10 MB of JSON, by Firn's events, as a
// document of nlohmann-json, by RapidJSON's events (UTF-8 checked, full precision) and as a
// document of RapidJSON. Debian: rapidjson-dev.
//
//   bazel run //benchmarks:json_peers
#include <rapidjson/document.h>
#include <rapidjson/reader.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "benchmarks/call_times.h"
#include "firn/io/json/internal/json_events.h"

namespace firn::benchmarks {
namespace {

std::string Header(int tensors) {
  std::string text = "{";
  for (int i = 0; i < tensors; ++i) {
    const int64_t begin = int64_t{i} * 4096 * 1024 * 4;
    absl::StrAppend(&text, i == 0 ? "" : ",", "\"model.layers.", i / 8, ".self_attn.block_", i % 8,
                    ".projection.weight\":{\"dtype\":\"F32\",\"shape\":[4096,1024],",
                    "\"data_offsets\":[", begin, ",", begin + 4096 * 1024 * 4, "]}");
  }
  return text + "}";
}

// Counts keys and adds up numbers, and keeps nothing.
struct Counted {
  uint64_t keys = 0, sum = 0;
};

class Events final : public io::internal::JsonEvents {
 public:
  absl::Status BeginObject() override { return absl::OkStatus(); }
  absl::Status Key(std::string) override { return ++counted.keys, absl::OkStatus(); }
  absl::Status EndObject() override { return absl::OkStatus(); }
  absl::Status BeginArray() override { return absl::OkStatus(); }
  absl::Status EndArray() override { return absl::OkStatus(); }
  absl::Status String(std::string) override { return absl::OkStatus(); }
  absl::Status Whole(uint64_t value) override { return counted.sum += value, absl::OkStatus(); }
  absl::Status Number(double, std::string_view) override { return absl::OkStatus(); }
  absl::Status Bool(bool) override { return absl::OkStatus(); }
  absl::Status Null() override { return absl::OkStatus(); }
  Counted counted;
};

struct RapidEvents : rapidjson::BaseReaderHandler<rapidjson::UTF8<>, RapidEvents> {
  bool Key(const char*, rapidjson::SizeType, bool) { return ++counted.keys, true; }
  bool Uint(unsigned value) { return counted.sum += value, true; }
  bool Uint64(uint64_t value) { return counted.sum += value, true; }
  Counted counted;
};

constexpr unsigned kStrict =
    rapidjson::kParseValidateEncodingFlag | rapidjson::kParseFullPrecisionFlag;

int Run() {
  const std::string text = Header(80'000);
  std::printf("%.1f MB\n", static_cast<double>(text.size()) / 1e6);
  Counted ours, theirs;
  PrintTimesInTurns({{"Firn, events",
                      [&] {
                        Events events;
                        if (!io::internal::ReadJson(text, 8, &events).ok()) std::puts("refused");
                        ours = events.counted;
                      }},
                     {"nlohmann-json, document",
                      [&] {
                        if (nlohmann::json::parse(text).size() != 80'000)
                          std::puts("other entries");
                      }},
                     {"RapidJSON, events",
                      [&] {
                        RapidEvents events;
                        rapidjson::StringStream stream(text.c_str());
                        if (!rapidjson::Reader().Parse<kStrict>(stream, events))
                          std::puts("refused");
                        theirs = events.counted;
                      }},
                     {"RapidJSON, document",
                      [&] {
                        rapidjson::Document document;
                        document.Parse<kStrict>(text.c_str());
                        if (document.MemberCount() != 80'000) std::puts("other entries");
                      }}},
                    7);
  const bool same = ours.keys == theirs.keys && ours.sum == theirs.sum;
  std::puts(same ? "the same numbers" : "other numbers");
  return same ? 0 : 1;
}

}  // namespace
}  // namespace firn::benchmarks

int main() { return firn::benchmarks::Run(); }
