#include "ir/tensor/fourier.h"

#include <cmath>
#include <numbers>
#include <numeric>

#include "ir/scalar/storage.h"

namespace plumb::ir {

double cosine_of_turn(std::int64_t m, std::int64_t n) {
  m = std::min(m % n, n - m % n);
  if (4 * m > n) return -cosine_of_turn(n - 2 * m, 2 * n);
  const double turn = 2 * std::numbers::pi / static_cast<double>(n);
  if (8 * m > n) return std::sin(turn / 4 * static_cast<double>(n - 4 * m));
  return std::cos(turn * static_cast<double>(m));
}
double sine_of_turn(std::int64_t m, std::int64_t n) { return cosine_of_turn(4 * (m % n) + 3 * n, 4 * n); }

ValueId divided(Builder& b, ValueId x, double by) {
  if (!is_complex(b.type(x).dtype)) return b.op("div", {x, b.splat_like(x, by)});
  const auto re = b.op("real", {x}), im = b.op("imag", {x}), divisor = b.splat_like(re, by);
  return b.op("complex", {b.op("div", {re, divisor}), b.op("div", {im, divisor})});
}

namespace {

constexpr std::int64_t greatest_radix = 16, greatest_prime = 64;

AttrMap with(std::string_view name, AttrValue value) {
  AttrMap a;
  a.set(name, std::move(value));
  return a;
}

/// A table of e^(∓2 pi i turns(row, column) / n).
template <class Turns> ValueId table(Builder& b, DType t, const Shape& shape, std::int64_t n, bool inverse, Turns turns) {
  Literal l(Type{t, shape});
  const auto columns = shape.back().size();
  for (std::int64_t i = 0; i < l.elements(); ++i) {
    const auto m = turns(i / columns, i % columns) % n;
    store_element(part_dtype(t), l.mutable_raw(), 2 * i, cosine_of_turn(m, n));
    store_element(part_dtype(t), l.mutable_raw(), 2 * i + 1, inverse ? sine_of_turn(m, n) : -sine_of_turn(m, n));
  }
  return b.constant(std::move(l));
}

std::int64_t radix_of(std::int64_t n) {
  for (auto r = std::min(greatest_radix, n - 1); r > 1; --r)
    if (n % r == 0) return r;
  for (std::int64_t p = greatest_radix; p * p <= n; ++p)
    if (n % p == 0) return p;
  return n;
}

ValueId line(Builder& b, ValueId x, bool inverse);

/// The product with the whole matrix.
ValueId by_matrix(Builder& b, ValueId x, std::int64_t n, bool inverse) {
  AttrMap a = with("lhs_contract", Ints{static_cast<std::int64_t>(b.type(x).rank()) - 1});
  a.set("rhs_contract", Ints{0});
  return b.op("dot_general", {x, table(b, b.type(x).dtype, {n, n}, n, inverse, [](std::int64_t j, std::int64_t k) { return j * k; })}, std::move(a));
}

/// n = r m: x[j1 m + j2] to X[k1 + r k2], by transforms of r, factors e^(∓2 pi i j2 k1 / n), and transforms of m.
ValueId by_radix(Builder& b, ValueId x, std::int64_t r, std::int64_t m, bool inverse) {
  const Shape given = b.type(x).shape;
  Shape apart = given;
  apart.back() = r;
  apart.push_back(m);
  const auto rank = static_cast<std::int64_t>(apart.size());
  Ints exchanged(apart.size());
  std::iota(exchanged.begin(), exchanged.end(), 0);
  std::swap(exchanged[apart.size() - 1], exchanged[apart.size() - 2]);
  const DType t = b.type(x).dtype;
  AttrMap a = with("lhs_contract", Ints{rank - 2});
  a.set("rhs_contract", Ints{0});
  const auto short_ones = b.op("dot_general", {b.reshape(x, apart), table(b, t, {r, r}, r, inverse, [](std::int64_t j, std::int64_t k) { return j * k; })}, std::move(a));  // [.., j2, k1]
  const auto factors = table(b, t, {m, r}, r * m, inverse, [](std::int64_t j, std::int64_t k) { return j * k; });
  const auto turned = b.op("mul", {short_ones, b.broadcast_to(factors, b.type(short_ones).shape)});
  const auto long_ones = line(b, b.transpose(turned, exchanged), inverse);  // [.., k1, k2]
  return b.reshape(b.transpose(long_ones, exchanged), given);
}

ValueId cut(Builder& b, ValueId x, std::int64_t n) {
  Ints start(b.type(x).rank(), 0), limit;
  for (const auto& d : b.type(x).shape) limit.push_back(d.size());
  limit.back() = n;
  AttrMap a = with("start", start);
  a.set("limit", limit);
  return b.op("slice", {x}, std::move(a));
}
ValueId filled(Builder& b, ValueId x, std::int64_t n) {
  Ints low(b.type(x).rank(), 0), high(b.type(x).rank(), 0);
  high.back() = n - b.type(x).shape.back().size();
  AttrMap a = with("low", low);
  a.set("high", high);
  return b.op("pad", {x, b.scalar(b.type(x).dtype, 0)}, std::move(a));
}

/// j k = (j² + k² - (k - j)²)/2: the transform is a convolution with a chirp, done by transforms of a power of two.
ValueId by_chirp(Builder& b, ValueId x, std::int64_t n, bool inverse) {
  std::int64_t length = 1;
  while (length < 2 * n - 1) length *= 2;
  const DType t = b.type(x).dtype;
  auto square = [n](std::int64_t j) { return j % (2 * n) * (j % (2 * n)); };
  const auto chirp = table(b, t, {n}, 2 * n, inverse, [&](std::int64_t, std::int64_t j) { return square(j); });
  const Shape whole{length};
  const auto wrapped = table(b, t, whole, 2 * n, !inverse, [&](std::int64_t, std::int64_t j) { return square(std::min(j, length - j)); });
  const auto spread = b.broadcast_to(chirp, b.type(x).shape);
  const auto lhs = line(b, filled(b, b.op("mul", {x, spread}), length), false);
  const Shape padded = b.type(lhs).shape;
  const auto rhs = b.broadcast_to(line(b, wrapped, false), padded);
  const auto both = line(b, b.op("mul", {lhs, rhs}), true);
  const auto kept = cut(b, both, n);
  return divided(b, b.op("mul", {kept, spread}), static_cast<double>(length));
}

/// Along the last axis.
ValueId line(Builder& b, ValueId x, bool inverse) {
  const auto n = b.type(x).shape.back().size();
  if (n == 1) return x;
  const auto r = radix_of(n);
  if (r < n) return r <= greatest_prime ? by_radix(b, x, r, n / r, inverse) : by_chirp(b, x, n, inverse);
  return n <= greatest_prime ? by_matrix(b, x, n, inverse) : by_chirp(b, x, n, inverse);
}

}  // namespace

ValueId fourier(Builder& b, ValueId x, std::int64_t axis, bool inverse) {
  const auto rank = static_cast<std::int64_t>(b.type(x).rank());
  if (axis == rank - 1) return line(b, x, inverse);
  Ints last(static_cast<std::size_t>(rank));
  std::iota(last.begin(), last.end(), 0);
  std::swap(last[static_cast<std::size_t>(axis)], last.back());
  return b.transpose(line(b, b.transpose(x, last), inverse), last);
}

}  // namespace plumb::ir
