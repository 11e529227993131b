#include "hlo/proto.h"

#include <gtest/gtest.h>

#include <random>

#include "example_modules.h"
#include "fuzz.h"

namespace neuron::hlo {
namespace {

class Examples : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    std::vector<examples::Example> all = examples::All();
    StatusOr<Module>& module = all[static_cast<size_t>(GetParam())].module;
    ASSERT_TRUE(module.ok()) << module.status().ToString();
    text_ = module->ToText();
    proto_ = ToProto(*module);
  }
  std::string text_, proto_;
};
INSTANTIATE_TEST_SUITE_P(All, Examples, ::testing::Range(0, 7),
                         [](const auto& i) { return examples::All()[size_t(i.param)].name; });

TEST_P(Examples, RoundTrip) {
  const StatusOr<Module> read = FromProto(proto_);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->ToText(), text_);
  EXPECT_EQ(ToProto(*read), proto_);
}

// Whatever the damage, reading ends with a module that verifies or with a message.
void ReadDamaged(std::string_view bytes) {
  const StatusOr<Module> read = FromProto(bytes);
  if (read.ok())
    EXPECT_TRUE(Verify(*read).ok());
  else
    EXPECT_FALSE(read.status().message().empty());
}

TEST_P(Examples, EveryTruncationIsAnError) {
  int accepted = 0;
  for (size_t n = 0; n < proto_.size(); ++n) {
    ReadDamaged(std::string_view(proto_).substr(0, n));
    accepted += FromProto(std::string_view(proto_).substr(0, n)).ok();
  }
  // The entry stands before what may be missing at the end: the program shape and aliases.
  EXPECT_LT(accepted, 4);
}

TEST_P(Examples, FlippedBitsAreHarmless) {
  std::mt19937 random(FuzzSeed(7));
  for (int n = 0; n < 4000; ++n) {
    std::string damaged = proto_;
    const size_t flips = 1 + random() % 3;
    for (size_t k = 0; k < flips; ++k)
      damaged[random() % damaged.size()] ^= static_cast<char>(1u << (random() % 8));
    ReadDamaged(damaged);
  }
}

TEST_P(Examples, InsertedAndRemovedBytesAreHarmless) {
  std::mt19937 random(FuzzSeed(8));
  for (int n = 0; n < 1000; ++n) {
    std::string damaged = proto_;
    const size_t at = random() % damaged.size();
    if (n % 2 == 0)
      damaged.erase(at, 1 + random() % 8);
    else
      damaged.insert(at, 1 + random() % 8, static_cast<char>(random()));
    ReadDamaged(damaged);
  }
}

TEST(FromProto, RefusesGarbage) {
  EXPECT_FALSE(FromProto("").ok());
  EXPECT_FALSE(FromProto("no protobuf at all").ok());
  EXPECT_FALSE(FromProto(std::string(1000, '\xff')).ok());
}

TEST(FromProto, DeepTuplesAreRefused) {
  // field 3 (computations) > field 2 (instructions) > field 3 (shape) > field 4 (tuple) ...
  const auto wrap = [](char tag, const std::string& inner) {
    std::string out(1, tag);
    for (size_t n = inner.size();; n >>= 7) {
      out.push_back(static_cast<char>((n & 0x7f) | (n >= 0x80 ? 0x80 : 0)));
      if (n < 0x80) break;
    }
    return out + inner;
  };
  std::string shape;
  for (int depth = 0; depth < 20000; ++depth) shape = wrap(0x22, shape);
  const std::string module = wrap(0x1a, wrap(0x12, wrap(0x1a, shape)));
  EXPECT_NE(FromProto(module).status().message().find("nests tuples"), std::string::npos);
}

TEST(ToProto, LeavesUnusedComputationsOut) {
  Builder b("unused");
  const Value x = b.Parameter(0, examples::F32({2}));
  b.Combiner(Opcode::kAdd, DType::kF32);
  const StatusOr<Module> module = std::move(b).Build(b.Exp(x));
  ASSERT_TRUE(module.ok());
  EXPECT_EQ(module->computations().size(), 2u);
  const StatusOr<Module> read = FromProto(ToProto(*module));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->computations().size(), 1u);
}

}  // namespace
}  // namespace neuron::hlo
