#include "verify/retype.h"

#include <cstring>

namespace plumb::verify {
namespace {

using kir::Block;
using kir::ScalarId;
using kir::Stmt;

/// A kernel that cannot be exchanged: not a fault, so not an Error.
struct NotApplicable {
  std::string why;
};

class Retyper {
 public:
  Retyper(const kir::Kernel& from, System system, int reduction = -1) : from_(from), system_(system), reduction_(reduction), to_(from), alias_(from.scalars.size()), from_float_(from.scalars.size(), false) {
    for (std::size_t s = 0; s < alias_.size(); ++s) alias_[s] = static_cast<ScalarId>(s);
  }

  kir::Kernel run() {
    for (auto& b : to_.buffers) b.dtype = exchanged(b.dtype);
    for (auto& s : to_.scalars) s = exchanged(s);
    for (auto& r : to_.reductions) r.accumulator = exchanged(r.accumulator), r.truncates = false;
    to_.name += system_ == System::ring ? "_ring" : system_ == System::prime ? "_prime" : system_ == System::provenance ? "_provenance" : "_heights";
    to_.body = block(from_.body);
    return std::move(to_);
  }

 private:
  DType was(ScalarId s) const { return from_.scalars[static_cast<std::size_t>(s)]; }
  bool was_float(ScalarId s) const { return is_float(was(s)); }
  ScalarId at(ScalarId s) const { return s < 0 ? s : alias_[static_cast<std::size_t>(s)]; }

  Block block(const Block& b) {
    Block outer = std::move(out_);
    out_.clear();
    for (const auto& s : b) std::visit([&](const auto& n) { statement(n); }, s.node);
    Block r = std::move(out_);
    out_ = std::move(outer);
    return r;
  }
  template <class S> void emit(S s) { out_.push_back(Stmt{std::move(s)}); }
  ScalarId fresh(DType t = DType::u64) {
    to_.scalars.push_back(t);
    return static_cast<ScalarId>(to_.scalars.size() - 1);
  }
  ScalarId word(std::uint64_t bits) {
    const auto s = fresh();
    emit(kir::Constant{s, bits});
    return s;
  }
  void apply_to(ScalarId result, FnId fn, std::initializer_list<ScalarId> args) { emit(kir::Apply{result, fn, SmallVector<ScalarId, 3>(args)}); }
  template <class Fn> ScalarId apply(ScalarId x, ScalarId y) {
    const auto s = fresh();
    apply_to(s, fn_id<Fn>, {x, y});
    return s;
  }

  void statement(const kir::Constant& c) {
    if (!was_float(c.result)) return emit(c);
    const double v = interp::load(was(c.result), &c.bits, 0).f;
    emit(kir::Constant{c.result, exchanged_constant(system_, v)});
  }

  void statement(const kir::Apply& a) {
    kir::Apply r = a;
    for (auto& x : r.args) x = at(x);
    for (auto x : a.args) propagate(a.result, x);
    if (!was_float(a.args[0])) return emit(r);
    if (const auto fixed = fixed_predicate(a.fn)) return emit(kir::Constant{a.result, *fixed});
    const bool comparison = plumb::row(a.fn).gives == Gives::boolean;
    if (comparison || (system_ == System::ring && ring_keeps(a.fn))) return emit(r);
    if (system_ == System::prime && ring_keeps(a.fn)) return kept_residue(r.result, r.fn, r.args);
    if (system_ != System::provenance && !heights()) return hash(r);
    if (r.args.size() == 1) {
      alias_[static_cast<std::size_t>(a.result)] = r.args[0];
      return;
    }
    const FnId join = heights() ? fn_id<scalar::Maximum> : fn_id<scalar::Add>;
    ScalarId all = r.args[0];
    for (std::size_t k = 1; k + 1 < r.args.size(); ++k) {
      const auto next = fresh();
      apply_to(next, join, {all, r.args[k]});
      all = next;
    }
    apply_to(a.result, join, {all, r.args.back()});
  }

  void hash(const kir::Apply& a) {
    using namespace scalar;
    const auto w = hash_words(a.fn);
    ScalarId x = a.args[0];
    if (a.args.size() == 2) x = apply<Add>(apply<Mul>(x, word(w.left)), apply<Mul>(a.args[1], word(w.right)));
    x = apply<Mul>(apply<Xor>(x, word(w.key)), word(w.first));
    x = apply<Mul>(apply<Xor>(x, apply<ShiftRightLogical>(x, word(32))), word(w.second));
    if (system_ == System::ring) return apply_to(a.result, fn_id<Xor>, {x, apply<ShiftRightLogical>(x, word(29))});
    remainder_to(a.result, apply<Xor>(x, apply<ShiftRightLogical>(x, word(29))));
  }

