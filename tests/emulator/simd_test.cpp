// Kernels on every SIMD target of the host: the same bits (dots excepted), and activation functions
// against double-precision libm.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "emulator/kernels/kernels.h"

namespace neuron::emulator {
namespace {

using isa::ActivationFunction;
using isa::AluOp;

// Ordinary values, then every kind of special one.
std::vector<float> Samples() {
  std::vector<float> x;
  std::mt19937 random(7);
  std::uniform_int_distribution<uint32_t> bits;
  for (int i = 0; i < 20000; ++i) x.push_back(std::bit_cast<float>(bits(random)));
  std::uniform_real_distribution<float> small(-1, 1), medium(-12, 12), large(-120, 120);
  for (int i = 0; i < 20000; ++i) x.push_back(small(random));
  for (int i = 0; i < 20000; ++i) x.push_back(medium(random));
  for (int i = 0; i < 5000; ++i) x.push_back(large(random));
  for (const float s : {0.0f,
                        -0.0f,
                        1.0f,
                        -1.0f,
                        0.5f,
                        -0.5f,
                        2.0f,
                        INFINITY,
                        -INFINITY,
                        NAN,
                        1e-45f,
                        -1e-45f,
                        1.17549435e-38f,
                        3.4028235e38f,
                        -3.4028235e38f,
                        88.72f,
                        88.73f,
                        -103.0f,
                        -87.4f,
                        1e6f,
                        8388608.0f,
                        2147483648.0f,
                        -2147483648.0f})
    x.push_back(s);
  return x;
}

double Ulps(float got, double want) {
  const auto rounded = static_cast<float>(want);
  if (std::isnan(want)) return std::isnan(got) ? 0 : 1e9;
  if (std::isinf(rounded)) return got == rounded ? 0 : (std::isinf(got) ? 1e9 : 1e8);
  if (std::isinf(got) || std::isnan(got)) return 1e9;
  const double scale = std::max(std::fabs(want), 0x1p-126);
  return std::fabs(got - want) / (std::exp2(std::floor(std::log2(scale))) * 0x1p-23);
}

struct Case {
  ActivationFunction function;
  double (*exact)(double);
  double ulps;
  float from = -INFINITY;  // below, the result is subnormal and only small
};

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double Silu(double x) { return x < -700 ? x * 0.0 : x / (1 + std::exp(-x)); }
double Softplus(double x) { return std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x))); }
double Mish(double x) { return x < -700 ? x * 0.0 : x * std::tanh(Softplus(x)); }
double ErfDx(double x) { return 1.12837916709551257390 * std::exp(-x * x); }
double Rsqrt(double x) { return 1 / std::sqrt(x); }

const Case kCases[] = {
    {ActivationFunction::kExp, [](double x) { return std::exp(x); }, 1.0},
    {ActivationFunction::kLog, [](double x) { return std::log(x); }, 0.6},
    {ActivationFunction::kLog1p, [](double x) { return std::log1p(x); }, 0.6},
    {ActivationFunction::kLog2, [](double x) { return std::log2(x); }, 0.6},
    {ActivationFunction::kLog10, [](double x) { return std::log10(x); }, 0.6},
    {ActivationFunction::kExpm1, [](double x) { return std::expm1(x); }, 0.6},
    {ActivationFunction::kExp2, [](double x) { return std::exp2(x); }, 0.6},
    {ActivationFunction::kTanh, [](double x) { return std::tanh(x); }, 1.7},
    {ActivationFunction::kSigmoid, Sigmoid, 2.5},
    {ActivationFunction::kSinh, [](double x) { return std::sinh(x); }, 0.6},
    {ActivationFunction::kCosh, [](double x) { return std::cosh(x); }, 0.6},
    {ActivationFunction::kAsinh, [](double x) { return std::asinh(x); }, 0.6},
    {ActivationFunction::kAcosh, [](double x) { return std::acosh(x); }, 0.6},
    {ActivationFunction::kAtanh, [](double x) { return std::atanh(x); }, 0.6},
    {ActivationFunction::kErf, [](double x) { return std::erf(x); }, 1.5},
    {ActivationFunction::kErfc, [](double x) { return std::erfc(x); }, 0.6},
    {ActivationFunction::kSilu, Silu, 3.5, -87},
    {ActivationFunction::kSoftplus, Softplus, 0.6},
    {ActivationFunction::kMish, Mish, 0.6},
    {ActivationFunction::kErfDx, ErfDx, 0.6},
    {ActivationFunction::kRsqrt, Rsqrt, 1.6},
    {ActivationFunction::kSinFull, [](double x) { return std::sin(x); }, 0.6},
    {ActivationFunction::kCos, [](double x) { return std::cos(x); }, 0.6},
    {ActivationFunction::kTan, [](double x) { return std::tan(x); }, 0.6},
    {ActivationFunction::kArctan, [](double x) { return std::atan(x); }, 0.6},
    {ActivationFunction::kAsin, [](double x) { return std::asin(x); }, 0.6},
    {ActivationFunction::kAcos, [](double x) { return std::acos(x); }, 0.6},
    {ActivationFunction::kLgamma, [](double x) { return std::lgamma(x); }, 0.6},
};

