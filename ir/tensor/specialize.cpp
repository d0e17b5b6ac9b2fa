#include "ir/tensor/specialize.h"

#include "ir/tensor/op_table.h"
#include "ir/tensor/verifier.h"

namespace plumb::ir {
namespace {

class Substitution {
 public:
  explicit Substitution(const Bindings& sizes) {
    for (const auto& [symbol, size] : sizes) {
      if (size < 0) fail_input("dimension " + symbol + " cannot have the size " + std::to_string(size));
      by_symbol_.emplace(intern_symbol(symbol), size);
    }
  }

  Shape operator()(Shape s) const {
    for (auto& d : s)
      if (d.is_symbol())
        if (const auto it = by_symbol_.find(d.symbol()); it != by_symbol_.end()) d = it->second;
    return s;
  }

  std::string str() const {
    std::string s;
    for (const auto& [symbol, size] : by_symbol_) s += (s.empty() ? "" : ", ") + symbol_name(symbol) + "=" + std::to_string(size);
    return s;
  }

 private:
  std::map<Symbol, std::int64_t> by_symbol_;
};

[[noreturn]] void fail_node(const Function& f, const Node& n, const std::string& why, const Substitution& with, ErrorKind kind) {
  throw Error(kind, "@" + f.name + ": " + std::string(name(n)) + " with " + with.str() + ": " + why, n.where);
}

/// Types of the node's results under the operands' new types.
std::vector<Type> infer_again(const Function& f, const Node& n, const Substitution& with) {
  std::vector<Type> operands;
  for (auto v : n.operands) operands.push_back(f.type(v));
  Inferred inferred;
  try {
    inferred = infer(n.op, operands, n.attrs);
  } catch (const Error& e) {
    fail_node(f, n, e.what(), with, e.kind());
  }
  if (const auto* why = std::get_if<std::string>(&inferred)) fail_node(f, n, *why, with, ErrorKind::input);
  return std::get<std::vector<Type>>(inferred);
}

void specialize(Function& f, const Substitution& with) {
  for (auto& v : f.values) v.type.shape = with(v.type.shape);
  for (auto& n : f.nodes) {
    AttrMap attrs;
    for (const auto& [key, value] : n.attrs.entries()) {
      const auto* shape = std::get_if<Shape>(&value);
      attrs.set(key, shape ? AttrValue(with(*shape)) : value);
    }
    n.attrs = std::move(attrs);
    if (takes_types_from_functions(n.op)) continue;
    const auto types = infer_again(f, n, with);
    if (types.size() != n.results.size()) fail_internal("specialize: " + std::string(name(n)) + " changes its number of results");
    for (std::size_t i = 0; i < types.size(); ++i) f.values[static_cast<std::size_t>(n.results[i])].type = types[i];
  }
}

}  // namespace

Module specialize(const Module& module, const Bindings& sizes) {
  const Substitution with(sizes);
  Module m = module;
  for (auto& f : m.functions) specialize(f, with);
  verify(m);
  return m;
}

Bindings bind_symbols(const Function& f, std::span<const Type> inputs) {
  if (inputs.size() != f.params.size())
    fail_input("@" + f.name + " takes " + std::to_string(f.params.size()) + " inputs, not " + std::to_string(inputs.size()));
  Bindings sizes;
  std::map<std::string, std::string> bound_by;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Type &want = f.type(f.params[i]), &given = inputs[i];
    const std::string parameter = "%" + f.value(f.params[i]).name;
    const std::string both = "input " + std::to_string(i) + " of @" + f.name + " (" + parameter + ") is " + given.str() + ", where " + want.str() + " is needed";
    if (given.dtype != want.dtype) fail_input(both + ": the dtypes differ");
    if (given.rank() != want.rank()) fail_input(both + ": the ranks differ");
    for (std::size_t d = 0; d < want.rank(); ++d) {
      const std::int64_t size = given.shape[d].size();
      if (!want.shape[d].is_symbol()) {
        if (want.shape[d].size() != size) fail_input(both + ": axis " + std::to_string(d) + " differs");
        continue;
      }
      const std::string symbol = want.shape[d].str();
      const auto [it, fresh] = sizes.emplace(symbol, size);
      if (fresh) bound_by[symbol] = parameter;
      if (it->second != size) fail_input(both + ": " + symbol + " is " + std::to_string(it->second) + " by " + bound_by[symbol] + " and " + std::to_string(size) + " by axis " + std::to_string(d) + " here");
    }
  }
  return sizes;
}

}  // namespace plumb::ir
