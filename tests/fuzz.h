// Seeds of fuzz tests: always the same in the suite, others in each round of
// `--gtest_shuffle --gtest_repeat=...` (make fuzz-containers).
#pragma once

#include <gtest/gtest.h>

#include <cstdint>

namespace neuron {

inline uint32_t FuzzSeed(uint32_t own) {
  return own + 1000 * static_cast<uint32_t>(::testing::UnitTest::GetInstance()->random_seed());
}

}  // namespace neuron
