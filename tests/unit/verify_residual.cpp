// The judge of library operations: true factors of every size and dtype pass, spoiled ones do not.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "ir/linalg/library.h"
#include "ir/tensor/builder.h"
#include "ir/tensor/op_table.h"
#include "verify/residual.h"

namespace plumb::verify {
namespace {

using ir::AttrMap;
using ir::Literal;
using ir::Type;

/// A library operation on given operands: its node, and what the library gives.
struct Called {
  ir::Node node;
  std::vector<Literal> in, out;
  Residual judged() const { return judge_library(node, in, out); }
};
Called call(const std::string& op, const std::vector<Literal>& in, AttrMap attrs) {
  ir::Function f;
  ir::Builder b(f);
  std::vector<ir::ValueId> params;
  for (const auto& l : in) params.push_back(b.param(l.type()));
  const auto results = b.add(op, params, std::move(attrs));
  std::vector<Type> types;
  for (auto v : results) types.push_back(f.type(v));
  return {f.nodes[0], in, linalg::run_library(op, f.nodes[0].attrs, in, types)};
}

void expect_right(const Called& c, const std::string& who) {
  const auto r = c.judged();
  EXPECT_EQ(r.wrong, 0) << who << ": " << r.index << ": " << r.got << ", allowed " << r.allowed;
  EXPECT_EQ(r.inconclusive, 0) << who;
  EXPECT_LE(r.worst, 1) << who;
}
void expect_wrong(const Called& c, const std::string& who) { EXPECT_GT(c.judged().wrong, 0) << who << " is accepted"; }

/// Elements of a batch of two matrices, or of pairs of parts.
class Random {
 public:
  explicit Random(DType t, bool pairs, unsigned seed) : t_(t), pairs_(pairs), engine_(seed) {}
  Literal matrices(std::int64_t m, std::int64_t n) {
    Literal l(type(m, n));
    std::normal_distribution<double> normal;
    for (std::int64_t i = 0; i < l.elements(); ++i) set(l, i, normal(engine_));
    return l;
  }
  Type type(std::int64_t m, std::int64_t n) const {
    Type t{t_, {2, m, n}};
    if (pairs_) t.shape.push_back(2);
    return t;
  }
  /// Hermitian, and positive definite by a large diagonal.
  Literal definite(std::int64_t n) {
    auto l = hermitian(n);
    for (std::int64_t b = 0; b < 2; ++b)
      for (std::int64_t i = 0; i < n; ++i) add(l, place(n, b, i, i), 4 * std::sqrt(static_cast<double>(n)) + 2);
    return l;
  }
  Literal hermitian(std::int64_t n) {
    auto l = matrices(n, n);
    for (std::int64_t b = 0; b < 2; ++b)
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j <= i; ++j) {
          set(l, place(n, b, j, i), get(l, place(n, b, i, j)));
          if (pairs_) set(l, place(n, b, j, i) + 1, i == j ? 0 : -get(l, place(n, b, i, j) + 1));
        }
    return l;
  }
  std::int64_t place(std::int64_t n, std::int64_t b, std::int64_t i, std::int64_t j) const { return ((b * n + i) * n + j) * (pairs_ ? 2 : 1); }
  static double get(const Literal& l, std::int64_t i) { return l.dtype() == DType::f32 ? static_cast<double>(l.data<float>()[i]) : l.data<double>()[i]; }
  static void set(Literal& l, std::int64_t i, double v) { l.dtype() == DType::f32 ? void(l.mutable_data<float>()[i] = static_cast<float>(v)) : void(l.mutable_data<double>()[i] = v); }
  static void add(Literal& l, std::int64_t i, double v) { set(l, i, get(l, i) + v); }

