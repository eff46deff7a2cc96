#ifndef FIRN_TENSOR_INTRUSIVE_PTR_H_
#define FIRN_TENSOR_INTRUSIVE_PTR_H_

#include <cstddef>
#include <cstdint>
#include <utility>

namespace firn::inner {

// Base of objects that count their own references. Counting is atomic, so handles may be copied and
// dropped on any thread; the object itself is as thread-safe as its class says. It uses the
// compiler's builtins, because <atomic> is long, and every source that includes firn.h would read
// it.
class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;
  void AddRef() const noexcept { __atomic_fetch_add(&count_, 1, __ATOMIC_RELAXED); }
  // True when this was the last reference. The sole owner skips the locked decrement: no other
  // thread can be copying the only handle.
  bool DropRef() const noexcept {
    return __atomic_load_n(&count_, __ATOMIC_ACQUIRE) == 1 ||
           __atomic_fetch_sub(&count_, 1, __ATOMIC_ACQ_REL) == 1;
  }
  uint32_t use_count() const noexcept { return __atomic_load_n(&count_, __ATOMIC_RELAXED); }

 protected:
  ~RefCounted() = default;

 private:
  mutable uint32_t count_ = 1;
};

// Called when the last reference is dropped; a class specialises it by a static `Destroy(T*)`.
template <class T>
void DestroyRefCounted(T* p) noexcept {
  if constexpr (requires { T::Destroy(p); }) {
    T::Destroy(p);
  } else {
    delete p;
  }
}

// Owning pointer to a RefCounted object. One word; a new object starts with one reference, which
// `Adopt` takes over.
template <class T>
class IntrusivePtr {
 public:
  IntrusivePtr() = default;
  IntrusivePtr(std::nullptr_t) {}  // NOLINT: as std::shared_ptr
  static IntrusivePtr Adopt(T* p) noexcept {
    IntrusivePtr r;
    r.p_ = p;
    return r;
  }
  static IntrusivePtr Share(T* p) noexcept {
    if (p != nullptr) p->AddRef();
    return Adopt(p);
  }
  IntrusivePtr(const IntrusivePtr& o) noexcept : p_(o.p_) {
    if (p_ != nullptr) p_->AddRef();
  }
  IntrusivePtr(IntrusivePtr&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  IntrusivePtr& operator=(IntrusivePtr o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~IntrusivePtr() {
    // Read once: after the counting the compiler would have to read it again.
    if (T* const p = p_; p != nullptr && p->DropRef()) DestroyRefCounted(p);
  }

  T* get() const noexcept { return p_; }
  T* operator->() const noexcept { return p_; }
  T& operator*() const noexcept { return *p_; }
  explicit operator bool() const noexcept { return p_ != nullptr; }
  T* release() noexcept { return std::exchange(p_, nullptr); }
  void reset() noexcept { *this = IntrusivePtr(); }
  friend bool operator==(const IntrusivePtr& a, const IntrusivePtr& b) { return a.p_ == b.p_; }

 private:
  T* p_ = nullptr;
};

template <class T, class... Args>
IntrusivePtr<T> MakeIntrusive(Args&&... args) {
  return IntrusivePtr<T>::Adopt(new T(std::forward<Args>(args)...));
}

}  // namespace firn::inner

#endif  // FIRN_TENSOR_INTRUSIVE_PTR_H_