TEST(Activations, AreAccurate) {
  const std::vector<float> x = Samples();
  std::vector<float> y(x.size());
  for (const Case& c : kCases) {
    Kernels().activation[static_cast<int>(c.function)](y.data(), x.data(),
                                                       static_cast<int64_t>(x.size()));
    double worst = 0;
    size_t at = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      if (x[i] < c.from && std::fabs(y[i]) < 0x1p-120) continue;
      const double ulps = Ulps(y[i], c.exact(x[i]));
      if (ulps > worst) {
        worst = ulps;
        at = i;
      }
    }
    EXPECT_LE(worst, c.ulps) << isa::RowOf(c.function).name << "(" << x[at] << ") = " << y[at]
                             << ", expected " << c.exact(x[at]);
  }
}

TEST(Activations, GeluIsAbsolutelyAccurate) {
  std::vector<float> x, y, dy;
  for (int i = -4000; i <= 4000; ++i) x.push_back(0.003f * static_cast<float>(i));
  y.resize(x.size());
  dy.resize(x.size());
  const auto n = static_cast<int64_t>(x.size());
  Kernels().activation[static_cast<int>(ActivationFunction::kGelu)](y.data(), x.data(), n);
  Kernels().activation[static_cast<int>(ActivationFunction::kGeluDx)](dy.data(), x.data(), n);
  for (size_t i = 0; i < x.size(); ++i) {
    const double cdf = 0.5 * std::erfc(-x[i] * std::sqrt(0.5));
    const double density = 0.39894228040143267794 * std::exp(-0.5 * double{x[i]} * x[i]);
    ASSERT_NEAR(y[i], x[i] * cdf, 2e-7 * std::max(1.0, std::fabs(double{x[i]}))) << x[i];
    ASSERT_NEAR(dy[i], cdf + x[i] * density, 3e-7) << x[i];
  }
}

// Polynomials meet their limits from below, and a NaN with any payload stays one.
TEST(Activations, StayInTheirRange) {
  std::vector<float> x, y;
  for (int i = 0; i <= 400000; ++i) x.push_back(3e-5f * static_cast<float>(i));
  for (uint32_t payload = 1; payload < 0x400000; payload += 0x1234d)
    for (const uint32_t quiet_nan : {0x7fc00000u, 0xffc00000u})
      x.push_back(std::bit_cast<float>(quiet_nan | payload));
  y.resize(x.size());
  for (const ActivationFunction function :
       {ActivationFunction::kErf, ActivationFunction::kTanh, ActivationFunction::kSigmoid,
        ActivationFunction::kExp, ActivationFunction::kGelu, ActivationFunction::kGeluApprxTanh,
        ActivationFunction::kSilu}) {
    Kernels().activation[static_cast<int>(function)](y.data(), x.data(),
                                                     static_cast<int64_t>(x.size()));
    const bool bounded = function == ActivationFunction::kErf ||
                         function == ActivationFunction::kTanh ||
                         function == ActivationFunction::kSigmoid;
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(std::isnan(y[i]), std::isnan(x[i])) << isa::RowOf(function).name << ' ' << x[i];
      ASSERT_FALSE(bounded && y[i] > 1.0f) << isa::RowOf(function).name << ' ' << x[i];
    }
  }
}

