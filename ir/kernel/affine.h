// Quasi-affine index expressions: constant + Σ coefficient · atom, kept in a normal form.
//
// An atom is a loop variable, a dimension symbol, a coordinate of an output element (in inverse maps), an i64 scalar of
// the body (a loaded index), or floor_div, mod by a positive constant, or xor of two non-negative expressions
// (shared-memory swizzles). Arithmetic is on mathematical integers; that nothing wraps 64 bits is the verifier's claim.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/tensor/type.h"

namespace plumb::kir {

using VarId = std::int32_t;     ///< loop variable, index into Kernel::vars
using ScalarId = std::int32_t;  ///< scalar SSA value, index into Kernel::scalars
using BufferId = std::int32_t;  ///< index into Kernel::buffers

class Affine;

struct Atom {
  enum class Kind : std::uint8_t { var, symbol, coordinate, value, floor_div, mod, bit_xor };
  Kind kind = Kind::var;
  std::int32_t id = 0;             ///< var, symbol, coordinate, value
  std::int64_t divisor = 1;        ///< floor_div, mod: positive
  std::shared_ptr<const Affine> a, b;
};
int compare(const Atom& x, const Atom& y);

struct Term {
  std::int64_t coefficient = 1;
  Atom atom;
};

/// Inclusive bounds of an atom's value; nullopt when unknown.
struct Range { std::int64_t low, high; };
using AtomRange = std::function<std::optional<Range>(const Atom&)>;

class Affine {
 public:
  Affine(std::int64_t constant = 0) : constant_(constant) {}  // NOLINT: a number is an index expression
  static Affine var(VarId v) { return of({Atom::Kind::var, v, 1, nullptr, nullptr}); }
  static Affine symbol(ir::Symbol s) { return of({Atom::Kind::symbol, s, 1, nullptr, nullptr}); }
  static Affine coordinate(int axis) { return of({Atom::Kind::coordinate, axis, 1, nullptr, nullptr}); }
  static Affine value(ScalarId s) { return of({Atom::Kind::value, s, 1, nullptr, nullptr}); }

  std::int64_t constant() const { return constant_; }
  const std::vector<Term>& terms() const { return terms_; }
  bool is_constant() const { return terms_.empty(); }
  std::optional<std::int64_t> as_constant() const { return is_constant() ? std::optional(constant_) : std::nullopt; }
  /// Coefficient of a loop variable among the plain terms (0 when it occurs only inside another atom or not at all).
  std::int64_t coefficient_of(VarId v) const;
  /// Whether the variable occurs anywhere, nested atoms included.
  bool mentions(VarId v) const;
  bool mentions_value() const;

  friend Affine operator+(const Affine& x, const Affine& y);
  friend Affine operator-(const Affine& x, const Affine& y) { return x + y * -1; }
  friend Affine operator*(const Affine& x, std::int64_t c);
  friend bool operator==(const Affine& x, const Affine& y) { return compare(x, y) == 0; }
  friend int compare(const Affine& x, const Affine& y);

 private:
  static Affine of(Atom a);
  friend Affine floor_div(const Affine&, std::int64_t, const AtomRange&);
  friend Affine mod(const Affine&, std::int64_t, const AtomRange&);
  friend Affine bit_xor(const Affine&, const Affine&);
  std::int64_t constant_ = 0;
  std::vector<Term> terms_;  ///< sorted by atom, coefficients not 0, atoms distinct
};

/// Quotient toward minus infinity and remainder in [0, c); c > 0. With ranges given, multiples of c are split off and
/// what lies in [0, c) folds away.
Affine floor_div(const Affine& x, std::int64_t c, const AtomRange& ranges = {});
Affine mod(const Affine& x, std::int64_t c, const AtomRange& ranges = {});
Affine bit_xor(const Affine& x, const Affine& y);
/// Undoes a delinearisation: r·(x mod d) + r·d·(x floordiv d) becomes r·x, wherever the pair occurs.
Affine recombine(Affine x);
/// Bounds of an expression from its atoms'.
std::optional<Range> range(const Affine& x, const AtomRange& ranges);
/// Replaces atoms (innermost first); the function gives nullopt to leave an atom alone.
Affine substitute(const Affine& x, const std::function<std::optional<Affine>(const Atom&)>& replace, const AtomRange& ranges = {});

/// Conjunction of linear conditions, each `expr >= 0` or `expr == 0`.
struct Condition {
  Affine expr;
  bool equality = false;
};
using Predicate = std::vector<Condition>;
inline Condition below(const Affine& x, const Affine& limit) { return {limit - x - 1, false}; }
inline Condition at_least(const Affine& x, const Affine& least) { return {x - least, false}; }

}  // namespace plumb::kir
