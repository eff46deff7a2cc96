// Arrays written and read, files as NumPy writes them, every kind of element and damage.
#include "firn/io/npy/npy.h"

#include <string>
#include <vector>

#include "firn/device/cpu_allocator.h"
#include "firn/io/npy/npy_status.h"
#include "firn/tensor/from.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using namespace std::string_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A file of version 1.0 whose header is `text`.
std::string File(const std::string& text, const std::string& elements) {
  return "\x93NUMPY\1\0"s + static_cast<char>(text.size()) + '\0' + text + elements;
}

std::string Header(const std::string& descr, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }";
}

Tensor Parse(const std::string& bytes, const NpyOptions& options = {}) {
  const absl::StatusOr<Tensor> t = TryParseNpy(bytes, "x.npy", options);
  EXPECT_TRUE(t.ok()) << t.status();
  return t.ok() ? *t : Tensor();
}

std::string Error(const std::string& bytes, const NpyOptions& options = {}) {
  const absl::StatusOr<Tensor> t = TryParseNpy(bytes, "x.npy", options);
  EXPECT_FALSE(t.ok());
  return std::string(t.status().message());
}

TEST(NpyTest, EveryDtypeComesBack) {
  const Tensor x = FromValues({0.f, 1.f, 2.f, 3.f, 4.f, 5.f}).Reshape({2, 3});
  for (const DType d : {DType::kF32, DType::kF64, DType::kF16, DType::kI8, DType::kI32, DType::kI64,
                        DType::kU8, DType::kBool}) {
    const Tensor as = x.To(d);
    WriteNpy(TempPath("x.npy"), as);
    const Tensor back = ReadNpy(TempPath("x.npy"));
    EXPECT_EQ(back.dtype(), d);
    EXPECT_TRUE(back.Equals(as)) << DTypeName(d);
  }
  WriteNpy(TempPath("x.npy"), x.To(DType::kBF16));
  EXPECT_TRUE(ReadNpy(TempPath("x.npy")).Equals(x));
  WriteNpy(TempPath("x.npy"), x.T());  // a view
  EXPECT_TRUE(ReadNpy(TempPath("x.npy")).Equals(x.T()));
}

TEST(NpyTest, WritesWhatNumPyWrites) {
  const std::string bytes = *TryFormatNpy(FromValues<int32_t>({1, 2}));
  EXPECT_EQ(bytes.size(), 128u + 8);
  EXPECT_EQ(bytes.substr(0, 10), "\x93NUMPY\1\0v\0"s);
  EXPECT_EQ(bytes.substr(10, 59), "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }  ");
  EXPECT_EQ(bytes[127], '\n');
  EXPECT_THAT(*TryFormatNpy(FromVector(std::vector<float>{1}, {})), HasSubstr("'shape': (), }"));
  EXPECT_THAT(*TryFormatNpy(FromVector(std::vector<float>{1}, {1, 1})),
              HasSubstr("'shape': (1, 1), }"));
}

TEST(NpyTest, ReadsBothOrdersAndBothByteOrders) {
  EXPECT_THAT(Parse(File(Header(">i2", "(3,)"), "\x01\x02\xff\xfe\x80\x00"s)).ToVector<int64_t>(),
              ElementsAre(258, -2, -32768));
  EXPECT_THAT(Parse(File(Header("<u2", "(1,)"), "\xff\xff"s)).ToVector<int64_t>(),
              ElementsAre(65535));
  EXPECT_THAT(Parse(File(Header(">f4", "()"), "\x3f\xc0\0\0"s)).ToVector<float>(),
              ElementsAre(1.5f));
  const Tensor t = Parse(File(Header("|u1", "(2, 3)", true), "abcdef"));
  EXPECT_EQ(t.shape(), (Shape{2, 3}));
  EXPECT_THAT(t.ToVector<int64_t>(), ElementsAre('a', 'c', 'e', 'b', 'd', 'f'));
  const Tensor u = Parse(File(Header("|u1", "(2, 2, 2)", true), "abcdefgh"));
  EXPECT_THAT(u.ToVector<int64_t>(), ElementsAre('a', 'e', 'c', 'g', 'b', 'f', 'd', 'h'));
  EXPECT_EQ(Parse(File(Header("|V2", "(1,)"), "\x80\x3f"), {.void_is_bf16 = true}).dtype(),
            DType::kBF16);
  EXPECT_EQ(Parse(File(Header("<f4", "(0, 3)"), "")).shape(), (Shape{0, 3}));
  EXPECT_EQ(
      Parse(File("{\"shape\": (1L,), \"descr\":'|b1', 'fortran_order':False}\n", "\1")).dtype(),
      DType::kBool);
}

