#include "tests/fuzz/mutations.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <limits>
#include <memory>
#include <random>
#include <string_view>

namespace firn::testing {
namespace {

constexpr size_t kMaxBytes = 1 << 20;  // no input is longer
constexpr size_t kEveryByte = 2048;    // of files up to here each byte is changed

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  size_t Below(size_t n) { return n == 0 ? 0 : static_cast<size_t>(engine_() % n); }
  uint64_t Number() { return engine_(); }

 private:
  std::mt19937_64 engine_;
};

// Numbers at which sizes and signs go wrong.
constexpr uint64_t kTelling[] = {
    0,     1,          2,          7,          8,          16,         64,    100,   127,
    128,   255,        256,        1000,       1024,       4096,       32767, 32768, 65535,
    65536, 0x7fffffff, 0x80000000, 0xffffffff, 1ull << 40, 1ull << 62, ~0ull};

// Characters that mean something to formats of text.
constexpr std::string_view kSigns = "\"\n\r, \\u{}[]e-.9\t";

void PutNumber(std::string* s, Random* r) {
  const size_t n = size_t{1} << r->Below(4);
  if (s->size() < n) return;
  uint64_t v = kTelling[r->Below(std::size(kTelling))];
  if (r->Below(3) == 0) v = s->size() - r->Below(16);
  const size_t at = r->Below(s->size() - n + 1);
  const bool big = r->Below(2) == 0;
  for (size_t i = 0; i < n; ++i) {
    (*s)[at + i] = static_cast<char>(v >> 8 * (big ? n - 1 - i : i) & 255);
  }
}

void Change(std::string* s, const std::vector<std::string>& corpus, Random* r) {
  if (s->empty()) *s = corpus[r->Below(corpus.size())];
  if (s->empty()) return;
  const size_t at = r->Below(s->size()), n = 1 + r->Below(std::min<size_t>(s->size() - at, 64));
  switch (r->Below(8)) {
    case 0:
      (*s)[at] = static_cast<char>((*s)[at] ^ 1 << r->Below(8));
      break;
    case 1:
      (*s)[at] =
          r->Below(2) == 0 ? static_cast<char>(r->Number()) : kSigns[r->Below(kSigns.size())];
      break;
    case 2:
    case 3:
      PutNumber(s, r);
      break;
    case 4:
      s->erase(at, n);
      break;
    case 5:
      s->insert(r->Below(s->size()), s->substr(at, n));
      break;
    case 6: {
      const std::string& other = corpus[r->Below(corpus.size())];
      const size_t from = r->Below(other.size());
      s->replace(at, n, other, from, 1 + r->Below(64));
      break;
    }
    default:
      // Done rarely: most cuts show only that the file ends early.
      if (r->Below(8) == 0) s->resize(at);
  }
}

// A file of fixed size in which the bytes of the present call stand.
class Witness {
 public:
  explicit Witness(const char* path) {
    if (path == nullptr) return;
    const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0) return;
    if (ftruncate(fd, kMaxBytes + 8) == 0) {
      void* p = mmap(nullptr, kMaxBytes + 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
      if (p != MAP_FAILED) memory_ = static_cast<char*>(p);
    }
    close(fd);
  }
  ~Witness() {
    if (memory_ != nullptr) munmap(memory_, kMaxBytes + 8);
  }
  Witness(const Witness&) = delete;
  Witness& operator=(const Witness&) = delete;
  void Note(const std::string& s) {
    if (memory_ == nullptr || s.size() > kMaxBytes) return;
    const uint64_t n = s.size();
    std::memcpy(memory_, &n, 8);
    std::memcpy(memory_ + 8, s.data(), s.size());
  }

 private:
  char* memory_ = nullptr;
};

}  // namespace

std::string Mutation(const std::vector<std::string>& corpus, uint64_t seed, uint64_t round) {
  Random r(seed * 0x9e3779b97f4a7c15 + round);
  std::string s = corpus[r.Below(corpus.size())];
  for (size_t changes = 1 + r.Below(6); changes > 0; --changes) Change(&s, corpus, &r);
  if (s.size() > kMaxBytes) s.resize(kMaxBytes);
  return s;
}

FuzzReport Fuzz(const std::vector<std::string>& corpus,
                const std::function<void(std::string_view)>& target, uint64_t rounds,
                double seconds) {
  const char* long_seconds = std::getenv("FIRN_FUZZ_SECONDS");
  const char* seed_text = std::getenv("FIRN_FUZZ_SEED");
  if (long_seconds != nullptr) {
    seconds = std::strtod(long_seconds, nullptr);
    rounds = std::numeric_limits<uint64_t>::max();
  }
  const uint64_t seed = seed_text != nullptr ? std::strtoull(seed_text, nullptr, 10) : 1;
  Witness witness(std::getenv("FIRN_FUZZ_INPUT"));
  // Measures processor time, so that as much is tried when the machine is busy.
  const std::clock_t start = std::clock();
  FuzzReport report;
  const auto elapsed = [&] { return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC; };
  const auto run = [&](const std::string& s, double until) {
    if (elapsed() >= until) return false;
    witness.Note(s);
    // A copy of exactly this size: AddressSanitizer finds a read one byte beyond it.
    const auto copy = std::make_unique<char[]>(s.size());
    if (!s.empty()) std::memcpy(copy.get(), s.data(), s.size());
    target({copy.get(), s.size()});
    ++report.runs;
    return true;
  };
  for (const std::string& whole : corpus) run(whole, seconds);
  for (const std::string& whole : corpus) {
    const size_t step = 1 + whole.size() / 200;
    for (size_t n = 0; n < whole.size(); n += step) run(whole.substr(0, n), seconds / 2);
    // Odd, so that all places in a byte come up.
    const size_t sparse = 1 + 2 * (whole.size() / 100);
    const size_t stride = whole.size() <= kEveryByte ? std::min(sparse, size_t{7}) : sparse;
    for (size_t bit = 0; bit < whole.size() * 8; bit += stride) {
      std::string flipped = whole;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
      run(flipped, seconds / 2);
    }
  }
  for (uint64_t round = 0; round < rounds; ++round) {
    if (!run(Mutation(corpus, seed, round), seconds)) break;
  }
  report.seconds = elapsed();
  return report;
}

}  // namespace firn::testing