TEST(Activations, PowerAndAtan2AreAccurate) {
  const std::vector<float> x = Samples();
  std::vector<float> y(x.rbegin(), x.rend()), out(x.size());
  for (size_t i = 0; i < y.size(); i += 3) y[i] = std::round(std::fmod(y[i], 20.0f));  // integers
  for (const float special : {0.0f, -0.0f, 1.0f, -1.0f, INFINITY, -INFINITY, NAN, 0.5f, 2.0f, 3.0f})
    for (size_t i = x.size() - 30; i < x.size(); ++i) {
      float got = 0;
      const auto row_row = [&](AluOp op) {
        Kernels().binary[0][static_cast<int>(op)][0](&got, &x[i], &special, 1);
      };
      row_row(AluOp::kPower);
      EXPECT_LE(Ulps(got, std::pow(double{x[i]}, double{special})), 1) << x[i] << '^' << special;
      row_row(AluOp::kAtan2);
      EXPECT_LE(Ulps(got, std::atan2(double{x[i]}, double{special})), 1) << x[i] << ' ' << special;
    }
  const auto n = static_cast<int64_t>(x.size());
  Kernels().binary[0][static_cast<int>(AluOp::kPower)][0](out.data(), x.data(), y.data(), n);
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_LE(Ulps(out[i], std::pow(double{x[i]}, double{y[i]})), 0.7) << x[i] << '^' << y[i];
  Kernels().binary[0][static_cast<int>(AluOp::kAtan2)][0](out.data(), x.data(), y.data(), n);
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_LE(Ulps(out[i], std::atan2(double{x[i]}, double{y[i]})), 0.7) << x[i] << ' ' << y[i];
}

TEST(Activations, KeepTheSignOfZero) {
  for (const ActivationFunction function :
       {ActivationFunction::kTanh, ActivationFunction::kErf, ActivationFunction::kSinFull,
        ActivationFunction::kArctan, ActivationFunction::kAsin, ActivationFunction::kSinh,
        ActivationFunction::kAsinh, ActivationFunction::kAtanh, ActivationFunction::kExpm1,
        ActivationFunction::kLog1p, ActivationFunction::kTan, ActivationFunction::kSqrt}) {
    const float zero = -0.0f;
    float y = 1;
    Kernels().activation[static_cast<int>(function)](&y, &zero, 1);
    EXPECT_EQ(std::bit_cast<uint32_t>(y), 0x80000000u) << isa::RowOf(function).name;
  }
}

// A block of ordinary values may be computed another way than one with a value out of range.
TEST(Activations, DoNotDependOnTheirNeighbours) {
  std::vector<float> ordinary;
  for (const float x : Samples())
    if (std::fabs(x) <= 87.0f) ordinary.push_back(x);
  std::vector<float> mixed = ordinary;
  constexpr size_t kEvery = 16;
  for (size_t i = 0; i < mixed.size(); i += kEvery) mixed[i] = i % 3 == 0 ? -INFINITY : NAN;
  for (int s = 0; s < kNumSimd; ++s) {
    const KernelTable* table = KernelsOf(static_cast<Simd>(s));
    if (table == nullptr) continue;
    for (int f = 0; f < kNumActivations; ++f) {
      if (table->activation[f] == nullptr) continue;
      std::vector<uint32_t> alone(ordinary.size()), among(ordinary.size());
      table->activation[f](alone.data(), ordinary.data(), static_cast<int64_t>(alone.size()));
      table->activation[f](among.data(), mixed.data(), static_cast<int64_t>(among.size()));
      for (size_t i = 0; i < alone.size(); ++i) {
        if (i % kEvery == 0) continue;
        ASSERT_EQ(alone[i], among[i])
            << isa::RowOf(static_cast<ActivationFunction>(f)).name << " of " << ordinary[i]
            << " on " << SimdName(static_cast<Simd>(s));
      }
    }
  }
}