 private:
  DType t_;
  bool pairs_;
  std::mt19937_64 engine_;
};

Literal copy(const Literal& l) {
  Literal c(l.type());
  std::memcpy(c.mutable_raw(), l.raw(), static_cast<std::size_t>(l.bytes()));
  return c;
}
/// One element of one result off by a part of the greatest.
void expect_sensitive(const Called& c, const std::string& who) {
  for (std::size_t k = 0; k < c.out.size(); ++k) {
    const auto& l = c.out[k];
    if (l.elements() == 0) continue;
    for (std::int64_t at : {std::int64_t{0}, l.elements() / 2, l.elements() - 1}) {
      if (l.elements() > 10000 && at != l.elements() / 2) continue;
      Called spoiled = c;
      spoiled.out[k] = copy(l);
      if (l.dtype() == DType::i32) {
        ++spoiled.out[k].mutable_data<std::int32_t>()[at];
      } else {
        double greatest = 0;
        for (std::int64_t i = 0; i < l.elements(); ++i) greatest = std::max(greatest, std::fabs(Random::get(l, i)));
        Random::add(spoiled.out[k], at, greatest * (l.dtype() == DType::f32 ? 0x1p-3 : 0x1p-32));
      }
      expect_wrong(spoiled, who + ", result " + std::to_string(k) + " spoiled at " + std::to_string(at));
    }
  }
}

struct Element {
  DType dtype;
  bool pairs;
};
class Factors : public testing::TestWithParam<Element> {
 protected:
  AttrMap attrs(std::initializer_list<std::pair<const char*, ir::AttrValue>> more = {}) const {
    AttrMap a;
    a.set("complex", GetParam().pairs);
    for (const auto& [name, value] : more) a.set(name, value);
    return a;
  }
  Random random(unsigned seed) const { return Random(GetParam().dtype, GetParam().pairs, seed); }
  static void expect_right_and_sensitive(const Called& c, const std::string& who) {
    expect_right(c, who);
    expect_sensitive(c, who);
  }
};
constexpr std::int64_t sizes[] = {0, 1, 2, 5, 33, 100};

TEST_P(Factors, OfPositiveDefiniteMatrices) {
  for (auto n : sizes)
    for (bool lower : {true, false}) expect_right_and_sensitive(call("cholesky", {random(1).definite(n)}, attrs({{"lower", lower}})), "cholesky of " + std::to_string(n));
}

TEST_P(Factors, SolveTriangularSystems) {
  for (auto n : sizes)
    for (bool left : {true, false})
      for (bool lower : {true, false})
        for (const char* form : {"none", "transpose", "conjugate"}) {
          if (n == 100 && (left != lower)) continue;
          auto r = random(2);
          const auto c = call("triangular_solve", {r.definite(n), left ? r.matrices(n, 3) : r.matrices(3, n)}, attrs({{"left_side", left}, {"lower", lower}, {"transpose", std::string(form)}}));
          const auto who = "triangular_solve of " + std::to_string(n) + (left ? " left" : " right") + (lower ? " lower " : " upper ") + form;
          n == 0 ? expect_right(c, who) : expect_right_and_sensitive(c, who);
        }
}

TEST_P(Factors, ByElimination) {
  for (auto n : sizes)
    for (auto m : {n, n / 2 + 1}) expect_right_and_sensitive(call("lu", {random(3).matrices(m, n)}, attrs()), "lu of " + std::to_string(m) + " by " + std::to_string(n));
  for (auto n : sizes) expect_right_and_sensitive(call("lu", {random(4).matrices(n + 3, n)}, attrs()), "lu of a tall matrix");
}

TEST_P(Factors, ByReflections) {
  for (auto n : sizes)
    for (bool complete : {false, true})
      for (auto m : {n, n + 3, n / 2}) {
        const auto c = call("qr", {random(5).matrices(m, n)}, attrs({{"complete", complete}}));
        const auto who = "qr of " + std::to_string(m) + " by " + std::to_string(n);
        m == 0 || n == 0 ? expect_right(c, who) : expect_right_and_sensitive(c, who);
      }
}

TEST_P(Factors, OfHermitianMatrices) {
  for (auto n : sizes)
    for (bool lower : {true, false}) expect_right_and_sensitive(call("eigh", {random(6).hermitian(n)}, attrs({{"lower", lower}})), "eigh of " + std::to_string(n));
}

TEST_P(Factors, BySingularValues) {
  for (auto n : sizes)
    for (bool full : {false, true})
      for (auto m : {n, n + 3, n / 2}) {
        const auto c = call("svd", {random(7).matrices(m, n)}, attrs({{"full_matrices", full}}));
        const auto who = "svd of " + std::to_string(m) + " by " + std::to_string(n);
        m == 0 || n == 0 ? expect_right(c, who) : expect_right_and_sensitive(c, who);
      }
}

/// Signs and orders that residuals do not see.
TEST_P(Factors, KeepTheirConventions) {
  const std::int64_t n = 5, step = GetParam().pairs ? 2 : 1;
  auto flip = [&](Literal& l, std::int64_t first, std::int64_t stride) {
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t part = 0; part < step; ++part) Random::set(l, (first + i * stride) * step + part, -Random::get(l, (first + i * stride) * step + part));
  };
  auto c = call("eigh", {random(8).hermitian(n)}, attrs());
  flip(c.out[1], 2, n);
  expect_wrong(c, "an eigenvector turned round");
  c = call("svd", {random(8).matrices(n, n)}, attrs());
  flip(c.out[0], 2, n), flip(c.out[2], 2 * n, 1);
  expect_wrong(c, "singular vectors turned round");
  c = call("qr", {random(8).matrices(n, n)}, attrs());
  flip(c.out[0], 2, n), flip(c.out[1], 2 * n, 1);
  expect_wrong(c, "R with a negative diagonal");
  c = call("cholesky", {random(8).definite(n)}, attrs());
  flip(c.out[0], 2, n);
  expect_wrong(c, "a negative diagonal");
  c = call("eigh", {random(8).hermitian(n)}, attrs());
  for (std::int64_t i = 0; i < n; ++i) Random::set(c.out[0], i, Random::get(c.out[0], n - 1));
  expect_wrong(c, "equal eigenvalues");
}

