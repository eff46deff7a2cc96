#ifndef FIRN_TENSOR_ATTRS_H_
#define FIRN_TENSOR_ATTRS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/types/span.h"
#include "firn/device/bare_check.h"
#include "firn/device/enum_words.h"
#include "firn/tensor/shape.h"
#include "firn/tensor/sizes.h"

namespace firn::inner {

// Sees every field of an operation's attributes in declaration order. Used to hash, compare, print
// and store attributes; a writer reads the values, a reader sets them. An enum is seen as its
// number and its words (device/enum_words.h); a visitor that has no use for words sees an integer.
class AttrVisitor {
 public:
  virtual ~AttrVisitor() = default;
  virtual void Field(const char* name, int64_t& value) = 0;
  virtual void Field(const char* name, double& value) = 0;
  virtual void Field(const char* name, bool& value) = 0;
  virtual void Field(const char* name, std::string& value) = 0;
  virtual void Field(const char* name, std::vector<int64_t>& value) = 0;
  // The attributes that are small integers.
  template <class T>
  requires(std::is_integral_v<T> && !std::is_same_v<T, bool> &&
           !std::is_same_v<T, int64_t>) void Field(const char* name, T& value) {
    int64_t wide = static_cast<int64_t>(value);
    Field(name, wide);
    value = static_cast<T>(wide);
  }
  template <class E>
  requires(std::is_enum_v<E>) void Field(const char* name, E& value) {
    static_assert(
        requires { WordsOf(value); },
        "an enum among attributes needs `constexpr auto WordsOf(TheEnum)` beside it, with a word "
        "for each enumerator: see device/enum_words.h");
    static_assert(HasWordsForAll<E>(),
                  "WordsOf must list every enumerator of the enum class once, each with another "
                  "word, and they must count from 0");
    int64_t wide = static_cast<int64_t>(value);
    Enumerator(name, wide, kWordsOf<E>);
    value = static_cast<E>(wide);
  }
  // Lists of a fixed or bounded length; a reader that sets too long a list has it cut.
  template <size_t N>
  void Field(const char* name, std::array<int64_t, N>& value) {
    std::vector<int64_t> list(value.begin(), value.end());
    Field(name, list);
    for (size_t i = 0; i < N && i < list.size(); ++i) value[i] = list[i];
  }
  void Field(const char* name, Dims& value);
  void Field(const char* name, Sizes& value);

  // A field that graph files of earlier versions of Firn have under the names `before`: a number
  // under another name, or the numbers of a list one by one. A reader of such a file takes the
  // numbers from there.
  template <class T>
  requires(std::is_same_v<T, int64_t> ||
           std::is_same_v<T, Sizes>) void Renamed(const char* name, T& value,
                                                  std::initializer_list<const char*> before) {
    Field(name, value);
    std::vector<int64_t> numbers;
    if (!Earlier({before.begin(), before.size()}, &numbers)) return;
    if constexpr (std::is_same_v<T, Sizes>) {
      value = Sizes(numbers);
    } else {
      value = numbers.front();
    }
  }