  void remainder_to(ScalarId result, ScalarId x) { apply_to(result, fn_id<scalar::Remainder>, {x, word(prime_modulus)}); }
  /// A function that both rings keep, of residues of the prime: a difference starts from the prime, so nothing wraps.
  void kept_residue(ScalarId result, FnId fn, const SmallVector<ScalarId, 3>& args) {
    using namespace scalar;
    if (!needs_remainder(fn)) return emit(kir::Apply{result, fn, args});
    if (fn == fn_id<Neg>) return remainder_to(result, apply<Sub>(word(prime_modulus), args[0]));
    if (fn == fn_id<Sub>) return remainder_to(result, apply<Add>(args[0], apply<Sub>(word(prime_modulus), args[1])));
    const auto whole = fresh();
    emit(kir::Apply{whole, fn, args});
    remainder_to(result, whole);
  }

  void statement(const kir::Convert& c) {
    const bool to_float = was_float(c.result), was_word = was_float(c.arg);
    if (c.bits) {
      if (to_float || was_word) throw NotApplicable{"it reads or makes a float's bits"};
      emit(kir::Convert{c.result, at(c.arg), true});
      return propagate(c.result, c.arg);
    }
    if (to_float && was_word && heights() && !interp::holds_all(was(c.result), from_.reductions[static_cast<std::size_t>(reduction_)].accumulator)) return narrowed(c);
    if (to_float && was_word) {
      alias_[static_cast<std::size_t>(c.result)] = at(c.arg);
      return;
    }
    if (to_float && (system_ == System::provenance || heights())) return emit(kir::Constant{c.result, 0});
    if (to_float && system_ == System::prime) return integer_residue(c);
    if (was_word && is_integer(was(c.result))) from_float_[static_cast<std::size_t>(c.result)] = true;
    emit(kir::Convert{c.result, at(c.arg)});
    propagate(c.result, c.arg);
  }
  /// A partial sum, which has a height, loses bits; a term does not.
  void narrowed(const kir::Convert& c) {
    using namespace scalar;
    apply_to(c.result, fn_id<Or>, {at(c.arg), apply<Mul>(apply<Minimum>(at(c.arg), word(1)), word(height_narrowed))});
  }
  /// Taken in 64 bits of the integer's own signedness: the remainder has the divisor's sign.
  void integer_residue(const kir::Convert& c) {
    const DType wide = is_signed(was(c.arg)) ? DType::i64 : DType::u64;
    const auto x = fresh(wide), modulus = fresh(wide), residue = fresh(wide);
    emit(kir::Convert{x, at(c.arg)});
    emit(kir::Constant{modulus, prime_modulus});
    apply_to(residue, fn_id<scalar::Remainder>, {x, modulus});
    emit(kir::Convert{c.result, residue});
  }
  void propagate(ScalarId to, ScalarId from) {
    if (from_float_[static_cast<std::size_t>(from)]) from_float_[static_cast<std::size_t>(to)] = true;
  }

  void statement(const kir::Select& s) {
    propagate(s.result, s.on_true);
    propagate(s.result, s.on_false);
    if (heights() && was_float(s.result)) return apply_to(s.result, fn_id<scalar::Maximum>, {at(s.on_true), at(s.on_false)});
    emit(kir::Select{s.result, at(s.condition), at(s.on_true), at(s.on_false)});
  }
  void statement(const kir::Load& l) {
    kir::Load r = l;
    r.other = at(l.other);
    emit(r);
  }
  void statement(const kir::Shuffle& s) {
    kir::Shuffle r = s;
    r.arg = at(s.arg);
    emit(r);
  }
  void statement(const kir::Store& s) { emit(kir::Store{s.buffer, s.index, at(s.value)}); }

