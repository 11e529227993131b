// Elementary functions without branches, so that loops over them become vector code.
//
// Evaluated in double and rounded once to fp32 by the caller: errors stay near half a unit in the
// last place, and subnormals, infinities and overflow need no case of their own. Only + - * / sqrt,
// comparisons and bit operations: the same bits on every target. math32.inl.h has the functions
// that are evaluated in fp32.
//
// Coefficients: Chebyshev interpolation of the named function, computed with 40 digits.
namespace neuron::emulator::NEURON_SIMD_NAMESPACE {
namespace math {

inline uint64_t Bits(double x) { return std::bit_cast<uint64_t>(x); }
inline double FromBits(uint64_t x) { return std::bit_cast<double>(x); }
inline double Abs(double x) { return FromBits(Bits(x) & 0x7fffffffffffffffu); }
inline double SignBit(double x) { return FromBits(Bits(x) & 0x8000000000000000u); }
inline double WithSign(double magnitude, double sign) {
  return FromBits(Bits(magnitude) | Bits(SignBit(sign)));
}
inline double Clamp(double x, double low, double high) {  // NaN stays
  const double y = x < low ? low : x;
  return y > high ? high : y;
}

constexpr double kLn2 = 0.693147180559945309417;
constexpr double kMagic = 0x1.8p52;  // adding it leaves the nearest integer in the low bits
constexpr double kPi = 3.14159265358979323846;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// e^r - 1 for |r| <= ln(2) / 2.
inline double ExpTail(double r) {
  double p = 1.0 / 3628800;
  p = p * r + 1.0 / 362880;
  p = p * r + 1.0 / 40320;
  p = p * r + 1.0 / 5040;
  p = p * r + 1.0 / 720;
  p = p * r + 1.0 / 120;
  p = p * r + 1.0 / 24;
  p = p * r + 1.0 / 6;
  p = p * r + 0.5;
  return p * (r * r) + r;
}

inline double Exp(double x) {
  x = Clamp(x, -700.0, 700.0);
  const double t = x * 1.44269504088896340736 + kMagic;
  const double r = x - (t - kMagic) * kLn2;
  const double scale = FromBits((Bits(t) << 52) + 0x3ff0000000000000u);
  return ExpTail(r) * scale + scale;
}

inline double Expm1(double x) {
  x = Clamp(x, -700.0, 700.0);
  const double t = x * 1.44269504088896340736 + kMagic;
  const double r = x - (t - kMagic) * kLn2;
  const double scale = FromBits((Bits(t) << 52) + 0x3ff0000000000000u);
  const double y = ExpTail(r) * scale + (scale - 1.0);
  return x == 0.0 ? x : y;
}

// Natural logarithm of a positive finite double.
inline double LogPositive(double x) {
  // x = 2^e * m with m in [sqrt(1/2), sqrt(2)).
  const uint64_t shifted = Bits(x) - 0x3fe6a09e667f3bcdu;
  const uint64_t exponent = static_cast<uint64_t>(static_cast<int64_t>(shifted) >> 52);
  const double m = FromBits(Bits(x) - (exponent << 52));
  // The exponent as a double, through its low bits: 64-bit conversions are no baseline instruction.
  const double e = FromBits((exponent + 2048) | 0x4330000000000000u) - (0x1p52 + 2048);
  const double s = (m - 1.0) / (m + 1.0);
  const double z = s * s;
  double p = 1.0 / 15;
  p = p * z + 1.0 / 13;
  p = p * z + 1.0 / 11;
  p = p * z + 1.0 / 9;
  p = p * z + 1.0 / 7;
  p = p * z + 1.0 / 5;
  p = p * z + 1.0 / 3;
  return e * kLn2 + (2.0 * s + 2.0 * s * z * p);
}

inline double Log(double x) {
  const double safe = (x > 0.0) & (x < kInfinity) ? x : 1.0;
  double y = LogPositive(safe);
  y = x == 0.0 ? -kInfinity : y;
  y = x < 0.0 ? kNan : y;
  y = x == kInfinity ? kInfinity : y;
  return x != x ? x : y;
}

inline double Log1p(double x) {
  const double u = 1.0 + x;
  const double safe = (u > 0.0) & (u < kInfinity) ? u : 1.0;
  // What the sum 1 + x lost, to first order.
  double y = LogPositive(safe) + (x - (u - 1.0)) / safe;
  y = u == 0.0 ? -kInfinity : y;
  y = u < 0.0 ? kNan : y;
  y = u == kInfinity ? kInfinity : y;
  y = x == 0.0 ? x : y;
  return x != x ? x : y;
}

inline double Sigmoid(double x) { return 1.0 / (1.0 + Exp(-x)); }

inline double Tanh(double x) {
  const double e = Expm1(Clamp(-2.0 * Abs(x), -60.0, 0.0));
  return WithSign(Abs(-e / (2.0 + e)), x);
}

inline double Sinh(double x) {
  const double e = Expm1(Abs(x));
  return WithSign(0.5 * (e + e / (e + 1.0)), x);
}

inline double Cosh(double x) {
  const double e = Exp(Abs(x));
  return 0.5 * (e + 1.0 / e);
}

inline double Asinh(double x) {
  const double a = Abs(x);
  const double y = Log1p(a + a * a / (1.0 + __builtin_sqrt(a * a + 1.0)));
  return WithSign(a == kInfinity ? a : y, x);
}

inline double Acosh(double x) {
  const double t = x - 1.0;
  const double y = Log1p(t + __builtin_sqrt(2.0 * t + t * t));
  return x < 1.0 ? kNan : y;
}

inline double Atanh(double x) {
  const double a = Abs(x);
  const double y = 0.5 * Log1p(2.0 * a / (1.0 - a));
  return a > 1.0 ? kNan : WithSign(y, x);
}

inline double Softplus(double x) {
  const double y = Log1p(Exp(-Abs(x)));
  return (x > 0.0 ? x : 0.0) + y;
}

// x tanh(softplus(x)), with tanh(log(1 + e)) as a rational function of e = exp(x).
inline double Mish(double x) {
  const double e = Exp(Clamp(x, -700.0, 40.0));
  const double w = e * (e + 2.0);
  return x < -700.0 ? x * 0.0 : x * (w / (w + 2.0));
}

// erfc(x) exp(x^2) for x >= 0.
inline double ErfcScaled(double x) {
  const double t = (x - 2.0) / (x + 2.0);
  double p = -7.84607956284436436e-6;
  p = p * t - 0.0000283331695686637984;
  p = p * t - 3.39973251819316668e-6;
  p = p * t + 0.000144964289953512186;
  p = p * t + 0.000206208010292976279;
  p = p * t - 0.00045198184871570388;
  p = p * t - 0.00145658674881985472;
  p = p * t + 0.00127082338839214607;
  p = p * t + 0.00872260788562104536;
  p = p * t - 0.00803395346692652165;
  p = p * t - 0.0542199980102060384;
  p = p * t + 0.1640512765811737;
  p = p * t - 0.16603039763648049;
  p = p * t - 0.092763826527216918;
  p = p * t + 1.27697838155195268;
  return p / (1.0 + 2.0 * x);
}

inline double Erfc(double x) {
  const double a = Clamp(Abs(x), 0.0, 10.2);  // beyond, fp32 holds 0
  const double y = ErfcScaled(a) * Exp(-a * a);
  return x < 0.0 ? 2.0 - y : y;
}

inline double GeluSigmoid(double x) { return x < -400.0 ? x * 0.0 : x * Sigmoid(1.702 * x); }
inline double GeluSigmoidDx(double x) {
  const double a = Clamp(x, -400.0, 400.0);
  const double s = Sigmoid(1.702 * a);
  return s + 1.702 * a * s * (1.0 - s);
}
inline double SiluDx(double x) {
  const double a = Clamp(x, -600.0, 600.0);
  const double s = Sigmoid(a);
  return s + a * s * (1.0 - s);
}
inline double ErfDx(double x) {
  const double a = Clamp(Abs(x), 0.0, 26.0);
  return 1.12837916709551257390 * Exp(-a * a);
}

// Quarter turns of x in the low bits of *turns, the rest in (-pi/4, pi/4). For |x| < 1e6.
inline double ReduceAngle(double x, uint64_t* turns) {
  const double t = x * 0.63661977236758134308 + kMagic;
  const double k = t - kMagic;
  *turns = Bits(t);
  // pi/2 in three parts; the first has 33 bits, so that k times it is exact.
  return ((x - k * 1.57079632673412561417) - k * 6.07710050630396597660e-11) -
         k * 2.02226624879595063154e-21;
}
inline double SinPart(double r) {
  const double z = r * r;
  double p = -1.0 / 39916800;
  p = p * z + 1.0 / 362880;
  p = p * z - 1.0 / 5040;
  p = p * z + 1.0 / 120;
  p = p * z - 1.0 / 6;
  return r + r * z * p;
}
inline double CosPart(double r) {
  const double z = r * r;
  double p = 1.0 / 479001600;
  p = p * z - 1.0 / 3628800;
  p = p * z + 1.0 / 40320;
  p = p * z - 1.0 / 720;
  p = p * z + 1.0 / 24;
  p = p * z - 0.5;
  return 1.0 + z * p;
}
inline double FiniteAngle(double x) { return Abs(x) < 1e6 ? x : 0.0; }
inline double Sin(double x) {
  uint64_t turns = 0;
  const double r = ReduceAngle(FiniteAngle(x), &turns);
  const double y = (turns & 1u) != 0 ? CosPart(r) : SinPart(r);
  const double result = FromBits(Bits(y) ^ ((turns & 2u) << 62));
  return x == 0.0 ? x : result;
}
inline double Cos(double x) {
  uint64_t turns = 0;
  const double r = ReduceAngle(FiniteAngle(x), &turns);
  const double y = (turns & 1u) != 0 ? SinPart(r) : CosPart(r);
  return FromBits(Bits(y) ^ (((turns + 1u) & 2u) << 62));
}
inline double Tan(double x) {
  uint64_t turns = 0;
  const double r = ReduceAngle(FiniteAngle(x), &turns);
  const double s = SinPart(r);
  const double c = CosPart(r);
  const double y = (turns & 1u) != 0 ? -c / s : s / c;
  return x == 0.0 ? x : y;
}

// arctan of 0 <= x <= infinity.
inline double AtanPositive(double x) {
  const double inverted = x > 1.0 ? 1.0 / x : x;
  const bool high = inverted > 0.41421356237309503;  // tan(pi / 8)
  const double t = high ? (inverted - 1.0) / (inverted + 1.0) : inverted;
  const double z = t * t;
  double p = -0.037655106012914021;
  p = p * z + 0.0697419768659526513;
  p = p * z - 0.0899255290615091148;
  p = p * z + 0.111034569089474629;
  p = p * z - 0.142853865537521393;
  p = p * z + 0.199999930535558136;
  p = p * z - 0.333333332769224921;
  const double y = (t + t * z * p) + (high ? kPi / 4 : 0.0);
  return x > 1.0 ? kPi / 2 - y : y;
}
inline double Atan(double x) { return WithSign(AtanPositive(Abs(x)), x); }
inline double Atan2(double y, double x) {
  const double a = Abs(y);
  const double b = Abs(x);
  const double large = a > b ? a : b;
  const double small = a > b ? b : a;
  double ratio = large == kInfinity ? (small == kInfinity ? 1.0 : 0.0) : small / large;
  ratio = large == 0.0 ? 0.0 : ratio;
  double angle = AtanPositive(ratio);
  angle = a > b ? kPi / 2 - angle : angle;
  angle = (Bits(x) >> 63) != 0 ? kPi - angle : angle;
  return (x != x) | (y != y) ? x + y : WithSign(angle, y);
}
inline double Asin(double x) {
  const double a = Abs(x);
  const double root = __builtin_sqrt((1.0 - a) * (1.0 + a));
  const double y = AtanPositive(a / root);
  return a > 1.0 ? kNan : WithSign(y, x);
}
inline double Acos(double x) {
  const double y = 2.0 * AtanPositive(__builtin_sqrt((1.0 - x) / (1.0 + x)));
  return Abs(x) > 1.0 ? kNan : (x != x ? x : y);
}

inline double Power(double x, double y) {
  const double a = Abs(x);
  double r = y * Log(a);
  r = Exp(r);
  // Whether y is an integer, and an odd one; from 2^53 on all doubles are even.
  const double whole = Abs(y) < 0x1p52 ? (Abs(y) + 0x1p52) - 0x1p52 : Abs(y);
  const bool integer = whole == Abs(y);
  const double half = whole * 0.5;
  const double half_whole = half < 0x1p52 ? (half + 0x1p52) - 0x1p52 : half;
  const bool odd = integer & (half_whole != half);
  const bool negative = (Bits(x) >> 63) != 0;
  r = negative & odd ? -r : r;
  r = (x < 0.0) & !integer & (a < kInfinity) ? kNan : r;
  r = (a == 1.0) & (Abs(y) == kInfinity) ? 1.0 : r;
  // The clamps of Exp hide infinite results and zeros beyond the double's reach for fp32.
  return (y == 0.0) | (x == 1.0) ? 1.0 : r;
}

}  // namespace math
}  // namespace neuron::emulator::NEURON_SIMD_NAMESPACE
