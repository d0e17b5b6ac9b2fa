#include "ir/tensor/split_complex.h"

#include <algorithm>
#include <set>

#include "ir/tensor/builder.h"
#include "ir/tensor/complex_parts.h"
#include "ir/tensor/op_table.h"

namespace plumb::ir {
namespace {

bool is_complex_value(const Function& f, ValueId v) { return is_complex(f.type(v).dtype); }

/// Names of the functions that a function leads to, itself among them.
void reach(const Module& m, const Function& f, std::set<std::string>& names) {
  if (!names.insert(f.name).second) return;
  for (const auto& n : f.nodes)
    if (row(n.op).op_class == OpClass::control)
      for (const auto& [key, value] : n.attrs.entries())
        if (const auto* name = std::get_if<std::string>(&value))
          if (const auto* called = m.find(*name)) reach(m, *called, names);
}

class Splitter {
 public:
  Splitter(const Function& f, bool entry) : f_(f), entry_(entry), b_(out_) {
    out_.name = f.name;
    out_.result_names = f.result_names;
    out_.result_sizes = f.result_sizes;
  }

  Function run() {
    std::vector<Parts> values(f_.values.size());
    for (auto v : f_.params) values[static_cast<std::size_t>(v)] = parameter(v);
    nodes(f_, values);
    std::vector<ValueId> results;
    for (auto v : f_.results) {
      const Parts p = values[static_cast<std::size_t>(v)];
      if (!p.is_complex() || !entry_) results.push_back(p.re);
      if (p.is_complex()) results.push_back(entry_ ? interleaved(b_, p) : p.im);
    }
    b_.results(results);
    return std::move(out_);
  }

 private:
  Parts parameter(ValueId v) {
    const auto& [type, name, node] = f_.value(v);
    if (!is_complex(type.dtype)) return {b_.param(type, name)};
    const Type part{part_dtype(type.dtype), type.shape};
    if (!entry_) {
      const auto re = b_.param(part, name + ".re");
      return {re, b_.param(part, name + ".im")};
    }
    return taken_apart(b_, b_.param(parts_type(type), name));
  }
  void nodes(const Function& f, std::vector<Parts>& values) {
    for (const auto& n : f.nodes) {
      std::vector<Parts> in;
      for (auto v : n.operands) in.push_back(values[static_cast<std::size_t>(v)]);
      b_.at(n.where);
      const auto out = node(f, n, in);
      for (std::size_t k = 0; k < out.size(); ++k) values[static_cast<std::size_t>(n.results[k])] = out[k];
    }
  }

  std::vector<Parts> node(const Function& f, const Node& n, const std::vector<Parts>& in) {
    auto complex = [&](ValueId v) { return is_complex_value(f, v); };
    const bool any = std::ranges::any_of(n.operands, complex) || std::ranges::any_of(n.results, complex);
    if (!any || row(n.op).op_class == OpClass::control) return expanded(f, n, in);
    return has_complex_parts(n.op) ? complex_parts(n.op, b_, in, n.attrs) : composite(f, n, in);
  }

  /// The same operation, with each complex operand and result in two.
  std::vector<Parts> expanded(const Function& f, const Node& n, const std::vector<Parts>& in) {
    std::vector<ValueId> operands;
    for (const auto& p : in) {
      operands.push_back(p.re);
      if (p.is_complex()) operands.push_back(p.im);
    }
    std::vector<Type> types;
    for (auto v : n.results) types.insert(types.end(), is_complex_value(f, v) ? 2 : 1, {part_dtype(f.type(v).dtype), f.type(v).shape});
    const auto made = b_.add_typed(n.op, operands, attrs_of_parts(n, in), types);
    std::vector<Parts> out;
    std::size_t next = 0;
    for (auto v : n.results) {
      out.push_back({made[next++]});
      if (is_complex_value(f, v)) out.back().im = made[next++];
    }
    return out;
  }

  /// A scan counts its carried operands: parts are two.
  static AttrMap attrs_of_parts(const Node& n, const std::vector<Parts>& in) {
    if (name(n) != "scan") return n.attrs;
    AttrMap attrs = n.attrs;
    const auto carries = n.attrs.integer("carries");
    attrs.set("carries", carries + std::count_if(in.begin(), in.begin() + carries, [](const Parts& p) { return p.is_complex(); }));
    return attrs;
  }

  std::vector<Parts> composite(const Function& f, const Node& n, const std::vector<Parts>& in) {
    Function body;
    Builder inner(body);
    inner.at(n.where);
    std::vector<ValueId> params;
    for (auto v : n.operands) params.push_back(inner.param(f.type(v)));
    inner.results(decompose(n.op, inner, params, n.attrs));
    std::vector<Parts> values(body.values.size());
    for (std::size_t k = 0; k < params.size(); ++k) values[static_cast<std::size_t>(params[k])] = in[k];
    nodes(body, values);
    std::vector<Parts> out;
    for (auto v : body.results) out.push_back(values[static_cast<std::size_t>(v)]);
    return out;
  }

  const Function& f_;
  const bool entry_;
  Function out_;
  Builder b_;
};

}  // namespace

bool has_complex(const Module& m) {
  return std::ranges::any_of(m.functions, [](const Function& f) { return std::ranges::any_of(f.values, [](const Value& v) { return is_complex(v.type.dtype); }); });
}

Module split_complex(const Module& m) {
  if (!has_complex(m)) return m;
  std::set<std::string> reached;
  reach(m, m.entry(), reached);
  Module out;
  for (const auto& f : m.functions)
    if (reached.contains(f.name)) out.functions.push_back(Splitter(f, &f == &m.entry()).run());
  return out;
}

}  // namespace plumb::ir
