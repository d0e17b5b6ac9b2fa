#include "fuzz/internal/draws.h"
#include "ir/scalar/storage.h"

namespace plumb::fuzz {
namespace {

using ir::Type;
using ir::ValueId;

constexpr std::int64_t greatest_side = 12;

/// Matrices of x, where x is one that is small enough, or of numbers of their own.
class Factors {
 public:
  Factors(const Draws& d, ValueId x) : d_(d), x_(x) {}

  std::vector<ValueId> any() {
    switch (d_.choose(9)) {
      case 0: return made("cholesky", {d_.choose(4) ? positive(square()) : square()}, flags({"lower"}));
      case 1: return triangular();
      case 2: return made("lu", {matrix()});
      case 3: return made("qr", {matrix()}, flags({"complete"}));
      case 4: return made("eigh", {square()}, flags({"lower"}));
      case 5: return made("svd", {matrix()}, flags({"full_matrices"}));
      case 6: {
        const auto a = square();
        return made("solve", {a, beside(a)});
      }
      case 7: return made("inverse", {square()});
      default: return made(d_.choose(2) ? "det" : "slogdet", {square()});
    }
  }

 private:
  std::vector<ValueId> made(std::string_view name, std::vector<ValueId> in, ir::AttrMap a = {}) { return draw_made(d_, name, std::move(in), std::move(a)); }
  ir::AttrMap flags(std::initializer_list<const char*> names) {
    ir::AttrMap a;
    for (const char* n : names) a.set(n, d_.choose(2) == 1);
    return a;
  }

  std::vector<ValueId> triangular() {
    static constexpr const char* forms[] = {"none", "transpose", "conjugate"};
    auto a = flags({"lower", "unit_diagonal"});
    const bool left = d_.choose(2) == 1;
    a.set("left_side", left);
    a.set("transpose", std::string(forms[d_.choose(3)]));
    const auto m = d_.choose(2) ? positive(square()) : square();
    return made("triangular_solve", {m, left ? beside(m) : transposed(beside(m))}, std::move(a));
  }

  std::int64_t side() { return d_.choose(12) == 0 ? 0 : 1 + static_cast<std::int64_t>(d_.choose(greatest_side)); }
  Type type(std::int64_t rows, std::int64_t columns) {
    static constexpr DType of_matrices[] = {DType::f32, DType::f64, DType::c64, DType::c128};
    const auto dtype = of_matrices[d_.choose(4)];
    if (d_.choose(3)) return {dtype, {rows, columns}};
    return {dtype, {1 + static_cast<std::int64_t>(d_.choose(3)), rows, columns}};
  }
  ValueId matrix() {
    const auto& t = d_.b.type(x_);
    if (t.rank() >= 2 && t.shape[t.rank() - 1].size() <= greatest_side && t.shape[t.rank() - 2].size() <= greatest_side && t.elements() <= 512) return is_complex(t.dtype) ? x_ : d_.b.convert(x_, t.dtype == DType::f64 ? DType::f64 : DType::f32);
    const auto rows = side();
    return d_.like(type(rows, side()));
  }
  ValueId square() {
    const auto m = matrix();
    const auto& t = d_.b.type(m);
    if (t.shape[t.rank() - 1] == t.shape[t.rank() - 2]) return m;
    const auto n = side();
    return d_.like(type(n, n));
  }
  /// As many rows as the square matrix, in its dtype and batch.
  ValueId beside(ValueId square) {
    Type t = d_.b.type(square);
    t.shape.back() = 1 + static_cast<std::int64_t>(d_.choose(4));
    return d_.like(t);
  }
  ValueId transposed(ValueId m) {
    ir::Ints perm;
    for (std::size_t k = 0; k < d_.b.type(m).rank(); ++k) perm.push_back(static_cast<std::int64_t>(k));
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    return d_.b.transpose(m, perm);
  }
  /// m m* and a multiple of the identity, which has a factor unless m is too large for it.
  ValueId positive(ValueId m) {
    const Type t = d_.b.type(m);
    const auto n = t.shape.back().size();
    ir::Literal identity(ir::Type{is_complex(t.dtype) ? part_dtype(t.dtype) : t.dtype, {n, n}});
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) store_element(identity.dtype(), identity.mutable_raw(), i * n + j, i == j ? static_cast<double>(n) : 0.0);
    const auto star = is_complex(t.dtype) ? d_.b.op("conj", {transposed(m)}) : transposed(m);
    return d_.b.op("add", {d_.b.op("matmul", {m, star}), d_.b.broadcast_to(d_.b.convert(d_.b.constant(std::move(identity)), t.dtype), t.shape)});
  }

  const Draws& d_;
  ValueId x_;
};

}  // namespace

std::vector<ValueId> draw_factors(const Draws& d, ValueId x) { return Factors(d, x).any(); }

}  // namespace plumb::fuzz
