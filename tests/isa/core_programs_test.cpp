// Containers of one and of two programs: round trip and damage.
#include "isa/core_programs.h"

#include <gtest/gtest.h>

#include "test_programs.h"

namespace neuron::isa {
namespace {

TEST(CorePrograms, OneIsThePlainContainer) {
  const std::vector<Program> one = {AddProgram()};
  EXPECT_EQ(EncodeCores(one), Encode(one[0]));
  const auto read = DecodeCores(Encode(one[0]));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(*read, one);
}

TEST(CorePrograms, TwoComeBackInOrder) {
  const std::vector<Program> two = {AddProgram(4), AddProgram(7)};
  const auto read = DecodeCores(EncodeCores(two));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(*read, two);
}

TEST(CorePrograms, DamageIsRefused) {
  const std::string bytes = EncodeCores(std::vector<Program>{AddProgram(4), AddProgram(7)});
  for (size_t size = 0; size < bytes.size(); size += 1 + size / 64)
    EXPECT_FALSE(DecodeCores(bytes.substr(0, size)).ok()) << size;
  EXPECT_FALSE(DecodeCores(bytes + "x").ok());
  for (size_t at = 0; at < bytes.size(); at += 1 + at / 64) {
    std::string flipped = bytes;
    flipped[at] ^= 0x10;
    EXPECT_FALSE(DecodeCores(flipped).ok()) << at;
  }
}

TEST(CorePrograms, TargetsAgree) {
  Program other = AddProgram(7);
  other.target = Target::kTrn3;
  const auto read = DecodeCores(EncodeCores(std::vector<Program>{AddProgram(4), other}));
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.status().message().find("different targets"), std::string::npos);
}

}  // namespace
}  // namespace neuron::isa
