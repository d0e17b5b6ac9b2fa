// Quasi-affine index expressions. In a vector loop most are `uniform + stride·lane`: one scalar, one broadcast, one add.
#include <numeric>

#include "backends/llvm/internal/kernel_emitter.h"

namespace plumb::backends::codegen {

using kir::Affine;
using kir::Atom;

namespace {

/// An atom as an expression, as it stands.
Affine expression(const Atom& a) {
  switch (a.kind) {
    case Atom::Kind::var: return Affine::var(a.id);
    case Atom::Kind::symbol: return Affine::symbol(a.id);
    case Atom::Kind::coordinate: return Affine::coordinate(a.id);
    case Atom::Kind::value: return Affine::value(a.id);
    case Atom::Kind::floor_div: return kir::floor_div(*a.a, a.divisor);
    case Atom::Kind::mod: return kir::mod(*a.a, a.divisor);
    case Atom::Kind::bit_xor: return kir::bit_xor(*a.a, *a.b);
  }
  return {};
}

std::int64_t floor_mod(std::int64_t x, std::int64_t c) { return ((x % c) + c) % c; }

}  // namespace

kir::AtomRange KernelEmitter::ranges() const {
  return [this](const Atom& a) -> std::optional<kir::Range> {
    if (a.kind == Atom::Kind::var) return var_ranges_[static_cast<std::size_t>(a.id)];
    if (a.kind == Atom::Kind::value) return value_ranges_[static_cast<std::size_t>(a.id)];
    return std::nullopt;
  };
}

bool KernelEmitter::varies(const Affine& a) const {
  if (width_ == 0) return false;
  bool v = false;
  walk_atoms(a, [&](const Atom& atom) {
    v = v || (atom.kind == Atom::Kind::var && atom.id == lane_var_) || (atom.kind == Atom::Kind::value && is_vector(scalars_[static_cast<std::size_t>(atom.id)]));
  });
  return v;
}

std::optional<KernelEmitter::Lanewise> KernelEmitter::lanewise(const Affine& a) const {
  Lanewise r{a.constant(), 0};
  for (const auto& t : a.terms()) {
    const auto one = lanewise_atom(t.atom);
    if (!one) return std::nullopt;
    r.uniform = r.uniform + one->uniform * t.coefficient;
    r.stride += one->stride * t.coefficient;
  }
  return r;
}

/// A step starts at a multiple of its width. So in x = u + s·lane with u ≡ r modulo q, q dividing d, no lane crosses a
/// multiple of d when r + s·(W - 1) < q: then x div d is the first lane's, and x mod d grows with the lane.
std::optional<KernelEmitter::Lanewise> KernelEmitter::lanewise_atom(const Atom& a) const {
  const Affine whole = expression(a);
  if (!varies(whole)) return Lanewise{whole, 0};
  if (a.kind == Atom::Kind::var) return Lanewise{whole, 1};
  if (a.kind != Atom::Kind::floor_div && a.kind != Atom::Kind::mod) return std::nullopt;
  const auto x = lanewise(*a.a);
  if (!x || x->stride < 0) return std::nullopt;
  std::int64_t q = a.divisor;
  for (const auto& t : x->uniform.terms()) {
    const bool first_lane = t.atom.kind == Atom::Kind::var && t.atom.id == lane_var_;
    q = std::gcd(q, t.coefficient * (first_lane ? static_cast<std::int64_t>(width_) : 1));
  }
  if (x->stride != 0 && floor_mod(x->uniform.constant(), q) + x->stride * (static_cast<std::int64_t>(width_) - 1) >= q) return std::nullopt;
  if (a.kind == Atom::Kind::floor_div) return Lanewise{kir::floor_div(x->uniform, a.divisor), 0};
  return Lanewise{kir::mod(x->uniform, a.divisor), x->stride};
}

// ── scalars: the lane variable stands for the first lane ──

/// Floor division or remainder by a positive constant; unsigned where the range shows that nothing is negative.
Value* KernelEmitter::divide(Value* x, std::int64_t c, bool remainder, const Affine& of) {
  auto* type = x->getType();
  Value* d = llvm::ConstantInt::get(type, static_cast<std::uint64_t>(c));
  const auto r = kir::range(of, ranges());
  if (options_.grid && r && r->low >= 0 && r->high < (std::int64_t{1} << 31) && type->isIntegerTy(64)) {  // long divisions take a hundred instructions there
    auto* i32 = b_.getInt32Ty();
    Value *x32 = b_.CreateTrunc(x, i32), *d32 = b_.getInt32(static_cast<std::uint32_t>(std::min<std::int64_t>(c, std::int64_t{1} << 31)));
    return b_.CreateZExt(remainder ? b_.CreateURem(x32, d32) : b_.CreateUDiv(x32, d32), type);
  }
  if (r && r->low >= 0) return remainder ? b_.CreateURem(x, d) : b_.CreateUDiv(x, d);
  Value *zero = llvm::ConstantInt::get(type, 0), *q = b_.CreateSDiv(x, d), *rest = b_.CreateSub(x, b_.CreateMul(q, d));
  Value* negative = b_.CreateICmpSLT(rest, zero);
  if (remainder) return b_.CreateSelect(negative, b_.CreateAdd(rest, d), rest);
  return b_.CreateSelect(negative, b_.CreateSub(q, llvm::ConstantInt::get(type, 1)), q);
}

Value* KernelEmitter::uniform_atom(const Atom& a) {
  switch (a.kind) {
    case Atom::Kind::var: return width_ > 0 && a.id == lane_var_ ? lane_base_ : vars_[static_cast<std::size_t>(a.id)];
    case Atom::Kind::value: return scalars_[static_cast<std::size_t>(a.id)];
    case Atom::Kind::floor_div:
    case Atom::Kind::mod: return divide(uniform(*a.a), a.divisor, a.kind == Atom::Kind::mod, *a.a);
    case Atom::Kind::bit_xor: return b_.CreateXor(uniform(*a.a), uniform(*a.b));
    default: fail_internal("dimension symbols are bound before code generation");
  }
}

Value* KernelEmitter::uniform(const Affine& a) {
  Value* r = i64(a.constant());
  for (const auto& t : a.terms()) {
    Value* v = uniform_atom(t.atom);
    r = b_.CreateAdd(r, t.coefficient == 1 ? v : b_.CreateMul(v, i64(t.coefficient)));
  }
  return r;
}

// ── vectors ──

Value* KernelEmitter::iota(llvm::Type* element) {
  llvm::SmallVector<llvm::Constant*, 16> step;
  for (unsigned k = 0; k < width_; ++k) step.push_back(llvm::ConstantInt::get(element, k));
  return llvm::ConstantVector::get(step);
}

/// Whether every value and intermediate sum of the expression has magnitude below 2^31.
bool KernelEmitter::fits_i32(const Affine& a) const {
  // A partial step's absent lanes run past the loop's extent by less than the width.
  double bound = std::abs(static_cast<double>(a.constant())) + width_;
  for (const auto& t : a.terms()) {
    const auto r = kir::range(expression(t.atom), ranges());
    if (!r || (t.atom.a && !fits_i32(*t.atom.a)) || (t.atom.b && !fits_i32(*t.atom.b)) || t.atom.divisor >= (std::int64_t{1} << 31)) return false;
    const bool lane = t.atom.kind == Atom::Kind::var && t.atom.id == lane_var_;
    bound += std::abs(static_cast<double>(t.coefficient)) * (std::max(std::abs(static_cast<double>(r->low)), std::abs(static_cast<double>(r->high))) + (lane ? width_ : 0));
  }
  return bound < 0x1p31;
}

Value* KernelEmitter::vector_atom(const Atom& a, llvm::Type* element) {
  auto narrowed = [&](Value* v) { return b_.CreateTrunc(v, shaped(v->getType(), element)); };
  if (!varies(expression(a))) return splat(narrowed(uniform_atom(a)));
  auto inner = [&](const Affine& x) {
    Value* v = varies(x) ? lanes_of(x) : splat(uniform(x));
    return b_.CreateSExtOrTrunc(v, shaped(v->getType(), element));
  };
  switch (a.kind) {
    case Atom::Kind::value: return narrowed(scalars_[static_cast<std::size_t>(a.id)]);
    case Atom::Kind::floor_div:
    case Atom::Kind::mod: return divide(inner(*a.a), a.divisor, a.kind == Atom::Kind::mod, *a.a);
    case Atom::Kind::bit_xor: return b_.CreateXor(inner(*a.a), inner(*a.b));
    default: fail_internal("the lane variable is a lanewise atom");
  }
}

/// The lanewise part is one scalar plus constants; what is left is computed lane by lane.
Value* KernelEmitter::lanes_of(const Affine& a) {
  llvm::Type* element = fits_i32(a) ? b_.getInt32Ty() : b_.getInt64Ty();
  Lanewise easy{a.constant(), 0};
  Value* hard = nullptr;
  for (const auto& t : a.terms()) {
    if (const auto one = lanewise_atom(t.atom)) {
      easy.uniform = easy.uniform + one->uniform * t.coefficient;
      easy.stride += one->stride * t.coefficient;
      continue;
    }
    Value* v = vector_atom(t.atom, element);
    if (t.coefficient != 1) v = b_.CreateMul(v, llvm::ConstantInt::get(v->getType(), static_cast<std::uint64_t>(t.coefficient)));
    hard = hard ? b_.CreateAdd(hard, v) : v;
  }
  Value* r = b_.CreateVectorSplat(width_, b_.CreateTrunc(uniform(easy.uniform), element));
  if (easy.stride != 0) {
    Value* step = iota(element);
    r = b_.CreateAdd(r, b_.CreateMul(step, llvm::ConstantInt::get(step->getType(), static_cast<std::uint64_t>(easy.stride))));
  }
  return hard ? b_.CreateAdd(r, hard) : r;
}

Value* KernelEmitter::affine(const Affine& a) {
  if (!varies(a)) return uniform(a);
  if (const auto l = lanewise(a); l && l->stride == 0) return uniform(l->uniform);
  Value* v = lanes_of(a);
  return b_.CreateSExt(v, shaped(v->getType(), b_.getInt64Ty()));
}

Value* KernelEmitter::predicate(const kir::Predicate& p) {
  Value* r = nullptr;
  for (const auto& c : p) {
    const auto bounds = kir::range(c.expr, ranges());
    if (bounds && !c.equality && bounds->low >= 0) continue;
    if (bounds && (bounds->high < 0 || (c.equality && bounds->low > 0))) return b_.getFalse();
    const auto l = varies(c.expr) ? lanewise(c.expr) : std::nullopt;
    Value* v = !varies(c.expr) ? uniform(c.expr) : l && l->stride == 0 ? uniform(l->uniform) : lanes_of(c.expr);
    auto* zero = llvm::ConstantInt::get(v->getType(), 0);
    Value* here = c.equality ? b_.CreateICmpEQ(v, zero) : b_.CreateICmpSGE(v, zero);
    if (r && is_vector(r) != is_vector(here)) r = splat(r), here = splat(here);
    r = r ? b_.CreateAnd(r, here) : here;
  }
  return r;
}

}  // namespace plumb::backends::codegen