// Every target computes the portable target's bits.
template <typename Run>
void ExpectSameBits(const std::string& what, size_t n, Run run) {
  std::vector<uint32_t> want(n, 0xdeadbeef);
  run(*KernelsOf(Simd::kPortable), want.data());
  for (int s = 1; s < kNumSimd; ++s) {
    const KernelTable* table = KernelsOf(static_cast<Simd>(s));
    if (table == nullptr) continue;
    std::vector<uint32_t> got(n, 0xdeadbeef);
    run(*table, got.data());
    for (size_t i = 0; i < n; ++i) {
      const bool both_nan =
          std::isnan(std::bit_cast<float>(got[i])) && std::isnan(std::bit_cast<float>(want[i]));
      ASSERT_TRUE(got[i] == want[i] || both_nan)
          << what << " on " << SimdName(static_cast<Simd>(s)) << " at " << i << ": " << std::hex
          << got[i] << ", portable " << want[i];
    }
  }
}

TEST(Targets, AgreeOnActivations) {
  const std::vector<float> x = Samples();
  for (int f = 0; f < kNumActivations; ++f) {
    if (Kernels().activation[f] == nullptr) continue;
    ExpectSameBits(std::string(isa::RowOf(static_cast<ActivationFunction>(f)).name), x.size(),
                   [&](const KernelTable& table, uint32_t* out) {
                     table.activation[f](out, x.data(), static_cast<int64_t>(x.size()));
                   });
  }
}

TEST(Targets, AgreeOnOperatorsAndReductions) {
  const std::vector<float> x = Samples();
  std::vector<float> y(x.rbegin(), x.rend());
  const auto n = static_cast<int64_t>(x.size());
  for (int domain = 0; domain < kNumDomains; ++domain)
    for (int op = 0; op < kNumAluOps; ++op) {
      const std::string name(isa::RowOf(static_cast<AluOp>(op)).name);
      const KernelTable& own = Kernels();
      for (int form = 0; form < 3; ++form)
        if (own.binary[domain][op][form] != nullptr)
          ExpectSameBits(name, x.size(), [&](const KernelTable& table, uint32_t* out) {
            table.binary[domain][op][form](out, x.data(), y.data(), n);
          });
      if (own.unary[domain][op] != nullptr)
        ExpectSameBits(name, x.size(), [&](const KernelTable& table, uint32_t* out) {
          table.unary[domain][op](out, x.data(), n);
        });
      if (own.reduce[domain][op] != nullptr)
        ExpectSameBits("reduce " + name, kReduceLanes,
                       [&](const KernelTable& table, uint32_t* out) {
                         std::fill_n(out, kReduceLanes, 0u);
                         table.reduce[domain][op](out, x.data() + 20000, 30001);
                       });
    }
}

// The order of docs/design/numerics.md for rows of up to one chunk, element by element.
float SumOfRow(const float* x, int64_t n) {
  float lanes[kReduceLanes] = {};
  for (int64_t i = 0; i < n; ++i) lanes[i % kReduceLanes] += x[i];
  for (int half = kReduceLanes / 2; half > 0; half /= 2)
    for (int l = 0; l < half; ++l) lanes[l] += lanes[l + half];
  return lanes[0];
}

