// Linear algebra over batches of real matrices. A factorization of a matrix of which one triangle is read gives its cotangent in
// that triangle: the other does not change the answer. Eigenvectors and singular vectors are taken as simple ones: where two
// values are equal no derivative exists, and the formulas give infinities.
#include "ir/tensor/matrix_words.h"
#include "lowering/autodiff/rules.h"

namespace plumb::lowering::autodiff {
namespace {

/// The words of matrix formulas.
struct Matrices {
  const Words& w;

  ValueId times(ValueId x, ValueId y) const { return ir::matrix_product(w.b, x, y); }
  template <class... V> ValueId times(ValueId x, ValueId y, V... more) const { return times(times(x, y), more...); }
  ValueId t(ValueId x) const { return ir::matrix_transpose(w.b, x); }
  ValueId identity(ValueId square) const { return ir::identity_like(w.b, square); }
  ValueId lower(ValueId x, std::int64_t diagonal = 0) const { return w.b.op("tril", {x}, attrs({{"diagonal", diagonal}})); }
  ValueId upper(ValueId x, std::int64_t diagonal = 0) const { return w.b.op("triu", {x}, attrs({{"diagonal", diagonal}})); }
  ValueId triangle(ValueId x, bool is_lower, std::int64_t inward = 0) const { return is_lower ? lower(x, -inward) : upper(x, inward); }
  ValueId columns(ValueId v, ValueId like) const { return ir::as_columns(w.b, v, w.type(like).shape); }
  ValueId rows(ValueId v, ValueId like) const { return ir::as_rows(w.b, v, w.type(like).shape); }
  ValueId solve(ValueId a, ValueId b, bool left, bool is_lower, bool transposed, bool unit = false) const {
    return w.b.op("triangular_solve", {a, b}, attrs({{"left_side", left}, {"lower", is_lower}, {"transpose", std::string(transposed ? "transpose" : "none")}, {"unit_diagonal", unit}}));
  }
  /// The cotangent of a matrix of which a triangle is read and mirrored, for that of the whole.
  ValueId mirrored(ValueId whole, bool is_lower) const { return w("add", triangle(whole, is_lower), triangle(t(whole), is_lower, 1)); }
  /// 1 / (v[j] - v[i]) off the diagonal, 0 on it.
  ValueId gaps(ValueId v, ValueId like) const {
    const auto one = identity(like), difference = w("add", w("sub", rows(v, like), columns(v, like)), one);
    return w("sub", w("div", w.b.splat_like(like, 1), difference), one);
  }
};

void only_real(const Step& s) {
  if (s.a.flag("complex")) fail_unsupported(std::string(s.op) + " of complex matrices has no derivative here", s.w.b.where());
}

/// With P the lower half of Lᵀ gL: Lᵀ⁻¹ P L⁻¹, mirrored.
std::vector<ValueId> cholesky(const Step& s) {
  only_real(s);
  const Matrices m{s.w};
  const bool is_lower = s.a.flag("lower");
  const auto l = is_lower ? s.out[0] : m.t(s.out[0]), g = is_lower ? s.g[0] : m.t(s.g[0]);
  const auto p = m.lower(m.times(m.t(l), g));
  const auto half = s.w("sub", p, s.w("mul", p, s.w.with("mul", m.identity(p), 0.5)));
  return s.first(m.mirrored(m.solve(l, m.solve(l, half, true, true, true), false, true, false), is_lower));
}

/// Of op(A) X = B: gB = op(A)ᵀ⁻¹ g, and -gB Xᵀ for op(A); likewise from the right.
std::vector<ValueId> triangular_solve(const Step& s) {
  only_real(s);
  const Matrices m{s.w};
  const bool left = s.a.flag("left_side"), is_lower = s.a.flag("lower"), unit = s.a.flag("unit_diagonal"), transposed = s.a.text("transpose") != "none";
  auto r = s.nothing();
  r[1] = m.solve(s.in[0], s.g[0], left, is_lower, !transposed, unit);
  if (s.wanted[0]) {
    const auto of_op = s.w("neg", left ? m.times(r[1], m.t(s.out[0])) : m.times(m.t(s.out[0]), r[1]));
    r[0] = m.triangle(transposed ? m.t(of_op) : of_op, is_lower, unit ? 1 : 0);
  }
  return r;
}

std::vector<ValueId> solve(const Step& s) {
  const Matrices m{s.w};
  auto r = s.nothing();
  r[1] = s.w("solve", m.t(s.in[0]), s.g[0]);
  if (s.wanted[0]) r[0] = s.w("neg", m.times(r[1], m.t(s.out[0])));
  return r;
}

std::vector<ValueId> inverse(const Step& s) {
  const Matrices m{s.w};
  const auto t = m.t(s.out[0]);
  return s.first(s.w("neg", m.times(t, s.g[0], t)));
}

/// Rows moved to the places in `at`, a vector a matrix.
ValueId moved_rows(const Words& w, ValueId x, ValueId at) {
  return w.b.op("gather_elements", {x, ir::as_columns(w.b, at, w.type(x).shape)}, attrs({{"axis", static_cast<std::int64_t>(w.rank(x)) - 2}}));
}

/// Of P A = L U, square: Pᵀ Lᵀ⁻¹ (tril(Lᵀ gL, -1) + triu(gU Uᵀ)) Uᵀ⁻¹.
std::vector<ValueId> lu(const Step& s) {
  only_real(s);
  const Matrices m{s.w};
  const auto rank = static_cast<std::int64_t>(s.w.rank(s.in[0]));
  if (s.w.size(s.in[0], rank - 1) != s.w.size(s.in[0], rank - 2)) fail_unsupported("lu has a derivative here for square matrices alone", s.w.b.where());
  const auto packed = s.out[0], u = m.upper(packed), l = s.w("add", m.lower(packed, -1), m.identity(packed));
  const auto inner = s.w("add", m.lower(m.times(m.t(l), m.lower(s.g[0], -1)), -1), m.upper(m.times(m.upper(s.g[0]), m.t(u))));
  const auto of_permuted = m.solve(packed, m.solve(packed, inner, true, true, true, true), false, false, true);
  return s.first(moved_rows(s.w, of_permuted, s.w.along("argsort", s.out[2], static_cast<std::int64_t>(s.w.rank(s.out[2])) - 1)));
}

/// Reduced, at least as many rows as columns: (gQ + Q sym(M)) Rᵀ⁻¹, M = R gRᵀ - gQᵀ Q, sym: the lower triangle mirrored.
std::vector<ValueId> qr(const Step& s) {
  only_real(s);
  const Matrices m{s.w};
  const auto rank = static_cast<std::int64_t>(s.w.rank(s.in[0])), rows = s.w.size(s.in[0], rank - 2), columns = s.w.size(s.in[0], rank - 1);
  if (rows < columns || (s.a.flag("complete") && rows != columns)) fail_unsupported("qr has a derivative here for reduced factors of matrices that have at least as many rows as columns", s.w.b.where());
  const auto q = s.out[0], r = s.out[1];
  const auto gq = s.g[0] >= 0 ? s.g[0] : s.w.zeros(s.w.type(q)), gr = s.g[1] >= 0 ? m.upper(s.g[1]) : s.w.zeros(s.w.type(r));
  const auto inner = s.w("sub", m.times(r, m.t(gr)), m.times(m.t(gq), q));
  const auto symmetric = s.w("add", m.lower(inner), m.t(m.lower(inner, -1)));
  return s.first(m.solve(r, s.w("add", gq, m.times(q, symmetric)), false, false, true));
}

/// V (diag(gw) + (Vᵀ gV) / (w[j] - w[i])) Vᵀ, mirrored.
std::vector<ValueId> eigh(const Step& s) {
  only_real(s);
  const Matrices m{s.w};
  const auto values = s.out[0], v = s.out[1];
  ValueId inner = -1;
  if (s.g[0] >= 0) inner = s.w("mul", m.identity(v), m.columns(s.g[0], v));
  if (s.g[1] >= 0) {
    const auto turned = s.w("mul", m.gaps(values, v), m.times(m.t(v), s.g[1]));
    inner = inner < 0 ? turned : s.w("add", inner, turned);
  }
  return s.first(m.mirrored(m.times(v, inner, m.t(v)), s.a.flag("lower")));
}

/// With F[i, j] = 1 / (s[j]² - s[i]²): U (F∘(Uᵀ gU - gUᵀ U) S + S F∘(Vᵀ gV - gVᵀ V) + diag(gs)) Vᵀ, and what leaves U's and V's spaces.
std::vector<ValueId> svd(const Step& s) {
  only_real(s);
  if (s.a.flag("full_matrices")) fail_unsupported("svd has a derivative here without full_matrices alone", s.w.b.where());
  const auto& w = s.w;
  const Matrices m{w};
  const auto u = s.out[0], sigma = s.out[1], vt = s.out[2], v = m.t(vt);
  const auto square = m.times(m.t(u), u);   // for its shape
  const auto wide = m.columns(sigma, square), across = m.rows(sigma, square), gap = m.gaps(w("mul", sigma, sigma), square);
  const auto twist = [&](ValueId x, ValueId g) {
    const auto p = m.times(m.t(x), g);
    return w("mul", gap, w("sub", p, m.t(p)));
  };
  /// The part of g outside the space of x, by the singular values.
  const auto outside = [&](ValueId x, ValueId g) {
    const auto rest = w("sub", g, m.times(x, m.times(m.t(x), g)));
    return w("div", rest, m.rows(sigma, rest));
  };
  auto inner = s.g[1] >= 0 ? w("mul", m.identity(square), m.columns(s.g[1], square)) : w.zeros(w.type(square));
  if (s.g[0] >= 0) inner = w("add", inner, w("mul", twist(u, s.g[0]), across));
  if (s.g[2] >= 0) inner = w("add", inner, w("mul", wide, twist(v, m.t(s.g[2]))));
  auto total = m.times(u, inner, vt);
  if (s.g[0] >= 0) total = w("add", total, m.times(outside(u, s.g[0]), vt));
  if (s.g[2] >= 0) total = w("add", total, m.times(u, m.t(outside(v, m.t(s.g[2])))));
  return s.first(total);
}

constexpr Rule rules[] = {{"cholesky", &cholesky}, {"triangular_solve", &triangular_solve}, {"solve", &solve}, {"inverse", &inverse}, {"lu", &lu}, {"qr", &qr}, {"eigh", &eigh}, {"svd", &svd}};

}  // namespace

std::span<const Rule> matrix_rules() { return rules; }

}  // namespace plumb::lowering::autodiff
