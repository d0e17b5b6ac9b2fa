#include "interpreter/tensor/evaluate.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "interpreter/tensor/demand.h"
#include "interpreter/tensor/dense.h"
#include "interpreter/tensor/primitives.h"
#include "ir/linalg/library.h"
#include "ir/tensor/builder.h"
#include "ir/tensor/loops.h"
#include "ir/tensor/split_complex.h"
#include "ir/tensor/verifier.h"

namespace plumb::interp {
namespace {

using ir::OpClass;
using ir::ValueId;

/// Nodes that a result depends on: what no result needs is not evaluated, and raises no error.
std::vector<char> needed_nodes(const ir::Function& f) {
  std::vector<char> nodes(f.nodes.size(), 0), values(f.values.size(), 0);
  for (auto v : f.results) values[static_cast<std::size_t>(v)] = 1;
  for (std::size_t k = f.nodes.size(); k-- > 0;) {
    const auto& n = f.nodes[k];
    nodes[k] = std::ranges::any_of(n.results, [&](ValueId v) { return values[static_cast<std::size_t>(v)] != 0; });
    if (!nodes[k]) continue;
    for (auto v : n.operands) values[static_cast<std::size_t>(v)] = 1;
  }
  return nodes;
}

ir::Literal to_literal(const Tensor<Rounded>& t) {
  ir::Literal l(t.type);
  for (std::size_t i = 0; i < t.elements.size(); ++i) store(t.type.dtype, l.mutable_raw(), static_cast<std::int64_t>(i), t.elements[i]);
  return l;
}

template <class D> class Run {
 public:
  Run(const D& d, const ir::Module& m, const EnclosureOptions& o) : d_(d), m_(m), options_(o) {}

  std::vector<Tensor<D>> function(const ir::Function& f, std::vector<Tensor<D>> inputs, bool entry) {
    if (inputs.size() != f.params.size()) fail_input("@" + f.name + " takes " + std::to_string(f.params.size()) + " inputs, not " + std::to_string(inputs.size()));
    std::vector<Tensor<D>> values(f.values.size());
    auto uses = ir::use_counts(f);
    const auto needed = needed_nodes(f);
    for (std::size_t k = 0; k < inputs.size(); ++k) values[static_cast<std::size_t>(f.params[k])] = std::move(inputs[k]);
    for (std::size_t k = 0; k < f.nodes.size(); ++k) {
      const auto& n = f.nodes[k];
      if (!needed[k]) continue;
      std::vector<const Tensor<D>*> in;
      for (auto o : n.operands) in.push_back(&values[static_cast<std::size_t>(o)]);
      auto out = node(f, n, in, entry ? static_cast<int>(k) : -1);
      for (std::size_t i = 0; i < out.size(); ++i) values[static_cast<std::size_t>(n.results[i])] = std::move(out[i]);
      for (auto o : n.operands)  // a value is dropped after its last use
        if (--uses[static_cast<std::size_t>(o)] == 0) values[static_cast<std::size_t>(o)] = {};
    }
    std::vector<Tensor<D>> results;
    for (auto v : f.results) results.push_back(values[static_cast<std::size_t>(v)]);
    return results;
  }

  Tensor<D> from(const ir::Literal& l) const {
    Tensor<D> t{l.type(), {}};
    t.elements.reserve(static_cast<std::size_t>(l.elements()));
    for (std::int64_t i = 0; i < l.elements(); ++i) t.elements.push_back(d_.from(l.dtype(), load(l.dtype(), l.raw(), i)));
    return t;
  }

 private:
  using In = std::vector<const Tensor<D>*>;

  std::vector<Tensor<D>> node(const ir::Function& f, const ir::Node& n, const In& in, int number) {
    if (ir::is_composite(n.op)) return composite(f, n, in);
    if (ir::row(n.op).op_class == OpClass::control) return control(f, n, in);
    if (ir::row(n.op).op_class == OpClass::library) return library(f, n, in);
    return {primitive(f, n, in, f.type(n.results[0]), number)};
  }

  /// LAPACK's answer; every answer that passes the oracle's residuals is legal, but no interval says which these are.
  std::vector<Tensor<D>> library(const ir::Function& f, const ir::Node& n, const In& in) {
    if constexpr (std::is_same_v<D, Rounded>) {
      std::vector<ir::Literal> operands;
      for (const auto* x : in) operands.push_back(to_literal(*x));
      std::vector<ir::Type> types;
      for (auto v : n.results) types.push_back(f.type(v));
      std::vector<Tensor<D>> out;
      for (const auto& l : linalg::run_library(ir::name(n), n.attrs, operands, types)) out.push_back(from(l));
      return out;
    } else {
      fail_unsupported(std::string(ir::name(n)) + " is judged by its residuals and has no enclosure", n.where);
    }
  }

  Tensor<D> primitive(const ir::Function& f, const ir::Node& n, const In& in, const ir::Type& out, int number) {
    const auto how = [&](std::int64_t height) { return accumulation_of(f, n, number, height, options_.declared); };
    switch (ir::row(n.op).op_class) {
      case OpClass::elementwise: return elementwise(d_, n, in, out);
      case OpClass::convert: return map(out, [&](std::size_t i) { return converted(d_, n, in[0]->elements[i], in[0]->type.dtype, out.dtype); });
      case OpClass::select: return map(out, [&](std::size_t i) { return d_.select(in[0]->elements[i], in[1]->elements[i], in[2]->elements[i], out.dtype); });
      case OpClass::source: return source(n, out);
      case OpClass::view: return view<D>(n, in, out);
      case OpClass::gather: return gather(d_, n, *in[0], *in[1], out);
      case OpClass::scatter: return scatter(d_, n, in, out);
      case OpClass::reduce: return reduce(d_, n, *in[0], out, how(reduce_height(in[0]->type.elements() / std::max<std::int64_t>(1, out.elements()))));
      case OpClass::arg_reduce: return arg_reduce<D>(n, *in[0], out);
      case OpClass::window: return window(d_, n, *in[0], out, how(reduce_height(element_count(n.attrs.ints("window")))));
      case OpClass::scan:
        return along<D>(*in[0], static_cast<std::size_t>(n.attrs.integer("axis")), out, [&](auto& line) {
          const bool reverse = n.attrs.flag("reverse");
          if (reverse) std::reverse(line.begin(), line.end());
          d_.scan(ir::row(n.op).fn, out.dtype, line, n.attrs.flag("exclusive"));
          if (reverse) std::reverse(line.begin(), line.end());
        });
      case OpClass::sort:
        return along<D>(*in[0], static_cast<std::size_t>(n.attrs.integer("axis")), out, [&](auto& line) {
          const auto order = stable_order(std::span<const typename D::Value>(line), in[0]->type.dtype, n.attrs.flag("descending"));
          auto sorted = line;
          for (std::size_t k = 0; k < order.size(); ++k) sorted[k] = ir::name(n) == "argsort" ? d_.from(DType::i64, {.i = order[k]}) : line[static_cast<std::size_t>(order[k])];
          line = std::move(sorted);
        });
      case OpClass::contract: return contract(d_, n, *in[0], *in[1], out, how(dot_height(terms(n, *in[0], *in[1]))));
      default: fail_internal("no meaning for " + std::string(ir::name(n)));
    }
  }

  static std::int64_t terms(const ir::Node& n, const Tensor<D>& x, const Tensor<D>& w) {
    if (ir::name(n) == "convolution") return w.type.elements() / std::max<std::int64_t>(1, w.type.shape[0].size());
    std::int64_t k = 1;
    for (auto d : n.attrs.ints("lhs_contract")) k *= x.type.shape[static_cast<std::size_t>(d)].size();
    return k;
  }

  template <class F> static Tensor<D> map(const ir::Type& out, F f) {
    Tensor<D> r{out, std::vector<typename D::Value>(static_cast<std::size_t>(out.elements()))};
    for (std::size_t i = 0; i < r.elements.size(); ++i) r.elements[i] = f(i);
    return r;
  }

  Tensor<D> source(const ir::Node& n, const ir::Type& out) const {
    if (ir::name(n) == "constant") return from(n.attrs.get<ir::Literal>("value"));
    Tensor<D> r{out, {}};
    const auto axis = static_cast<std::size_t>(n.attrs.integer("axis"));
    for_each_index(out.extents(), [&](std::int64_t, const Index& i) { r.elements.push_back(d_.from(out.dtype, convert({.i = i[axis]}, DType::i64, out.dtype))); });
    return r;
  }

  /// A composite means its decomposition.
  std::vector<Tensor<D>> composite(const ir::Function& f, const ir::Node& n, const In& in) {
    ir::Function body;
    ir::Builder b(body);
    b.at(n.where);
    std::vector<ValueId> params;
    std::vector<Tensor<D>> inputs;
    for (std::size_t k = 0; k < in.size(); ++k) {
      params.push_back(b.param(f.type(n.operands[k])));
      inputs.push_back(*in[k]);
    }
    b.results(ir::decompose(n.op, b, params, n.attrs));
    return function(body, std::move(inputs), false);
  }

  std::vector<Tensor<D>> scan(const ir::Function& f, const ir::Node& n, const In& in) {
    const auto carries = static_cast<std::size_t>(n.attrs.integer("carries"));
    const auto steps = in.back()->type.shape[0].size();
    std::vector<Tensor<D>> state, results;
    for (std::size_t k = 0; k < carries; ++k) state.push_back(*in[k]);
    for (std::size_t k = carries; k < n.results.size(); ++k) {
      const auto& type = f.type(n.results[k]);
      results.push_back({type, std::vector<typename D::Value>(static_cast<std::size_t>(type.elements()))});
    }
    for (std::int64_t i = 0; i < steps; ++i) {
      const auto at = n.attrs.flag("reverse") ? steps - 1 - i : i;
      for (std::size_t k = carries; k < in.size(); ++k) {
        const auto& all = in[k]->type;
        Tensor<D> slice{{all.dtype, {all.shape.begin() + 1, all.shape.end()}}, {}};
        const auto from = in[k]->elements.begin() + at * slice.type.elements();
        slice.elements.assign(from, from + slice.type.elements());
        state.push_back(std::move(slice));
      }
      state = function(*m_.find(n.attrs.get<std::string>("body")), std::move(state), false);
      for (std::size_t k = 0; k < results.size(); ++k) std::ranges::copy(state[carries + k].elements, results[k].elements.begin() + at * state[carries + k].type.elements());
      state.resize(carries);
    }
    std::ranges::move(results, std::back_inserter(state));
    return state;
  }

  std::vector<Tensor<D>> control(const ir::Function& f, const ir::Node& n, const In& in) {
    auto copy = [&](std::size_t from) {
      std::vector<Tensor<D>> v;
      for (std::size_t k = from; k < in.size(); ++k) v.push_back(*in[k]);
      return v;
    };
    auto holds = [&](const Tensor<D>& c) {
      if (!d_.decided(c.elements[0], DType::boolean)) fail_unsupported("the condition of " + std::string(ir::name(n)) + " hangs on an undecided comparison", n.where);
      return d_.pick(c.elements[0]).u != 0;
    };
    auto call = [&](const char* which, std::vector<Tensor<D>> v) { return function(*m_.find(n.attrs.get<std::string>(which)), std::move(v), false); };
    if (ir::name(n) == "if") return call(holds(*in[0]) ? "then" : "else", copy(1));
    if (ir::name(n) == "scan") return scan(f, n, in);
    auto state = copy(0);
    while (holds(call("cond", state)[0])) state = call("body", std::move(state));
    return state;
  }

  const D& d_;
  const ir::Module& m_;
  const EnclosureOptions& options_;
};

void check_inputs(const ir::Function& f, std::span<const ir::Literal> inputs) {
  if (inputs.size() != f.params.size()) fail_input("@" + f.name + " takes " + std::to_string(f.params.size()) + " inputs, not " + std::to_string(inputs.size()));
  for (std::size_t k = 0; k < inputs.size(); ++k)
    if (inputs[k].type() != f.type(f.params[k])) fail_input("input %" + f.value(f.params[k]).name + " is " + inputs[k].type().str() + ", the program takes " + f.type(f.params[k]).str());
}

template <class D> std::vector<Tensor<D>> run_module(const D& d, const ir::Module& m, std::span<const ir::Literal> inputs, const EnclosureOptions& options) {
  Run<D> run(d, m, options);
  std::vector<Tensor<D>> in;
  for (const auto& l : inputs) in.push_back(run.from(l));
  return run.function(m.entry(), std::move(in), true);
}

/// What is run: the program and its inputs, with loops written out and complex numbers as their parts.
struct OnParts {
  OnParts(const ir::Module& given, std::span<const ir::Literal> given_inputs) : whole(given) {
    check_inputs(given.entry(), given_inputs);
    ir::check_call_depth(given);
    if (ir::has_loops(given)) split = ir::expand_loops(given);
    if (ir::has_complex(given)) split = ir::split_complex(module());
    for (const auto& l : given_inputs) inputs.push_back(l.as_parts());
  }
  const ir::Module& module() const { return split ? *split : whole; }
  const ir::Module& whole;
  std::optional<ir::Module> split;
  std::vector<ir::Literal> inputs;
};

}  // namespace

namespace {

/// Element by element. Unsupported where an operation has no meaning so, as control flow has none, and where that would take
/// more than some seconds.
std::vector<Tensor<Rounded>> run_on_demand(const ir::Function& entry, std::span<const ir::Literal> inputs) {
  constexpr std::int64_t most_steps = std::int64_t{1} << 24;
  const auto f = in_primitives(entry);
  Demand<Rounded> demand({}, f, inputs);
  std::vector<Tensor<Rounded>> results;
  for (auto v : f.results) {
    const auto& type = f.type(v);
    if (type.elements() > most_steps / demand.fan_out()) fail_unsupported("too many steps, element by element");
    Places all(static_cast<std::size_t>(type.elements()));
    std::iota(all.begin(), all.end(), 0);
    results.push_back({type, demand.at(v, all)});
  }
  return results;
}

/// Dense evaluation meets errors of elements too that no element of a result needs; on demand only those count.
std::vector<Tensor<Rounded>> run_needed(const ir::Module& m, std::span<const ir::Literal> inputs) {
  std::exception_ptr met;
  try {
    return run_module(Rounded{}, m, inputs, {});
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::input) throw;
    met = std::current_exception();
  }
  try {
    return run_on_demand(m.entry(), inputs);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::unsupported) throw;
    std::rethrow_exception(met);
  }
}

}  // namespace

std::vector<ir::Literal> evaluate(const ir::Module& m, std::span<const ir::Literal> inputs) {
  std::vector<ir::Literal> out;
  const OnParts p(m, inputs);
  for (const auto& t : run_needed(p.module(), p.inputs)) out.push_back(to_literal(t).viewed_as(m.entry().type(m.entry().results[out.size()])));
  return out;
}

std::vector<EnclosedTensor> evaluate_enclosure(const ir::Module& m, std::span<const ir::Literal> inputs, const EnclosureOptions& options) {
  const OnParts p(m, inputs);
  return run_module(Enclosure{options.allow}, p.module(), p.inputs, options);
}

}  // namespace plumb::interp