TEST(Reductions, OfRowsAsTheyLieKeepTheOneOrder) {
  constexpr int64_t kMostRows = 9, kGap = 5;
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  for (const int64_t n : {1, 15, 16, 17, 100, 1000, 4096}) {
    const int64_t pitch = n + kGap;  // elements
    std::vector<uint16_t> brains;
    std::vector<float> widened, floats;
    for (int64_t i = 0; i < kMostRows * pitch; ++i) {
      floats.push_back(normal(random));
      brains.push_back(static_cast<uint16_t>(std::bit_cast<uint32_t>(floats.back()) >> 16));
      widened.push_back(std::bit_cast<float>(static_cast<uint32_t>(brains.back()) << 16));
    }
    floats[0] = widened[0] = -0.0f;
    brains[0] = 0x8000;
    for (int s = 0; s < kNumSimd; ++s) {
      const KernelTable* table = KernelsOf(static_cast<Simd>(s));
      if (table == nullptr) continue;
      constexpr int kAdd = static_cast<int>(AluOp::kAdd);
      for (int64_t rows = 1; rows <= kMostRows; ++rows) {
        std::vector<float> of_floats(rows), of_brains(rows);
        const auto results = [](std::vector<float>& x) {
          return reinterpret_cast<uint32_t*>(x.data());
        };
        table->reduce_rows[kAdd](results(of_floats), floats.data(), pitch * 4, rows, n);
        table->reduce_bf16_rows[kAdd](results(of_brains), brains.data(), pitch * 2, rows, n);
        for (int64_t r = 0; r < rows; ++r) {
          EXPECT_EQ(of_floats[r], SumOfRow(floats.data() + r * pitch, n)) << n << " " << r;
          EXPECT_EQ(of_brains[r], SumOfRow(widened.data() + r * pitch, n)) << n << " " << r;
        }
      }
    }
  }
}

TEST(Targets, AgreeOnConversions) {
  const std::vector<float> x = Samples();
  const auto n = static_cast<int64_t>(x.size());
  for (int domain = 0; domain < kNumDomains; ++domain)
    for (int dtype = 0; dtype < kNumDTypes; ++dtype) {
      const std::string name(DTypeName(static_cast<DType>(dtype)));
      if (Kernels().store[domain][dtype] != nullptr)
        ExpectSameBits("store " + name, x.size(), [&](const KernelTable& table, uint32_t* out) {
          table.store[domain][dtype](out, x.data(), n);
        });
      if (Kernels().load[domain][dtype] != nullptr)
        ExpectSameBits("load " + name, x.size(), [&](const KernelTable& table, uint32_t* out) {
          table.load[domain][dtype](out, x.data(), n);
        });
    }
}

TEST(Conversions, MatchTheScalarDefinitions) {
  const std::vector<float> x = Samples();
  const auto n = static_cast<int64_t>(x.size());
  std::vector<uint16_t> half(x.size()), brain(x.size());
  Kernels().store[0][static_cast<int>(DType::kF16)](half.data(), x.data(), n);
  Kernels().store[0][static_cast<int>(DType::kBF16)](brain.data(), x.data(), n);
  std::vector<float> back(x.size());
  Kernels().load[0][static_cast<int>(DType::kF16)](back.data(), half.data(), n);
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(half[i], ToFloat16(x[i]).bits) << x[i];
    ASSERT_EQ(brain[i], ToBFloat16(x[i]).bits) << x[i];
    ASSERT_EQ(std::bit_cast<uint32_t>(back[i]), std::bit_cast<uint32_t>(ToFloat(Float16{half[i]})));
  }
  std::vector<int32_t> whole(x.size());
  Kernels().store[0][static_cast<int>(DType::kS32)](whole.data(), x.data(), n);
  for (size_t i = 0; i < x.size(); ++i) {
    const double rounded = std::nearbyint(double{x[i]});
    const double want = std::isnan(rounded) ? 0 : std::clamp(rounded, -2147483648.0, 2147483647.0);
    ASSERT_EQ(whole[i], static_cast<int32_t>(want)) << x[i];
  }
}