TEST(NpyTest, RefusesWhatItDoesNotRead) {
  EXPECT_THAT(Error("hello"), HasSubstr("signature"));
  EXPECT_THAT(Error(File(Header("|O", "(1,)"), "x")), HasSubstr("descr: expected b1"));
  EXPECT_THAT(Error(File(Header("<c8", "(1,)"), "12345678")), HasSubstr("got \"<c8\""));
  EXPECT_THAT(Error(File(Header("|V2", "(1,)"), "ab")), HasSubstr("descr"));
  EXPECT_THAT(Error(File(Header("<f4", "(2)"), "")), HasSubstr("header: expected ,"));
  EXPECT_THAT(Error(File(Header("<f4", "(-2,)"), "")), HasSubstr("expected a size"));
  EXPECT_THAT(Error(File(Header("<f4", "(9223372036854775808,)"), "")), HasSubstr("below 2^63"));
  EXPECT_THAT(Error(File(Header("<f4", "(4611686018427387904, 4)"), "")), HasSubstr("shape"));
  EXPECT_THAT(Error(File(Header("<f4", "(1,1,1,1,1,1,1,1,1)"), "")), HasSubstr("8 dimensions"));
  EXPECT_THAT(Error(File("{'descr': '<f4'}", "")), HasSubstr("expected descr, fortran_order and"));
  EXPECT_THAT(Error(File("{'descr': '<f4', 'descr': '<f4'}", "")), HasSubstr("once each"));
  EXPECT_THAT(Error(File(Header("<f4", "(2,)"), "1234567")),
              HasSubstr("elements: expected 8 bytes for shape [2], got 7"));
  EXPECT_THAT(Error(File(Header("|b1", "(1,)"), "\2")), HasSubstr("expected a bool"));
  EXPECT_THAT(Error(File(Header("<f4", "(99,)"), ""), {.limits = {.max_total_bytes = 100}}),
              HasSubstr("100 bytes allowed"));
}

// Damage, a kind that is not read, and a limit have a code each.
TEST(NpyTest, TellsDamageFromWhatIsNotRead) {
  const auto code = [](const std::string& bytes, const NpyOptions& options = {}) {
    return TryParseNpy(bytes, "x.npy", options).status().code();
  };
  constexpr auto kDamage = absl::StatusCode::kDataLoss;
  constexpr auto kNotRead = absl::StatusCode::kUnimplemented;
  constexpr auto kLimit = absl::StatusCode::kResourceExhausted;
  const std::string fields =
      "{'descr': [('a', '<f4'), ('b', '<i4', (2,))], 'fortran_order': False, "
      "'shape': (1,), }";
  EXPECT_EQ(code(File(fields, "123456789012")), kNotRead);
  EXPECT_THAT(Error(File(fields, "123456789012")), HasSubstr("descr: a structure of fields"));
  for (const char* descr : {"|O", "<c8", "<c16", "|S7", "<U3", "|V4", "<M8[ns]", "<m8[us]", "<f16",
                            "float32", "?", "|V2"}) {
    EXPECT_EQ(code(File(Header(descr, "(1,)"), "12345678")), kNotRead) << descr;
    EXPECT_THAT(Error(File(Header(descr, "(1,)"), "12345678")), HasSubstr("which is not read"));
  }
  for (const char* descr : {"<f3", "x", "<i", "<q8", "||f4", "<f4 ", "S-1", "M8["}) {
    EXPECT_EQ(code(File(Header(descr, "(1,)"), "1234")),
              std::string(descr) == "<i" ? kNotRead : kDamage)
        << descr;
  }
  EXPECT_EQ(code(File(Header("|u1", "(1,1,1,1,1,1,1,1,1)"), "x")), kNotRead);
  EXPECT_EQ(code("\x93NUMPY\4\0"s + File(Header("|u1", "(1,)"), "x").substr(8)), kNotRead);
  EXPECT_EQ(code("\x93NUMPY\1\1"s + File(Header("|u1", "(1,)"), "x").substr(8)), kDamage);
  const std::string one = File(Header("|u1", "(1,)"), "x");
  EXPECT_EQ(code(one + one), kNotRead);  // numpy.save twice
  EXPECT_EQ(code(one + "y"), kDamage);
  EXPECT_EQ(code(File(Header("<u8", "(1,)"), "\0\0\0\0\0\0\0\x80"s)), kNotRead);
  EXPECT_EQ(code("\x93NUMPY\1\0\x11\x27"s + std::string(10001, ' ')), kLimit);
  EXPECT_EQ(code("\x93NUMPY\1\0\x11\x27"s + std::string(9999, ' ')), kDamage);
  EXPECT_EQ(code(File(Header("|u1", "(1,02)"), "xy")), kDamage);
  EXPECT_EQ(code(one, {.limits = {.max_total_bytes = 0}}), kLimit);
}

