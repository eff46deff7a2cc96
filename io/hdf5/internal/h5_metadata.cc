// The library reaches files by drivers ("virtual file drivers"), tables of functions, of which this
// is one. It gets the memory from the file access properties and never sees the disk. So a full
// disk cannot make the library fail, which could not close a file that it cannot write.
#include "firn/io/hdf5/internal/h5_metadata.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "firn/device/status_macros.h"

namespace firn::io::internal {
namespace {

constexpr int64_t kPageBytes = 64 << 10;

// The library's handle of an open file. The library's own part comes first.
struct OpenFile {
  H5FD_t base;
  H5Metadata* metadata;
};

H5Metadata& Of(const H5FD_t* file) { return *reinterpret_cast<const OpenFile*>(file)->metadata; }

H5FD_t* Open(const char*, unsigned, hid_t access, haddr_t) {
  const void* info = H5Pget_driver_info(access);
  auto* file = info == nullptr ? nullptr : new (std::nothrow) OpenFile{};
  if (file == nullptr) return nullptr;
  file->metadata = *static_cast<H5Metadata* const*>(info);
  return &file->base;
}

herr_t Close(H5FD_t* file) {
  delete reinterpret_cast<OpenFile*>(file);
  return 0;
}

// Small pieces lie side by side.
herr_t Query(const H5FD_t*, unsigned long* flags) {
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_AGGREGATE_SMALLDATA;
  return 0;
}

haddr_t GetSize(const H5FD_t* file, H5FD_mem_t) { return static_cast<haddr_t>(Of(file).size()); }

herr_t SetSize(H5FD_t* file, H5FD_mem_t, haddr_t size) {
  Of(file).set_size(static_cast<int64_t>(size));
  return 0;
}

haddr_t GetWritten(const H5FD_t* file, H5FD_mem_t) {
  return static_cast<haddr_t>(Of(file).written());
}

herr_t Read(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t offset, size_t bytes, void* data) {
  Of(file).Read(static_cast<int64_t>(offset), data, bytes);
  return 0;
}

herr_t Write(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t offset, size_t bytes, const void* data) {
  try {
    Of(file).Write(static_cast<int64_t>(offset), data, bytes);
    return 0;
  } catch (const std::bad_alloc&) {
    return -1;
  }
}

// Since HDF5 1.13 the table begins with its version, which is still 1, and a number that tells
// drivers apart: those below 256 are the library's own.
template <class Functions>
void SetVersion(Functions& functions) {
  if constexpr (requires { functions.version, functions.value; }) {
    functions.version = 1;
    functions.value = 388;
  }
}

// Registered once and for all.
hid_t Driver() {
  static const hid_t driver = [] {
    constexpr H5FD_mem_t kKinds[] = H5FD_FLMAP_DICHOTOMY;
    H5FD_class_t functions = {};
    SetVersion(functions);
    functions.name = "firn_metadata";
    functions.maxaddr = (haddr_t{1} << 62) - 1;
    functions.fc_degree = H5F_CLOSE_WEAK;
    functions.fapl_size = sizeof(H5Metadata*);
    functions.open = Open;
    functions.close = Close;
    functions.query = Query;
    functions.get_eoa = GetSize;
    functions.set_eoa = SetSize;
    functions.get_eof = GetWritten;
    functions.read = Read;
    functions.write = Write;
    std::copy(std::begin(kKinds), std::end(kKinds), std::begin(functions.fl_map));
    return H5FDregister(&functions);
  }();
  return driver;
}

// Calls f(page's number, offset in the page, bytes before, bytes) for each page of a piece.
template <class F>
void ForEachPage(int64_t offset, size_t bytes, F f) {
  for (size_t done = 0; done < bytes;) {
    const int64_t at = offset + static_cast<int64_t>(done), in_page = at % kPageBytes;
    const size_t n = std::min(bytes - done, static_cast<size_t>(kPageBytes - in_page));
    f(at / kPageBytes, in_page, done, n);
    done += n;
  }
}

}  // namespace

struct H5Metadata::Page {
  std::array<char, kPageBytes> bytes = {};
};

H5Metadata::H5Metadata() = default;
H5Metadata::~H5Metadata() = default;

H5Id H5Metadata::FileAccess() {
  H5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Metadata* self = this;
  if (!access.ok() || Driver() < 0 || H5Pset_driver(access.get(), Driver(), &self) < 0) return {};
  return access;
}

void H5Metadata::Write(int64_t offset, const void* data, size_t bytes) {
  ForEachPage(offset, bytes, [&](int64_t number, int64_t in_page, size_t done, size_t n) {
    std::unique_ptr<Page>& page = pages_[number];
    if (page == nullptr) page = std::make_unique<Page>();
    std::memcpy(page->bytes.data() + in_page, static_cast<const char*>(data) + done, n);
  });
  written_ = std::max(written_, offset + static_cast<int64_t>(bytes));
}

void H5Metadata::Read(int64_t offset, void* data, size_t bytes) const {
  std::memset(data, 0, bytes);
  ForEachPage(offset, bytes, [&](int64_t number, int64_t in_page, size_t done, size_t n) {
    const auto page = pages_.find(number);
    if (page == pages_.end()) return;
    std::memcpy(static_cast<char*>(data) + done, page->second->bytes.data() + in_page, n);
  });
}

absl::Status H5Metadata::ForEachPiece(
    int64_t begin, int64_t end,
    absl::FunctionRef<absl::Status(int64_t offset, std::string_view bytes)> put) const {
  for (auto p = pages_.lower_bound(begin / kPageBytes); p != pages_.end(); ++p) {
    const int64_t start = p->first * kPageBytes;
    const int64_t from = std::max(begin, start), to = std::min(end, start + kPageBytes);
    if (from >= to) break;
    FIRN_RETURN_IF_ERROR(
        put(from, {p->second->bytes.data() + (from - start), static_cast<size_t>(to - from)}));
  }
  return absl::OkStatus();
}

}  // namespace firn::io::internal