TEST(Matmul, MatchesDoubleOnEveryTarget) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> value(-1, 1);
  std::vector<char> scratch(kMatmulScratchBytes);
  for (const auto& [k, m, n] : {std::array<int64_t, 3>{128, 128, 512},
                                {1, 1, 1},
                                {37, 13, 70},
                                {128, 7, 17},
                                {5, 128, 130}}) {
    std::vector<float> a(k * m), b(k * n);
    for (float& x : a) x = value(random);
    for (float& x : b) x = value(random);
    for (int s = 0; s < kNumSimd; ++s) {
      const KernelTable* table = KernelsOf(static_cast<Simd>(s));
      if (table == nullptr) continue;
      std::vector<float> out(m * n, 2.0f);
      table->matmul_f32(out.data(), n * 4, a.data(), m * 4, b.data(), n * 4, k, m, n, true,
                        scratch.data());
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
          double want = 2;
          for (int64_t p = 0; p < k; ++p) want += double{a[p * m + i]} * b[p * n + j];
          ASSERT_NEAR(out[i * n + j], want, 1e-5) << SimdName(static_cast<Simd>(s));
        }
      if (table->dot_bf16 == nullptr) continue;
      std::vector<uint16_t> a16(k * m), b16(k * n);
      for (size_t i = 0; i < a.size(); ++i) a16[i] = ToBFloat16(a[i]).bits;
      for (size_t i = 0; i < b.size(); ++i) b16[i] = ToBFloat16(b[i]).bits;
      // As pairs, in blocks.
      const auto packed = [&](const std::vector<uint16_t>& from, int64_t columns, int64_t block) {
        std::vector<uint32_t> words((k + 1) / 2 * columns);
        DotOperand operand{.data = reinterpret_cast<const char*>(words.data()),
                           .block = block * ((k + 1) / 2) * 4,
                           .step = block * 4,
                           .whole = columns / block,
                           .last_step = columns % block * 4};
        for (int64_t c = 0; c < columns; c += block) {
          const int64_t width = std::min(block, columns - c);
          table->pair_rows(&words[c * ((k + 1) / 2)], width * 4, &from[c], columns * 2, k, width);
        }
        return std::pair(std::move(words), operand);
      };
      const auto [a_words, stationary] = packed(a16, m, kDotRows);
      const auto [b_words, moving] = packed(b16, n, kDotColumns);
      const DotPart part{stationary, moving, (k + 1) / 2};
      table->dot_bf16(out.data(), n * 4, &part, 1, m, n, false);
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
          double want = 0;
          for (int64_t p = 0; p < k; ++p)
            want += double{ToFloat(BFloat16{a16[p * m + i]})} * ToFloat(BFloat16{b16[p * n + j]});
          ASSERT_NEAR(out[i * n + j], want, 1e-5);
        }
    }
  }
}

