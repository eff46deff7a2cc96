// Rank 0 makes a file without a name, which the others open by its process and number in /proc. The
// system removes the file with the last process that has it open, however that ends. A number
// written into it tells the ranks that they have the same file: processes of different containers
// may see other ones there.

#include "firn/device/comm/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"

namespace firn::comm {
namespace {

// An open file, closed with it.
class File {
 public:
  explicit File(int number) : number_(number) {}
  ~File() {
    if (number_ >= 0) close(number_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int number() const { return number_; }

 private:
  const int number_;
};

// -1 where there is none. Its memory is taken at once, so that a lack of it is an error here and no
// signal later.
int MakeFile(int64_t bytes) {
  const int file = memfd_create("firn_ranks", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0) return -1;
  int code = EINTR;  // as signals that interrupt it give it
  for (int tries = 0; code == EINTR && tries < 1000; ++tries) {
    code = posix_fallocate(file, 0, bytes);
  }
  if (code == 0 && fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0) {
    return file;
  }
  close(file);
  return -1;
}

int OpenFile(int64_t process, int64_t file, int64_t bytes) {
  const std::string name = absl::StrCat("/proc/", process, "/fd/", file);
  const int opened = open(name.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (opened < 0) return -1;
  struct stat is {};
  const int seals = fcntl(opened, F_GET_SEALS);  // -1: no memory file, which could be cut
  if (fstat(opened, &is) == 0 && S_ISREG(is.st_mode) && is.st_size == bytes && seals >= 0 &&
      (seals & F_SEAL_SHRINK) != 0) {
    return opened;
  }
  close(opened);
  return -1;
}

int64_t RandomKey() {
  std::random_device random;
  return (int64_t{random()} << 31) ^ int64_t { random() };
}

absl::StatusOr<bool> AllHave(Communicator& ranks, bool mine) {
  uint8_t have = mine ? 1 : 0;
  FIRN_RETURN_IF_ERROR(ranks.AllReduce(&have, 1, Element::kU8, Reduction::kMin));
  return have == 1;
}

}  // namespace

SharedMemory::~SharedMemory() { munmap(data_, bytes_); }

std::unique_ptr<SharedMemory> SharedMemory::Map(int file, int64_t bytes) {
  if (file < 0) return nullptr;
  const auto size = static_cast<size_t>(bytes);
  void* const data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (data == MAP_FAILED) return nullptr;
  return std::unique_ptr<SharedMemory>(new SharedMemory(static_cast<std::byte*>(data), size));
}

absl::StatusOr<std::unique_ptr<SharedMemory>> SharedMemory::Share(Communicator& ranks,
                                                                  int64_t bytes, bool wanted) {
  FIRN_ASSIGN_OR_RETURN(const bool all_want, AllHave(ranks, wanted));
  if (!all_want) return std::unique_ptr<SharedMemory>();
  const bool first = ranks.rank() == 0;
  const File made(first ? MakeFile(bytes) : -1);
  std::unique_ptr<SharedMemory> memory = Map(made.number(), bytes);
  int64_t offer[3] = {getpid(), made.number(), RandomKey()};
  if (memory != nullptr) std::memcpy(memory->data(), &offer[2], sizeof(int64_t));
  FIRN_RETURN_IF_ERROR(ranks.Broadcast(offer, 3, Element::kI64, 0));
  if (!first && offer[1] >= 0) {
    const File opened(OpenFile(offer[0], offer[1], bytes));
    memory = Map(opened.number(), bytes);
    if (memory != nullptr && std::memcmp(memory->data(), &offer[2], sizeof(int64_t)) != 0) {
      memory = nullptr;
    }
  }
  // Rank 0 closes its file when all have opened it.
  FIRN_ASSIGN_OR_RETURN(const bool all_have, AllHave(ranks, memory != nullptr));
  if (!all_have) memory = nullptr;
  return memory;
}

}  // namespace firn::comm