TEST_P(Factors, AreNaNExactlyWhereTheRecordsSay) {
  const std::int64_t n = 5;
  const double nan = std::nan("");
  struct Case { const char* op; Literal in; };
  auto r = random(9);
  for (auto& [op, in] : {Case{"cholesky", r.definite(n)}, Case{"lu", r.matrices(n, n)}, Case{"qr", r.matrices(n, n)}, Case{"eigh", r.hermitian(n)}, Case{"svd", r.matrices(n, n)}}) {
    for (double bad : {nan, HUGE_VAL, -HUGE_VAL}) {
      auto spoiled = copy(in);
      Random::set(spoiled, r.place(n, 1, 2, 1), bad);
      const auto c = call(op, {spoiled}, attrs());
      expect_right(c, std::string(op) + " of a matrix that is not finite");
      EXPECT_TRUE(std::isnan(Random::get(c.out.back().dtype() == DType::i32 ? c.out[0] : c.out.back(), c.out.back().dtype() == DType::i32 ? c.out[0].elements() - 1 : c.out.back().elements() - 1)));
      const auto clean = call(op, {in}, attrs());
      Called mixed = c;
      mixed.out = clean.out;
      expect_wrong(mixed, std::string(op) + ": numbers for a matrix that is not finite");
    }
    auto c = call(op, {in}, attrs());
    if (std::string(op) == "eigh" || std::string(op) == "svd") continue;  // these may fail to converge
    c.out[0] = copy(c.out[0]);
    for (std::int64_t i = 0; i < c.out[0].elements(); ++i) Random::set(c.out[0], i, nan);
    expect_wrong(c, std::string(op) + ": NaN for a good matrix");
  }
  auto indefinite = r.definite(n);
  Random::set(indefinite, r.place(n, 0, 3, 3), -1);
  const auto c = call("cholesky", {indefinite}, attrs());
  expect_right(c, "cholesky of an indefinite matrix");
  EXPECT_TRUE(std::isnan(Random::get(c.out[0], 0)));
  EXPECT_FALSE(std::isnan(Random::get(c.out[0], c.out[0].elements() - 1)));
}

INSTANTIATE_TEST_SUITE_P(All, Factors, testing::Values(Element{DType::f32, false}, Element{DType::f64, false}, Element{DType::f32, true}, Element{DType::f64, true}),
                         [](const auto& p) { return std::string(p.param.pairs ? (p.param.dtype == DType::f32 ? "c64" : "c128") : name(p.param.dtype)); });

}  // namespace
}  // namespace plumb::verify