// Operands in blocks, whether packed or as they lie, in several parts: the same bits as dense ones.
TEST(Matmul, InBlocksIsTheSameBitsAsDense) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> value(-1, 1);
  std::vector<char> scratch(kMatmulScratchBytes);
  const auto pack = [](const float* from, int64_t k, int64_t columns, int64_t block) {
    std::vector<float> packed;
    for (int64_t c = 0; c < columns; c += block)
      for (int64_t p = 0; p < k; ++p)
        packed.insert(packed.end(), from + p * columns + c,
                      from + p * columns + std::min(c + block, columns));
    return packed;
  };
  for (const auto& [parts, k, m, n] : {std::array<int64_t, 4>{1, 128, 128, 512},
                                       {3, 5, 13, 144},
                                       {4, 3, 1, 16},
                                       {2, 31, 33, 33},
                                       {4, 7, 31, 95},
                                       {1, 1, 2, 4}}) {
    std::vector<float> a(parts * k * m), b(parts * k * n), initial(m * n);
    for (std::vector<float>* values : {&a, &b, &initial})
      for (float& x : *values) x = value(random);
    for (int s = 0; s < kNumSimd; ++s) {
      const KernelTable* table = KernelsOf(static_cast<Simd>(s));
      if (table == nullptr || table->dot_f32 == nullptr) continue;
      for (const bool accumulate : {false, true})
        for (const bool packed : {false, true}) {
          std::vector<float> want = initial;
          std::vector<DotPart> dots;
          std::vector<std::vector<float>> room;
          const auto operand = [&](const float* from, int64_t columns, int64_t block) {
            if (!packed)
              return DotOperand{reinterpret_cast<const char*>(from), block * 4, columns * 4,
                                INT64_MAX, 0};
            room.push_back(pack(from, k, columns, block));
            return DotOperand{reinterpret_cast<const char*>(room.back().data()), block * k * 4,
                              block * 4, columns / block, columns % block * 4};
          };
          for (int64_t p = 0; p < parts; ++p) {
            table->matmul_f32(want.data(), n * 4, &a[p * k * m], m * 4, &b[p * k * n], n * 4, k, m,
                              n, accumulate || p > 0, scratch.data());
            const DotOperand stationary = operand(&a[p * k * m], m, kDotRows);
            dots.push_back({stationary, operand(&b[p * k * n], n, kDotColumns), k});
          }
          std::vector<float> out = initial;
          table->dot_f32(out.data(), n * 4, dots.data(), parts, m, n, accumulate);
          EXPECT_EQ(out, want) << SimdName(static_cast<Simd>(s)) << " " << m << "x" << n;
        }
    }
  }
}

// Operands in pieces and columns in runs, as a convolution's windows lie: the same bits as dense
// ones, piece after piece.
TEST(Matmul, InPiecesIsTheSameBitsAsDense) {
  std::mt19937 random(5);
  std::uniform_real_distribution<float> value(-1, 1);
  std::vector<char> scratch(kMatmulScratchBytes);
  for (const int run : {4, 8, 16})
    for (const auto& [pieces, k, m, n] : {std::array<int64_t, 4>{1, 8, 6, 64},
                                          {3, 5, 13, 144},
                                          {17, 3, 1, 16},
                                          {2, 31, 32, 512},
                                          {4, 7, 9, 84},
                                          {1, 1, 2, 4}}) {
      const int64_t step = run + 3, stationary_m = 5;  // floats
      const int64_t b_row = (n + run - 1) / run * step + kReduceLanes;
      std::vector<float> a(pieces * k * m * stationary_m), b(pieces * k * b_row), initial(m * n);
      for (std::vector<float>* values : {&a, &b, &initial})
        for (float& x : *values) x = value(random);
      std::vector<int32_t> columns;
      for (int64_t j = 0; j < n; j += 4)
        columns.push_back(static_cast<int32_t>((j / run * step + j % run) * 4));
      columns.resize(columns.size() + kDotColumnsAhead);
      std::vector<const char*> stationary, moving;
      for (int64_t p = 0; p < pieces; ++p) {
        stationary.push_back(reinterpret_cast<const char*>(&a[p * k * m * stationary_m]));
        moving.push_back(reinterpret_cast<const char*>(&b[p * k * b_row]));
      }
      for (int s = 0; s < kNumSimd; ++s) {
        const KernelTable* table = KernelsOf(static_cast<Simd>(s));
        if (table == nullptr) continue;
        for (const bool accumulate : {false, true}) {
          std::vector<float> want = initial;
          for (int64_t p = 0; p < pieces; ++p) {
            std::vector<float> dense_a(k * m), dense_b(k * n);
            for (int64_t i = 0; i < k * m; ++i) dense_a[i] = a[(p * k * m + i) * stationary_m];
            for (int64_t q = 0; q < k; ++q)
              for (int64_t j = 0; j < n; ++j)
                dense_b[q * n + j] = b[(p * k + q) * b_row + columns[j / 4] / 4 + j % 4];
            table->matmul_f32(want.data(), n * 4, dense_a.data(), m * 4, dense_b.data(), n * 4, k,
                              m, n, accumulate || p > 0, scratch.data());
          }
          std::vector<float> out = initial;
          table->matmul_pieces(out.data(), n * 4,
                               {.stationary = stationary.data(),
                                .moving = moving.data(),
                                .count = pieces,
                                .k = k,
                                .m = m,
                                .n = n,
                                .stationary_k = m * stationary_m * 4,
                                .stationary_m = stationary_m * 4,
                                .moving_k = b_row * 4,
                                .columns = columns.data(),
                                .run = run},
                               accumulate);
          ASSERT_EQ(out, want) << SimdName(static_cast<Simd>(s)) << ", run " << run << ", n " << n;
        }
      }
    }
}

