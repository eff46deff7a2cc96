// Attributes of every type through names and values, and what does not fit.
#include "firn/io/graph/internal/stored_attrs.h"

#include <array>
#include <cmath>
#include <limits>

#include "firn/io/graph/internal/graph_archive.h"
#include "firn/tensor/problems/conv_problem.h"
#include "firn/tensor/problems/pool_problem.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace firn::io::internal {
namespace {

using testing::HasSubstr;

enum class Mode : int8_t { kA, kB, kC };
// The words are in another order than the enum.
constexpr auto WordsOf(Mode) {
  return inner::EnumWords<Mode>({{Mode::kA, "a"}, {Mode::kC, "the last"}, {Mode::kB, "b"}});
}

struct AllAttrs {
  int64_t wide = 1;
  int32_t narrow = 2;
  Mode mode = Mode::kA;
  double number = 0.5;
  bool flag = false;
  std::string text = "text";
  std::vector<int64_t> list = {1, 2};
  std::array<int64_t, 2> pair = {3, 4};
  Dims dims{2, 5};
  Sizes sizes = {1, 2, 3};
  template <class V>
  void Visit(V& v) {
    v.Field("wide", wide);
    v.Field("narrow", narrow);
    v.Field("mode", mode);
    v.Field("number", number);
    v.Field("flag", flag);
    v.Field("text", text);
    v.Field("list", list);
    v.Field("pair", pair);
    v.Field("dims", dims);
    v.Field("sizes", sizes);
  }
};

std::vector<StoredAttr> ThroughAFile(const std::vector<StoredAttr>& attrs) {
  StoredGraph graph;
  graph.instrs.push_back({.op = "op", .attrs = attrs, .in = {}, .out = {}, .path = ""});
  return DecodeGraph(EncodeGraph(graph), "file", 0)->instrs[0].attrs;
}

AllAttrs RoundTrip(const AllAttrs& attrs) {
  return RestoreAttrs(AttrsOf<AllAttrs>(), ThroughAFile(*StoreAttrs(attrs)))->ref().get<AllAttrs>();
}

TEST(StoredAttrsTest, KeepsEveryType) {
  AllAttrs a;
  a.wide = INT64_MIN;
  a.narrow = -7;
  a.mode = Mode::kB;
  a.number = -0.1;
  a.flag = true;
  a.text = std::string("nul\0and\xff", 8);
  a.list = {};
  a.pair = {INT64_MAX, -1};
  a.dims = Dims(8, 9);
  a.sizes = {INT64_MIN, 7};
  const AllAttrs b = RoundTrip(a);
  EXPECT_TRUE(Equal(a, b)) << ToString(a) << ToString(b);
  EXPECT_FALSE(Equal(AllAttrs(), b));
}

TEST(StoredAttrsTest, KeepsNumbersToTheBit) {
  for (const double number :
       {-0.0, std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::infinity()}) {
    AllAttrs a;
    a.number = number;
    EXPECT_EQ(std::signbit(RoundTrip(a).number), std::signbit(number));
    EXPECT_EQ(RoundTrip(a).number, number);
  }
  AllAttrs a;
  a.number = std::nan("");
  EXPECT_TRUE(std::isnan(RoundTrip(a).number));
}

TEST(StoredAttrsTest, WhatIsNotNamedHasItsDefault) {
  const std::vector<StoredAttr> fields = {{"flag", true}, {"text", std::string("new")}};
  const absl::StatusOr<Attrs> attrs = RestoreAttrs(AttrsOf<AllAttrs>(), fields);
  ASSERT_TRUE(attrs.ok()) << attrs.status();
  AllAttrs want;
  want.flag = true;
  want.text = "new";
  EXPECT_TRUE(Equal(attrs->ref(), want));
}

TEST(StoredAttrsTest, NoAttributesAreNone) {
  EXPECT_TRUE(StoreAttrs({})->empty());
  EXPECT_EQ(RestoreAttrs(nullptr, {})->ref().type(), nullptr);
  const std::vector<StoredAttr> fields = {{"flag", true}};
  EXPECT_FALSE(RestoreAttrs(nullptr, fields).ok());
}

TEST(StoredAttrsTest, RefusesWhatDoesNotFit) {
  const auto error = [](const StoredAttr& attr) {
    return std::string(RestoreAttrs(AttrsOf<AllAttrs>(), {&attr, 1}).status().message());
  };
  EXPECT_EQ(error({"narrow", int64_t{INT32_MAX}}), "");
  EXPECT_THAT(error({"narrow", int64_t{1} << 32}), HasSubstr("'narrow' does not fit"));
  EXPECT_THAT(error({"mode", std::string("b")}), HasSubstr("'mode' is of another type"));
  EXPECT_THAT(error({"text", StoredWord{"b"}}), HasSubstr("'text' is of another type"));
  EXPECT_THAT(error({"pair", std::vector<int64_t>{1, 2, 3}}), HasSubstr("'pair' does not fit"));
  EXPECT_THAT(error({"pair", std::vector<int64_t>{1}}), HasSubstr("'pair' does not fit"));
  EXPECT_THAT(error({"dims", std::vector<int64_t>(9)}), HasSubstr("'dims' does not fit"));
  EXPECT_THAT(error({"sizes", std::vector<int64_t>(4)}), HasSubstr("'sizes' does not fit"));
  EXPECT_THAT(error({"flag", int64_t{1}}), HasSubstr("'flag' is of another type"));
  EXPECT_THAT(error({"flags", true}), HasSubstr("there is no attribute 'flags'"));
}

// --- Enumerators ---------------------------------------------------------------------------------

const StoredAttr* FieldNamed(const std::vector<StoredAttr>& fields, const std::string& name) {
  for (const StoredAttr& f : fields) {
    if (f.name == name) return &f;
  }
  return nullptr;
}

TEST(StoredAttrsTest, EnumeratorsAreWords) {
  AllAttrs a;
  a.mode = Mode::kC;
  const std::vector<StoredAttr> fields = ThroughAFile(*StoreAttrs(a));
  ASSERT_NE(FieldNamed(fields, "mode"), nullptr);
  EXPECT_EQ(FieldNamed(fields, "mode")->value, AttrValue(StoredWord{"the last"}));
  EXPECT_EQ(RoundTrip(a).mode, Mode::kC);
}

// Enumerators in files before version 3: positions among the words, whatever the enum's order.
TEST(StoredAttrsTest, EnumeratorsMayBeNumbers) {
  const Mode modes[] = {Mode::kA, Mode::kC, Mode::kB};
  for (int64_t i = 0; i < 3; ++i) {
    const StoredAttr field = {"mode", i};
    const absl::StatusOr<Attrs> attrs = RestoreAttrs(AttrsOf<AllAttrs>(), {&field, 1});
    ASSERT_TRUE(attrs.ok()) << attrs.status();
    EXPECT_EQ(attrs->ref().get<AllAttrs>().mode, modes[i]);
  }
}

TEST(StoredAttrsTest, RefusesWhatIsNoEnumerator) {
  const auto error = [](const std::vector<StoredAttr>& fields) {
    return std::string(RestoreAttrs(AttrsOf<AllAttrs>(), fields).status().message());
  };
  const std::string words = ", which stands for none of a, the last or b";
  EXPECT_EQ(error({{"mode", StoredWord{"c"}}}), "attribute 'mode' is 'c'" + words);
  EXPECT_EQ(error({{"mode", StoredWord{""}}}), "attribute 'mode' is ''" + words);
  for (const int64_t number : {int64_t{-1}, int64_t{3}, int64_t{256}, INT64_MAX, INT64_MIN}) {
    EXPECT_EQ(error({{"mode", number}}),
              "attribute 'mode' is number " + std::to_string(number) + words);
  }
  EXPECT_THAT(error({{"mode", int64_t{1}}, {"mode", int64_t{1}}}), HasSubstr("given twice"));
  EXPECT_THAT(error({{"mode", int64_t{1}}, {"mode", StoredWord{"b"}}}), HasSubstr("given twice"));
  EXPECT_THAT(error({{"mode", StoredWord{"b"}}, {"mode", int64_t{2}}}), HasSubstr("given twice"));

  AllAttrs none;
  none.mode = static_cast<Mode>(7);
  EXPECT_EQ(std::string(StoreAttrs(none).status().message()), "attribute 'mode' is 7" + words);
}

// An attribute that had other names in earlier files.
struct RenamedAttrs {
  Sizes stride = 1;
  int64_t count = 2;
  template <class V>
  void Visit(V& v) {
    v.Renamed("stride", stride, {"stride_h", "stride_w"});
    v.Renamed("count", count, {"number"});
  }
};

TEST(StoredAttrsTest, ReadsWhatWasRenamed) {
  const std::vector<StoredAttr> fields = {
      {"stride_w", int64_t{4}}, {"number", int64_t{5}}, {"stride_h", int64_t{3}}};
  const absl::StatusOr<Attrs> attrs = RestoreAttrs(AttrsOf<RenamedAttrs>(), fields);
  ASSERT_TRUE(attrs.ok()) << attrs.status();
  EXPECT_EQ(attrs->ref().get<RenamedAttrs>().stride, Sizes(3, 4));
  EXPECT_EQ(attrs->ref().get<RenamedAttrs>().count, 5);
  const std::vector<StoredAttr> now = *StoreAttrs(attrs->ref());
  ASSERT_EQ(now.size(), 2u);
  EXPECT_EQ(now[0].name, "stride");
  EXPECT_EQ(std::get<std::vector<int64_t>>(now[0].value), (std::vector<int64_t>{3, 4}));
  EXPECT_TRUE(Equal(RestoreAttrs(AttrsOf<RenamedAttrs>(), now)->ref(), attrs->ref()));
}

// The first version of the format had one number for the height and one for the width.
TEST(StoredAttrsTest, ReadsImagesOptionsOfTheFirstFiles) {
  const std::vector<StoredAttr> conv = {
      {"stride_h", int64_t{2}},  {"stride_w", int64_t{1}},   {"padding_h", int64_t{0}},
      {"padding_w", int64_t{3}}, {"dilation_h", int64_t{1}}, {"dilation_w", int64_t{4}},
      {"groups", int64_t{5}},    {"result_h", int64_t{6}},   {"result_w", int64_t{7}}};
  const absl::StatusOr<Attrs> c = RestoreAttrs(AttrsOf<ConvAttrs>(), conv);
  ASSERT_TRUE(c.ok()) << c.status();
  EXPECT_TRUE(Equal(c->ref(), Attrs(ConvAttrs{.stride = {2, 1},
                                              .padding = {0, 3},
                                              .dilation = {1, 4},
                                              .groups = 5,
                                              .result = {6, 7}})
                                  .ref()));
  const std::vector<StoredAttr> pool = {
      {"kernel_h", int64_t{3}},   {"kernel_w", int64_t{2}},   {"stride_h", int64_t{2}},
      {"stride_w", int64_t{1}},   {"padding_h", int64_t{1}},  {"padding_w", int64_t{0}},
      {"dilation_h", int64_t{1}}, {"dilation_w", int64_t{2}}, {"ceil_mode", true},
      {"adaptive_h", int64_t{4}}, {"adaptive_w", int64_t{5}}, {"image_h", int64_t{8}},
      {"image_w", int64_t{9}}};
  const absl::StatusOr<Attrs> p = RestoreAttrs(AttrsOf<PoolAttrs>(), pool);
  ASSERT_TRUE(p.ok()) << p.status();
  EXPECT_TRUE(Equal(p->ref(), Attrs(PoolAttrs{.kernel = {3, 2},
                                              .stride = {2, 1},
                                              .padding = {1, 0},
                                              .dilation = {1, 2},
                                              .ceil_mode = true,
                                              .adaptive = {4, 5},
                                              .image = {8, 9}})
                                  .ref()));
}

TEST(StoredAttrsTest, RefusesFormerNamesThatSayTooLittleOrTooMuch) {
  const auto error = [](const std::vector<StoredAttr>& fields) {
    return std::string(RestoreAttrs(AttrsOf<RenamedAttrs>(), fields).status().message());
  };
  const StoredAttr h = {"stride_h", int64_t{3}}, w = {"stride_w", int64_t{4}};
  const StoredAttr both = {"stride", std::vector<int64_t>{3, 3}};
  EXPECT_THAT(error({h}), HasSubstr("there is no attribute 'stride_h'"));
  EXPECT_THAT(error({h, {"stride_w", true}}), HasSubstr("there is no attribute 'stride_h'"));
  EXPECT_THAT(error({h, w, h}), HasSubstr("there is no attribute 'stride_h'"));
  EXPECT_THAT(error({both, h, w}), HasSubstr("'stride' does not fit"));
}

}  // namespace
}  // namespace firn::io::internal
