// Files that ask for as much memory as files can make the readers of io/monitors take no more than
// docs/security.md says.
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <new>
#include <string>

#include "firn/io/monitors/event_reader_status.h"
#include "firn/io/monitors/record_reader_status.h"
#include "firn/io/monitors/series_status.h"
#include "firn/io/monitors/tfrecord.h"
#include "firn/io/wire/internal/wire.h"
#include "gtest/gtest.h"

namespace {

std::atomic<int64_t> live = 0, peak = 0;

void Count(int64_t bytes) {
  const int64_t now = live += bytes;
  for (int64_t most = peak; now > most && !peak.compare_exchange_weak(most, now);) {
  }
}

}  // namespace

void* operator new(size_t bytes) {
  void* p = std::malloc(bytes);
  if (p == nullptr) throw std::bad_alloc();
  Count(static_cast<int64_t>(malloc_usable_size(p)));
  return p;
}
void operator delete(void* p) noexcept {
  Count(-static_cast<int64_t>(malloc_usable_size(p)));
  std::free(p);
}
void operator delete(void* p, size_t) noexcept { operator delete(p); }

namespace firn::io {
namespace {

// The most memory that `f` takes, in multiples of `bytes`.
template <class F>
double TimesOf(size_t bytes, F f) {
  const int64_t before = live;
  peak = before;
  f();
  const double times = static_cast<double>(peak - before) / static_cast<double>(bytes);
  std::cout << times << " times " << bytes << " bytes\n";
  return times;
}

std::string Repeat(const std::string& piece, size_t count) {
  std::string all;
  for (size_t i = 0; i < count; ++i) all += piece;
  return all;
}

TEST(ReaderMemoryTest, Events) {
  const auto times = [](const std::string& file) {
    return TimesOf(file.size(), [&] { EXPECT_TRUE(TryParseEvents(file, "f").ok()); });
  };
  const std::string nothing = RecordOf("");
  EXPECT_LT(times(Repeat(nothing, 30'000)), 100);
  // The shortest messages that become objects: nodes of a graph, their inputs, histograms, images.
  const auto message = [](int field, const std::string& content) {
    internal::WireWriter writer;
    writer.Bytes(field, content);
    return writer.bytes();
  };
  const std::string name = message(1, "a");
  for (const std::string& event :
       {message(4, Repeat(message(1, name), 200'000)),
        message(4, message(1, name + Repeat(message(3, ""), 500'000))),
        message(5, Repeat(message(1, name + message(5, "")), 200'000)),
        message(5, Repeat(message(1, name + message(4, "")), 200'000))}) {
    const double most = times(RecordOf(event));
    EXPECT_LT(most, 100);
    EXPECT_GT(most, 10) << "these are no messages any more";
  }
}

TEST(ReaderMemoryTest, EventsKeepToTheLimitOfARecord) {
  const std::string file = RecordOf(std::string(1 << 20, '\0'));
  EXPECT_LT(TimesOf(file.size(),
                    [&] {
                      const auto status =
                          TryParseEvents(file, "f", {.max_metadata_bytes = 1000}).status();
                      EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
                    }),
            0.01);
}

TEST(ReaderMemoryTest, RecordsKeepToTheLimitOfATable) {
  constexpr LoadLimits kLimits = {.max_metadata_bytes = 1 << 20};
  const std::string wide = std::string(1 << 20, ',') + "\n", rows = Repeat("{}\n", 400'000);
  std::string fields = "{";
  for (int i = 0; i < 100'000; ++i) fields += "\"" + std::to_string(i) + "\":1,";
  fields.back() = '}';
  fields += "\n";
  const auto times = [&](const std::string& text, const std::string& name) {
    return TimesOf(static_cast<size_t>(kLimits.max_metadata_bytes), [&] {
      EXPECT_EQ(TryParseRecords(text, name, kLimits).status().code(),
                absl::StatusCode::kResourceExhausted);
    });
  };
  EXPECT_LT(times(wide, "f.csv"), 6);
  EXPECT_LT(times("a\n" + Repeat("1\n", 400'000), "f.csv"), 6);
  EXPECT_LT(times(rows, "f.jsonl"), 6);
  EXPECT_LT(times(fields, "f.jsonl"), 6);
}

TEST(ReaderMemoryTest, Series) {
  const std::string series = Repeat("0 0\n", 200'000), timer = Repeat("0 0 0 0\n", 100'000);
  EXPECT_LT(TimesOf(series.size(), [&] { EXPECT_TRUE(TryParseSeries(series, "f").ok()); }), 12);
  EXPECT_LT(TimesOf(timer.size(), [&] { EXPECT_TRUE(TryParseTimer(timer, "f").ok()); }), 12);
}

}  // namespace
}  // namespace firn::io