TEST(Transpose, MovesEveryElementOnEveryTarget) {
  for (const int64_t bytes : {1, 2, 4, 8})
    for (const auto& [rows, cols] : {std::array<int64_t, 2>{128, 512},
                                     {33, 47},
                                     {1, 5},
                                     {64, 16},
                                     {28, 174},
                                     {8, 4},
                                     {3, 100}}) {
      std::vector<uint8_t> src(rows * cols * bytes);
      for (size_t i = 0; i < src.size(); ++i) src[i] = static_cast<uint8_t>(i * 131 + (i >> 8));
      for (int s = 0; s < kNumSimd; ++s) {
        const KernelTable* table = KernelsOf(static_cast<Simd>(s));
        if (table == nullptr) continue;
        std::vector<uint8_t> dst(src.size() + 64, 0xa5);  // and nothing behind them
        table->transpose[bytes](reinterpret_cast<char*>(dst.data()), rows * bytes,
                                reinterpret_cast<const char*>(src.data()), cols * bytes, rows,
                                cols);
        for (int64_t r = 0; r < rows; ++r)
          for (int64_t c = 0; c < cols; ++c)
            for (int64_t b = 0; b < bytes; ++b)
              ASSERT_EQ(dst[(c * rows + r) * bytes + b], src[(r * cols + c) * bytes + b]);
        ASSERT_TRUE(std::all_of(dst.end() - 64, dst.end(), [](uint8_t x) { return x == 0xa5; }));
      }
    }
}

TEST(Grids, MoveEveryElementOnEveryTarget) {
  std::mt19937 random(11);
  const auto pick = [&](int n) {
    return static_cast<int64_t>(random() % static_cast<uint32_t>(n));
  };
  for (int round = 0; round < 2000; ++round) {
    const int64_t bytes = int64_t{1} << pick(5);
    GridShape g{.outer = 1 + pick(150),
                .dst_outer = 0,
                .src_outer = pick(9) * bytes,
                .inner = 1 + pick(pick(2) == 0 ? 40 : 9),
                .dst_inner = (1 + pick(3)) * bytes,
                .src_inner = pick(4) * bytes};
    if (pick(2) == 0) g.dst_inner = g.src_inner = bytes;
    g.dst_outer = g.inner * g.dst_inner + pick(3) * bytes;
    std::vector<char> src(g.outer * g.src_outer + g.inner * g.src_inner + bytes);
    for (char& byte : src) byte = static_cast<char>(random());
    const std::vector<char> blank(g.outer * g.dst_outer + bytes, 'x');
    std::vector<char> want = blank;
    for (int64_t o = 0; o < g.outer; ++o)
      for (int64_t i = 0; i < g.inner; ++i)
        std::copy_n(src.data() + o * g.src_outer + i * g.src_inner, bytes,
                    want.data() + o * g.dst_outer + i * g.dst_inner);
    for (int simd = 0; simd < kNumSimd; ++simd) {
      const KernelTable* table = KernelsOf(static_cast<Simd>(simd));
      if (table == nullptr) continue;
      std::vector<char> got = blank;
      table->grid[bytes](g, got.data(), src.data());
      ASSERT_EQ(got, want) << SimdName(static_cast<Simd>(simd)) << ", " << g.outer << " x "
                           << g.inner << " of " << bytes;
    }
  }
}

}  // namespace
}  // namespace neuron::emulator
