#ifndef FIRN_DEVICE_OBJECT_POOL_H_
#define FIRN_DEVICE_OBJECT_POOL_H_

#include <cstddef>
#include <cstdint>
#include <new>

#include "firn/device/macros.h"

namespace firn::inner {

// Memory for objects of one class that are made and dropped all the time: a per-thread list of
// freed objects; making and deleting one takes a handful of instructions. Derive from Pooled<T>:
//   class Node final : public Pooled<Node> { ... };
// An object may be deleted on another thread than it was made on; it then serves that thread. A
// thread's list is freed when the thread ends. Sanitizer builds use plain new and delete, so that
// use after free is found.
template <class T>
class Pooled {
 public:
  static void* operator new(size_t bytes) {
#if !FIRN_HAS_ASAN
    FreeList& list = list_;
    if (list.head != nullptr && bytes == sizeof(T)) [[likely]] {
      Link* link = list.head;
      list.head = link->next;
      --list.count;
      return link;
    }
#endif
    return ::operator new(bytes);
  }

  static void operator delete(void* p, [[maybe_unused]] size_t bytes) noexcept {
#if !FIRN_HAS_ASAN
    FreeList& list = list_;
    if (bytes == sizeof(T) && list.count < list.capacity) [[likely]] {
      Push(list, p);
      return;
    }
    if (bytes == sizeof(T) && !list.opened) {
      Open(list);
      Push(list, p);
      return;
    }
#endif
    ::operator delete(p);  // without the size: clang takes it only from version 19 on
  }

 private:
  struct Link {
    Link* next;
  };
  // Constant-initialised and trivially destroyed, so that reaching it needs no guard; `capacity` is
  // 0 before Open and after the thread's Closer has run.
  struct FreeList {
    Link* head = nullptr;
    uint32_t count = 0;
    uint32_t capacity = 0;
    bool opened = false;
  };
  struct Closer {
    ~Closer() {
      list_.capacity = 0;
      while (list_.head != nullptr) {
        Link* link = list_.head;
        list_.head = link->next;
        ::operator delete(link);
      }
      list_.count = 0;
    }
  };

  static void Push(FreeList& list, void* p) noexcept {
    list.head = new (p) Link{list.head};
    ++list.count;
  }
  FIRN_NOINLINE static void Open(FreeList& list) noexcept {
    static thread_local Closer closer;
    static_cast<void>(closer);
    list.opened = true;
    list.capacity = 1024;
  }

  static inline constinit thread_local FreeList list_;
};

}  // namespace firn::inner

#endif  // FIRN_DEVICE_OBJECT_POOL_H_
