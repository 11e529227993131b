#include "base/sha256.h"

#include <gtest/gtest.h>

namespace neuron {
namespace {

// The vectors of FIPS 180-4's examples.
TEST(Sha256, PublishedVectors) {
  EXPECT_EQ(ToHex(Sha256Of("")),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(ToHex(Sha256Of("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(ToHex(Sha256Of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(ToHex(Sha256Of(std::string(1000000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesGiveTheSameAsTheWhole) {
  const std::string text(1000, 'x');
  for (size_t piece = 1; piece < 200; piece += 13) {
    Sha256 hash;
    for (size_t at = 0; at < text.size(); at += piece)
      hash.Update(std::string_view(text).substr(at, piece));
    EXPECT_EQ(hash.Finish(), Sha256Of(text)) << piece;
  }
}

}  // namespace
}  // namespace neuron
