#ifndef FIRN_IO_NNABLA_MODEL_INTERNAL_PROTO_TYPE_H_
#define FIRN_IO_NNABLA_MODEL_INTERNAL_PROTO_TYPE_H_

// Messages of protocol buffers as plain structs: a ProtoType says which field stands in which
// member, and readers and writers of texts and of bytes go by that alone. No type here has itself
// for a field, directly or through others, so code that recurses through a message goes no deeper
// than the types do.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace firn::io::internal {

// How a value is held: int64_t, uint32_t, bool, float, double, std::string, or a struct.
enum class ProtoKind { kInt64, kUint32, kBool, kFloat, kDouble, kString, kMessage };

struct ProtoType;

struct ProtoField {
  std::string_view name;
  int number = 0;
  ProtoKind kind = ProtoKind::kMessage;
  bool repeated = false;
  // A message has at most one of the fields with the same number here, unless it is 0.
  int oneof = 0;
  size_t slot = 0;  // for code that tells fields apart by it
  const ProtoType* type = nullptr;
  // The place to read into: the member; for repeated scalars the vector; for repeated messages a
  // new element.
  void* (*open)(void* message, const ProtoField& field) = nullptr;
  // The value to write: the member, or null if the message has none; for repeated scalars the
  // vector; for repeated messages the one at `i`, or null if there are no more.
  const void* (*at)(const void* message, const ProtoField& field, size_t i) = nullptr;
};

struct ProtoType {
  std::string_view name;
  size_t bytes = 0;  // that one takes in memory, without what its members own
  std::vector<ProtoField> fields;

  const ProtoField* Find(std::string_view field) const;
  const ProtoField* Find(int number) const;
};

// The type of struct T, by specialization.
template <class T>
const ProtoType& ProtoTypeOf();

template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

// kMessage for types that are no scalars.
template <class T>
constexpr ProtoKind ProtoKindOf() {
  if constexpr (std::is_same_v<T, int64_t>) return ProtoKind::kInt64;
  if constexpr (std::is_same_v<T, uint32_t>) return ProtoKind::kUint32;
  if constexpr (std::is_same_v<T, bool>) return ProtoKind::kBool;
  if constexpr (std::is_same_v<T, float>) return ProtoKind::kFloat;
  if constexpr (std::is_same_v<T, double>) return ProtoKind::kDouble;
  if constexpr (std::is_same_v<T, std::string>) return ProtoKind::kString;
  return ProtoKind::kMessage;
}

// A scalar, or a vector of scalars.
template <class S, auto kMember>
ProtoField Scalar(std::string_view name, int number) {
  using Member = std::remove_reference_t<decltype(std::declval<S&>().*kMember)>;
  ProtoField field{.name = name, .number = number};
  if constexpr (IsVector<Member>::value) {
    field.kind = ProtoKindOf<typename Member::value_type>();
    field.repeated = true;
  } else {
    field.kind = ProtoKindOf<Member>();
  }
  field.open = [](void* s, const ProtoField&) -> void* { return &(static_cast<S*>(s)->*kMember); };
  field.at = [](const void* s, const ProtoField&, size_t) -> const void* {
    return &(static_cast<const S*>(s)->*kMember);
  };
  return field;
}

// Messages in a vector of structs.
template <class S, auto kMember>
ProtoField Messages(std::string_view name, int number) {
  using Vector = std::remove_reference_t<decltype(std::declval<S&>().*kMember)>;
  ProtoField field{.name = name, .number = number, .repeated = true};
  field.type = &ProtoTypeOf<typename Vector::value_type>();
  field.open = [](void* s, const ProtoField&) -> void* {
    return &(static_cast<S*>(s)->*kMember).emplace_back();
  };
  field.at = [](const void* s, const ProtoField&, size_t i) -> const void* {
    const Vector& all = static_cast<const S*>(s)->*kMember;
    return i < all.size() ? &all[i] : nullptr;
  };
  return field;
}

// A message in an optional struct.
template <class S, auto kMember>
ProtoField Message(std::string_view name, int number) {
  using Optional = std::remove_reference_t<decltype(std::declval<S&>().*kMember)>;
  ProtoField field{.name = name, .number = number};
  field.type = &ProtoTypeOf<typename Optional::value_type>();
  field.open = [](void* s, const ProtoField&) -> void* {
    Optional& member = static_cast<S*>(s)->*kMember;
    if (!member.has_value()) member.emplace();
    return &*member;
  };
  field.at = [](const void* s, const ProtoField&, size_t) -> const void* {
    const Optional& member = static_cast<const S*>(s)->*kMember;
    return member.has_value() ? &*member : nullptr;
  };
  return field;
}

// A field for a member, as its type asks.
template <class S, auto kMember>
ProtoField Field(std::string_view name, int number) {
  using Member = std::remove_reference_t<decltype(std::declval<S&>().*kMember)>;
  if constexpr (IsOptional<Member>::value) {
    return Message<S, kMember>(name, number);
  } else if constexpr (IsVector<Member>::value) {
    if constexpr (ProtoKindOf<typename Member::value_type>() == ProtoKind::kMessage) {
      return Messages<S, kMember>(name, number);
    } else {
      return Scalar<S, kMember>(name, number);
    }
  } else {
    return Scalar<S, kMember>(name, number);
  }
}

// The member itself, as a message of `type`, which has it for all it holds.
template <class S, auto kMember>
ProtoField Part(std::string_view name, int number, const ProtoType& type) {
  ProtoField field = Scalar<S, kMember>(name, number);
  field.kind = ProtoKind::kMessage;
  field.repeated = false;
  field.type = &type;
  return field;
}

// A message's field that is the message's only member, which stands for it.
template <class Member>
ProtoField Only(std::string_view name, int number) {
  ProtoField field{.name = name, .number = number};
  field.kind = ProtoKindOf<typename Member::value_type>();
  field.repeated = true;
  field.open = [](void* s, const ProtoField&) -> void* { return s; };
  field.at = [](const void* s, const ProtoField&, size_t) -> const void* { return s; };
  return field;
}

}  // namespace firn::io::internal

#endif  // FIRN_IO_NNABLA_MODEL_INTERNAL_PROTO_TYPE_H_
