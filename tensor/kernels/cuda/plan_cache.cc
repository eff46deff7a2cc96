// The file: a line that says what it is, the CRC-32 of all that follows, the number of entries, and
// for each the lengths of key and value and their bytes. Numbers are 32-bit, little-endian.
//
// The file is not trusted: nothing is read before the checksum has matched, and lengths are checked
// even then.

#include "firn/tensor/kernels/cuda/plan_cache.h"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "firn/device/atomic_file.h"
#include "firn/device/environment.h"

namespace firn::cuda {
namespace {

constexpr std::string_view kMagic = "firn plans 2\n";
constexpr size_t kEntryBytes = PlanCache::kMaxKey + PlanCache::kMaxValue + 8;
constexpr size_t kMaxFile = kMagic.size() + 8 + PlanCache::kMaxEntries * kEntryBytes;

void PutNumber(size_t number, std::string* to) {
  for (int shift = 0; shift < 32; shift += 8) to->push_back(static_cast<char>(number >> shift));
}

// Takes bytes from the front of a text; false when there are not so many.
bool TakeBytes(size_t count, std::string_view* from, std::string_view* bytes) {
  if (from->size() < count) return false;
  *bytes = from->substr(0, count);
  from->remove_prefix(count);
  return true;
}
bool TakeNumber(std::string_view* from, size_t* number) {
  std::string_view bytes;
  if (!TakeBytes(4, from, &bytes)) return false;
  *number = 0;
  for (size_t i = 0; i < 4; ++i) *number |= size_t{static_cast<unsigned char>(bytes[i])} << 8 * i;
  return true;
}

size_t Checksum(std::string_view bytes) {
  return crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
}

// A file's bytes; nothing if there is no file, "" if it is too long.
std::optional<std::string> BytesOf(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return std::nullopt;  // a pipe would block
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return std::nullopt;
  // The size of the open file: another file may have its name by now.
  const auto size = static_cast<size_t>(std::max<std::streamoff>(file.tellg(), 0));
  file.seekg(0);
  std::string bytes(size > kMaxFile ? 0 : size, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<size_t>(file.gcount()));
  return bytes;
}

template <class Entries>
bool Decode(std::string_view bytes, Entries* entries) {
  std::string_view magic, key, value;
  size_t checksum = 0, count = 0, key_size = 0, value_size = 0;
  if (!TakeBytes(kMagic.size(), &bytes, &magic) || magic != kMagic) return false;
  if (!TakeNumber(&bytes, &checksum) || checksum != Checksum(bytes)) return false;
  if (!TakeNumber(&bytes, &count) || count > PlanCache::kMaxEntries) return false;
  for (size_t i = 0; i < count; ++i) {
    if (!TakeNumber(&bytes, &key_size) || key_size > PlanCache::kMaxKey) return false;
    if (!TakeNumber(&bytes, &value_size) || value_size > PlanCache::kMaxValue) return false;
    if (!TakeBytes(key_size, &bytes, &key) || !TakeBytes(value_size, &bytes, &value)) return false;
    entries->insert_or_assign(std::string(key), std::string(value));
  }
  return bytes.empty();
}

template <class Entries>
std::string Encode(const Entries& entries) {
  std::string body;
  PutNumber(entries.size(), &body);
  for (const auto& [key, value] : entries) {
    PutNumber(key.size(), &body);
    PutNumber(value.size(), &body);
    body += key;
    body += value;
  }
  std::string file(kMagic);
  PutNumber(Checksum(body), &file);
  return file + body;
}

std::optional<std::string> ValueOf(const std::map<std::string, std::string, std::less<>>& entries,
                                   std::string_view key) {
  const auto it = entries.find(key);
  return it == entries.end() ? std::nullopt : std::optional(it->second);
}

}  // namespace

PlanCache::Entries PlanCache::ReadFile() {
  Entries entries;
  const std::optional<std::string> bytes = path_.empty() ? std::nullopt : BytesOf(path_);
  if (!bytes || Decode(*bytes, &entries)) return entries;
  if (!std::exchange(warned_, true)) {
    std::fprintf(stderr, "firn: ignoring %s: damaged, or written by another version\n",
                 path_.c_str());
  }
  return {};
}

void PlanCache::ReadOnce() {
  if (!std::exchange(read_, true)) found_ = ReadFile();
}

std::optional<std::string> PlanCache::Find(std::string_view key) {
  const std::lock_guard lock(mutex_);
  ReadOnce();
  return ValueOf(found_, key);
}

std::optional<std::string> PlanCache::FindNewest(std::string_view key) {
  const std::lock_guard lock(mutex_);
  ReadOnce();
  const std::optional<std::string> added = ValueOf(added_, key);
  return added ? added : ValueOf(found_, key);
}

void PlanCache::Add(std::string_view key, std::string_view value) {
  if (key.size() > kMaxKey || value.size() > kMaxValue) return;
  const std::lock_guard lock(mutex_);
  if (added_.size() == kMaxEntries && !added_.contains(key)) return;
  added_.insert_or_assign(std::string(key), std::string(value));
  unsaved_ = true;
}

void PlanCache::Save() {
  const std::lock_guard lock(mutex_);
  SaveLocked();
}

void PlanCache::SaveNowAndThen() {
  const std::lock_guard lock(mutex_);
  if (Clock::now() - last_save_ >= between_saves_) SaveLocked();
}

void PlanCache::SaveLocked() {
  if (!std::exchange(unsaved_, false) || path_.empty()) return;
  Entries all = added_;
  for (auto& [key, value] : ReadFile()) {
    if (all.size() == kMaxEntries) break;
    all.emplace(key, std::move(value));
  }
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  firn::inner::internal::ReplaceFile(path_, Encode(all)).IgnoreError();
  last_save_ = Clock::now();
}

PlanCache& SharedPlanCache() {
  static PlanCache* const cache = [] {
    const std::string folder = env::CacheFolder();
    std::atexit([] { SharedPlanCache().Save(); });
    return new PlanCache(folder.empty() ? "" : folder + "/plans");  // never destroyed
  }();
  return *cache;
}

}  // namespace firn::cuda