  void statement(const kir::Combine& c) {
    kir::Combine r = c;
    r.a = at(c.a);
    r.b = at(c.b);
    if (const auto& buffer = from_.buffers[static_cast<std::size_t>(c.buffer)]; is_float(buffer.dtype)) {
      if (heights()) return combine_heights(r);
      if (system_ == System::provenance) {
        if (c.b >= 0) r.a = apply<scalar::Add>(r.a, r.b), r.b = -1;
        r.fn = fn_id<scalar::Add>;
      } else if (!ring_keeps(c.fn)) {
        throw NotApplicable{"it combines with " + std::string(plumb::row(c.fn).name)};
      } else if (system_ == System::prime && needs_remainder(c.fn)) {
        if (buffer.space != kir::Space::global) return combine_residues(r);
        // An element of an output is stored once, so its sum stays as it is: fewer than 2^33 residues do not wrap, and the
        // one who reads it takes the remainder.
        if (c.fn != fn_id<scalar::Add>) throw NotApplicable{"it combines into its output with " + std::string(plumb::row(c.fn).name)};
      }
    }
    emit(r);
  }
  void combine_heights(const kir::Combine& c) {
    using namespace scalar;
    if (from_.buffers[static_cast<std::size_t>(c.buffer)].space == kir::Space::global) return combine_heights_in_place(c);
    const auto old = fresh();
    emit(kir::Load{old, c.buffer, c.index, {}});
    ScalarId most = apply<Maximum>(old, c.a), any = apply<Or>(old, c.a);
    if (c.b >= 0) most = apply<Maximum>(most, c.b), any = apply<Or>(any, c.b);
    if (c.reduction == reduction_) most = apply<Or>(apply<Add>(most, word(1)), apply<Mul>(apply<And>(any, word(height_narrowed)), word(2)));
    emit(kir::Store{c.buffer, c.index, most});
  }
  /// An element of an output is stored once, so its height is what is added up: right where the operands have none, as updates do.
  void combine_heights_in_place(const kir::Combine& c) {
    kir::Combine r = c;
    if (c.b >= 0) r.a = apply<scalar::Maximum>(c.a, c.b), r.b = -1;
    const bool counts = c.reduction == reduction_;
    if (counts) r.a = apply<scalar::Add>(r.a, word(1));
    r.fn = counts ? fn_id<scalar::Add> : fn_id<scalar::Maximum>;
    emit(r);
  }
  void combine_residues(const kir::Combine& c) {
    const auto old = fresh(), next = fresh();
    emit(kir::Load{old, c.buffer, c.index, {}});
    kept_residue(next, c.fn, c.b >= 0 ? SmallVector<ScalarId, 3>{c.a, c.b, old} : SmallVector<ScalarId, 3>{old, c.a});
    emit(kir::Store{c.buffer, c.index, next});
  }

  void statement(const kir::CheckIndex& c) {
    if (from_float_[static_cast<std::size_t>(c.value)]) throw NotApplicable{"its indices are computed from floats"};
    emit(c);
  }
  void statement(const kir::TileFill& t) { emit(kir::TileFill{t.fragment, at(t.value)}); }
  /// Heights: factors of one make the unit count its own steps. They are terms, without a height.
  void statement(const kir::TileMma& t) {
    if (!heights()) throw NotApplicable{"it multiplies tiles in hardware"};
    if (t.reduction != reduction_) return;
    const auto one = word(1);
    emit(kir::TileFill{t.a, one});
    emit(kir::TileFill{t.b, one});
    emit(t);
  }

  void statement(const kir::For& f) {
    kir::For r{f.var, f.extent, f.kind, f.width, block(f.body)};
    emit(std::move(r));
  }
  void statement(const kir::If& i) {
    kir::If r{i.condition, block(i.then), block(i.otherwise)};
    emit(std::move(r));
  }
  void statement(const kir::IfValue& i) {
    kir::IfValue r{at(i.condition), block(i.then)};
    emit(std::move(r));
  }
  template <class S> void statement(const S& s) { emit(s); }

  bool heights() const { return system_ == System::heights; }

  const kir::Kernel& from_;
  System system_;
  int reduction_;                    ///< heights: whose steps count
  kir::Kernel to_;
  Block out_;
  std::vector<ScalarId> alias_;      ///< float conversions vanish
  std::vector<bool> from_float_;     ///< integers that were floats: no longer usable as indices
};

}  // namespace

namespace {
Retyped attempt(const kir::Kernel& k, System system, int reduction) {
  try {
    return {Retyper(k, system, reduction).run(), {}};
  } catch (const NotApplicable& n) {
    return {std::nullopt, n.why};
  }
}
}  // namespace

Retyped retype(const kir::Kernel& k, System system) { return attempt(k, system, -1); }
Retyped retype_to_heights(const kir::Kernel& k, int reduction) { return attempt(k, System::heights, reduction); }

}  // namespace plumb::verify