TEST(NpyTest, TakesNoMemoryThatTheFileDoesNotJustify) {
  CpuAllocator().ResetPeak();
  const int64_t before = CpuAllocator().stats().live_bytes;
  Error(File(Header("<f4", "(8000000000,)"), "1234"));
  EXPECT_LT(CpuAllocator().stats().peak_bytes - before, 1 << 20);
}

StateDict Two() {
  return {{"x", FromValues({1.f, 2.f})}, {"layer/b", FromVector(std::vector<uint8_t>(5000, 7))}};
}

TEST(NpzTest, ComesBackPlainAndCompressed) {
  const std::string path = TempPath("two.npz");
  for (const bool compress : {false, true}) {
    WriteNpz(path, Two(), {.compress = compress});
    const StateDict back = ReadNpz(path);
    ASSERT_EQ(back.size(), 2u);
    EXPECT_EQ(back.begin()->first, "x");
    EXPECT_TRUE(back["x"].Equals(Two()["x"]));
    EXPECT_TRUE(back["layer/b"].Equals(Two()["layer/b"]));
    EXPECT_EQ(ReadFile(path).size() < 2000, compress);
  }
  WriteNpz(path, {});
  EXPECT_TRUE(ReadNpz(path).empty());
}

class NpzDamageTest : public ::testing::TestWithParam<bool> {};

INSTANTIATE_TEST_SUITE_P(Compressed, NpzDamageTest, ::testing::Bool());

TEST_P(NpzDamageTest, EveryTruncationAndFlippedBitIsAnErrorOrTheSame) {
  const std::string path = TempPath("two.npz");
  WriteNpz(path, {{"x", FromValues({1.f, 2.f})}, {"y", FromValues({3.f})}},
           {.compress = GetParam()});
  const std::string whole = ReadFile(path);
  const StateDict right = *TryParseNpz(whole, "two.npz");
  for (size_t n = 0; n < whole.size(); ++n) {
    EXPECT_FALSE(TryParseNpz(whole.substr(0, n), "two.npz").ok()) << n;
  }
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
    const absl::StatusOr<StateDict> got = TryParseNpz(flipped, "two.npz");
    if (!got.ok()) continue;
    for (const auto& [name, tensor] : *got) {  // names have no checksum
      EXPECT_TRUE(tensor.Equals(right["x"]) || tensor.Equals(right["y"])) << bit;
    }
  }
}

TEST(NpzTest, NamesWhatIsWrong) {
  const std::string path = TempPath("two.npz");
  WriteNpz(path, {{"x", FromValues({1.f})}});
  std::string bytes = ReadFile(path);
  const auto error = [](const std::string& b) {
    return std::string(TryParseNpz(b, "two.npz").status().message());
  };
  std::string renamed = bytes;
  for (size_t at; (at = renamed.find("x.npy")) != std::string::npos;)
    renamed.replace(at, 5, "x.txt");
  EXPECT_THAT(error(renamed), HasSubstr("x.txt): expected a member whose name ends in .npy"));
  std::string changed = bytes;
  changed[35 + 128] ^= 1;  // an element
  EXPECT_THAT(error(changed), HasSubstr("expected the checksum"));
  EXPECT_THAT(error("PK"), HasSubstr("not a ZIP file"));
  EXPECT_THAT(error("text"), HasSubstr("not a ZIP file"));
  EXPECT_THAT(error("\x80\4."), HasSubstr("it is a pickle, and not a ZIP file"));
  const absl::Status zip = TryParseNpy(bytes, "x.npy").status();
  EXPECT_EQ(zip.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(zip.message()),
              HasSubstr("a ZIP file, as .npz and .pt are, and not a .npy"));
  EXPECT_THAT(firn::testing::ErrorOf([] { ReadNpz(TempPath("none.npz")); }), HasSubstr("none.npz"));
}

}  // namespace
}  // namespace firn::io