 private:
  // Reads the numbers with these names, if the visitor's file has all of them.
  virtual bool Earlier(absl::Span<const char* const> /*names*/, std::vector<int64_t>* /*numbers*/) {
    return false;
  }
  // A field that is an enum. The words live as long as the program.
  virtual void Enumerator(const char* name, int64_t& value, const WordList& /*words*/) {
    Field(name, value);
  }
};

// Type-erased operations on one attributes struct.
struct AttrsType {
  // Tells structs apart: kernels of each level (device/level.h) have AttrsTypes of their own.
  const char* name;
  size_t size, align;
  bool simple;  // copying cannot fail, needs no destructor, may be moved as bytes
  void (*construct)(void* to);
  void (*copy)(void* to, const void* from);
  void (*destroy)(void* p);
  void (*visit)(void* p, AttrVisitor& v);
};

// The AttrsType of a struct T with `template <class V> void Visit(V& v) { v.Field("dim", dim); ...
// }`. Attributes are plain options: never tensor data.
template <class T>
const AttrsType* AttrsOf() {
  static constexpr AttrsType kType{
      __PRETTY_FUNCTION__,
      sizeof(T),
      alignof(T),
      std::is_nothrow_copy_constructible_v<T> && std::is_trivially_destructible_v<T>,
      [](void* to) { new (to) T(); },
      [](void* to, const void* from) { new (to) T(*static_cast<const T*>(from)); },
      [](void* p) { static_cast<T*>(p)->~T(); },
      [](void* p, AttrVisitor& v) { static_cast<T*>(p)->Visit(v); }};
  return &kType;
}

// Borrowed attributes: what a call passes down. Must not outlive the struct.
class AttrsRef {
 public:
  AttrsRef() = default;
  template <class T>
  requires requires(T& t, AttrVisitor& v) { t.Visit(v); }
  AttrsRef(const T& attrs)  // NOLINT: implicit, so that Apply(op, {x}, FooAttrs{...}) reads well
      : data_(&attrs), type_(AttrsOf<T>()) {}
  AttrsRef(const void* data, const AttrsType* type) : data_(data), type_(type) {}

  template <class T>
  const T& get() const {
    FIRN_BARE_DCHECK(type_ != nullptr && std::strcmp(type_->name, AttrsOf<T>()->name) == 0);
    return *static_cast<const T*>(data_);
  }
  const void* data() const { return data_; }
  const AttrsType* type() const { return type_; }

 private:
  const void* data_ = nullptr;
  const AttrsType* type_ = nullptr;
};

// Owned attributes, kept by tape nodes and graph instructions. Small simple structs stay in place.
class Attrs {
 public:
  Attrs() = default;
  explicit Attrs(AttrsRef ref) : type_(ref.type()) {
    if (type_ == nullptr) return;
    type_->copy(Reserve(), ref.data());
  }
  Attrs(Attrs&& o) noexcept { Take(o); }
  Attrs& operator=(Attrs&& o) noexcept {
    if (this != &o) {
      Clear();
      Take(o);
    }
    return *this;
  }
  Attrs(const Attrs& o) : Attrs(o.ref()) {}
  Attrs& operator=(const Attrs& o) { return *this = Attrs(o.ref()); }
  ~Attrs() { Clear(); }

  AttrsRef ref() const { return {data(), type_}; }
  const void* data() const { return InPlace() ? inline_ : heap_; }
  void* mutable_data() { return InPlace() ? static_cast<void*>(inline_) : heap_; }

 private:
  static constexpr size_t kInline = 96;  // a list of dimensions and three numbers
  bool InPlace() const { return type_ != nullptr && type_->simple && type_->size <= kInline; }
  void* Reserve() {
    if (!InPlace()) heap_ = ::operator new(type_->size, std::align_val_t(type_->align));
    return mutable_data();
  }
  void Clear() noexcept {
    if (type_ == nullptr || InPlace()) return;
    type_->destroy(heap_);
    ::operator delete(heap_, std::align_val_t(type_->align));
  }
  void Take(Attrs& o) noexcept {
    type_ = o.type_;
    if (InPlace()) {
      __builtin_memcpy(inline_, o.inline_, kInline);
    } else {
      heap_ = o.heap_;
    }
    o.type_ = nullptr;
  }

  const AttrsType* type_ = nullptr;
  union {
    alignas(16) unsigned char inline_[kInline];
    void* heap_;
  };
};

// Attributes of that type with their default values; no attributes for null.
Attrs DefaultAttrs(const AttrsType* type);

// "{dim=1, mode=reflect}"; "" without attributes.
std::string ToString(AttrsRef attrs);
uint64_t Hash(AttrsRef attrs);
bool Equal(AttrsRef a, AttrsRef b);

}  // namespace firn::inner

#endif  // FIRN_TENSOR_ATTRS_H_
