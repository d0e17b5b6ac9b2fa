// Rules of reverse mode: what pulls cotangents of an operation's results back to its operands.
#pragma once
#include <functional>

#include "lowering/autodiff/words.h"

namespace plumb::lowering::autodiff {

/// One operation of the forward function, being pulled back.
struct Step {
  Words w;
  const ir::AttrMap& a;
  std::string_view op;
  std::vector<ValueId> in, out;
  std::vector<ValueId> g;        ///< cotangents of the results; -1 where nothing arrives
  std::vector<bool> wanted;      ///< whose operand's cotangent something needs
  bool masked = false;           ///< zeros among the cotangents come from what was not selected

  Type type(std::size_t k) const { return w.type(in[k]); }
  std::vector<ValueId> nothing() const { return std::vector<ValueId>(in.size(), -1); }
  /// A cotangent of the first operand alone.
  std::vector<ValueId> first(ValueId v) const {
    auto r = nothing();
    r[0] = v;
    return r;
  }
};
/// One cotangent an operand, -1 for none.
using Pull = std::vector<ValueId> (*)(const Step&);

struct Rule {
  std::string_view op;
  Pull pull;
  /// Of a composite: whether the rule serves these attributes; otherwise it is taken apart.
  bool (*serves)(const ir::AttrMap&) = nullptr;
};

/// The operation's rule, nullptr where there is none. Elementwise functions are not among them: their records say it.
const Rule* find_rule(std::string_view op);

std::span<const Rule> view_rules();
std::span<const Rule> reduce_rules();
std::span<const Rule> scan_rules();
std::span<const Rule> index_rules();
std::span<const Rule> window_rules();
std::span<const Rule> contract_rules();
std::span<const Rule> composite_rules();
std::span<const Rule> matrix_rules();

}  // namespace plumb::lowering::autodiff
