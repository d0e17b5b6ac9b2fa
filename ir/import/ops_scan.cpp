// Scan: the operation scan where the body is one function for all steps, else unrolled; the operands' sizes give the number of steps.
#include <algorithm>
#include <optional>

#include "ir/import/families.h"
#include "ir/tensor/op_table.h"

namespace plumb::ir::onnx_import {
namespace {

constexpr std::int64_t most_steps = 1024;

/// A scanned operand or output: the axis that the steps run along, and from which end.
struct Track {
  std::int64_t axis;
  bool backward;
};
struct Parts {
  std::size_t states, inputs, outputs;
  std::vector<std::string> names;  ///< of the body's inputs
  std::vector<Track> in, out;
};

std::vector<Track> tracks(NodeImport& n, const char* axes, const char* directions, std::size_t count) {
  const auto of = [&](const char* name) {
    auto list = n.int_list(name);
    if (list && list->size() != count) n.fail(std::string(name) + " has " + std::to_string(list->size()) + " entries, not " + std::to_string(count));
    return list ? *list : Ints(count, 0);
  };
  const Ints a = axes ? of(axes) : Ints(count, 0), d = of(directions);
  std::vector<Track> r;
  for (std::size_t k = 0; k < count; ++k) {
    if (d[k] != 0 && d[k] != 1) n.fail(std::string(directions) + " has entry " + std::to_string(d[k]));
    r.push_back({a[k], d[k] == 1});
  }
  return r;
}

/// `first` is the node's first operand beside sequence_lens.
Parts parts_of(NodeImport& n, std::size_t first) {
  Parts p{};
  const auto scanned = n.integer("num_scan_inputs"), operands = static_cast<std::int64_t>(n.input_count() - first);
  if (scanned < 1 || scanned > operands) n.fail("num_scan_inputs is " + std::to_string(scanned) + " for " + std::to_string(operands) + " operands");
  p.inputs = static_cast<std::size_t>(scanned);
  p.states = static_cast<std::size_t>(operands - scanned);
  p.names = n.subgraph_inputs("body");
  if (p.names.size() != p.states + p.inputs) n.fail("the body takes " + std::to_string(p.names.size()) + " values, not " + std::to_string(p.states + p.inputs));
  if (n.output_count() < p.states) n.fail("has fewer outputs than states");
  p.outputs = n.output_count() - p.states;
  return p;
}

/// x without the axis, at one position of it.
ValueId part_of(NodeImport& n, ValueId x, std::size_t axis, std::int64_t at) {
  Shape s;
  for (std::size_t d = 0; d < n.rank(x); ++d)
    if (d != axis) s.push_back(n.extents(x)[d]);
  return n.b.reshape(n.slice(x, axis, at, at + 1), s);
}
/// The parts one after another along a new axis.
ValueId stacked(NodeImport& n, std::vector<ValueId> parts, const Track& t) {
  if (t.backward) std::reverse(parts.begin(), parts.end());
  const auto axis = n.axis(t.axis, n.rank(parts[0]) + 1);
  for (auto& v : parts) {
    const Extents e = n.extents(v);
    Shape s(e.begin(), e.begin() + axis);
    s.push_back(1);
    for (auto d = static_cast<std::size_t>(axis); d < e.size(); ++d) s.push_back(e[d]);
    v = n.b.reshape(v, s);
  }
  return n.concat(parts, axis);
}

/// x with one of its axes brought to another place, the others in order.
ValueId moved(NodeImport& n, ValueId x, std::size_t from, std::size_t to) {
  Ints perm;
  for (std::size_t d = 0; d < n.rank(x); ++d)
    if (d != from) perm.push_back(static_cast<std::int64_t>(d));
  perm.insert(perm.begin() + static_cast<std::ptrdiff_t>(to), static_cast<std::int64_t>(from));
  return from == to ? x : n.b.transpose(x, perm);
}
std::size_t axis_of(NodeImport& n, const Track& t, std::size_t rank) { return static_cast<std::size_t>(n.axis(t.axis, rank)); }

std::int64_t steps_of(NodeImport& n, const Parts& p, std::span<const ValueId> operands) {
  std::int64_t steps = -1;
  for (std::size_t k = 0; k < p.inputs; ++k) {
    const auto x = operands[p.states + k];
    const auto size = n.extents(x)[static_cast<std::size_t>(n.axis(p.in[k].axis, n.rank(x)))];
    if (steps >= 0 && size != steps) n.fail("scanned operands have " + std::to_string(steps) + " and " + std::to_string(size) + " steps");
    steps = size;
  }
  return steps;
}

/// The body as a function of states, captures (both carried) and slices: its results, and what it captures.
struct Body {
  Function function;
  std::vector<Type> results;
  std::vector<ValueId> captures;
};
/// None where no one function is right for all steps: where the states change their types, where a size hangs on a value that
/// only a step knows, and where random numbers are drawn, which are others in each step (the importer refuses them in a function).
std::optional<Body> body_of(NodeImport& n, const Parts& p, std::span<const ValueId> operands) {
  FunctionBuild fn(n.importer.fresh_name("scan_body"), &n.scope.fn);
  fn.b.at(n.where);
  Scope scope{fn, &n.scope, n.scope.opsets, n.scope.caller, n.scope.defaults, {}, {}};
  std::vector<ValueId> params;
  for (std::size_t k = 0; k < p.names.size(); ++k) {
    Type t = n.type(operands[k]);
    if (k >= p.states) {
      const auto axis = axis_of(n, p.in[k - p.states], t.rank());
      Shape s;
      for (std::size_t d = 0; d < t.rank(); ++d)
        if (d != axis) s.push_back(t.shape[d]);
      t.shape = s;
    }
    params.push_back(fn.b.param(t));
    n.importer.bind(scope, p.names[k], params[k], n.where);
  }
  std::vector<ValueId> r;
  try {
    r = n.importer.graph(n.subgraph("body"), scope);
  } catch (const Error&) {
    return std::nullopt;  // unrolling says the same, unless knowing a step's values spares it
  }
  if (r.size() != p.states + p.outputs) return std::nullopt;
  for (std::size_t k = 0; k < r.size(); ++k)
    if (fn.padded.contains(r[k]) || (k < p.states && fn.b.type(r[k]) != n.type(operands[k]))) return std::nullopt;
  Body body{{}, {}, fn.captures};
  std::vector<ValueId> inner;
  for (auto v : fn.captures) inner.push_back(fn.inner_of.at(v));
  params.insert(params.begin() + static_cast<std::ptrdiff_t>(p.states), inner.begin(), inner.end());
  r.insert(r.begin() + static_cast<std::ptrdiff_t>(p.states), inner.begin(), inner.end());
  for (auto v : r) body.results.push_back(fn.b.type(v));
  fn.function.params = params;
  body.function = tidy(fn, r);
  return body;
}

/// States, then stacked outputs: of the operation, whose axis is the first. It runs backwards where all tracks do; else those
/// that do are turned around.
std::vector<ValueId> as_operation(NodeImport& n, const Parts& p, std::span<const ValueId> operands, std::int64_t steps, Body body) {
  const auto is_backward = [](const Track& t) { return t.backward; };
  const bool reverse = std::ranges::all_of(p.in, is_backward) && std::ranges::all_of(p.out, is_backward);
  const auto turned = [&](ValueId v, const Track& t) { return t.backward && !reverse ? n.reverse(v, {0}) : v; };
  std::vector<ValueId> in(operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(p.states));
  in.insert(in.end(), body.captures.begin(), body.captures.end());
  const auto carries = in.size();
  for (std::size_t k = 0; k < p.inputs; ++k) {
    const auto x = operands[p.states + k];
    in.push_back(turned(moved(n, x, axis_of(n, p.in[k], n.rank(x)), 0), p.in[k]));
  }
  for (auto t = body.results.begin() + static_cast<std::ptrdiff_t>(carries); t != body.results.end(); ++t) {
    Shape s{steps};
    for (const auto& d : t->shape) s.push_back(d);
    t->shape = s;
  }
  const auto all = n.b.add_typed(op("scan"), in, attrs({{"body", body.function.name}, {"carries", static_cast<std::int64_t>(carries)}, {"reverse", reverse}}), body.results);
  n.importer.keep(std::move(body.function));
  std::vector<ValueId> results(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(p.states));
  for (std::size_t k = 0; k < p.outputs; ++k) {
    const auto y = turned(all[carries + k], p.out[k]);
    results.push_back(moved(n, y, 0, axis_of(n, p.out[k], n.rank(y))));
  }
  return results;
}

std::vector<ValueId> unrolled(NodeImport& n, const Parts& p, std::span<const ValueId> operands, std::int64_t steps) {
  if (steps > most_steps) n.unsupported(std::to_string(steps) + " steps of a body that is not the same function in each");
  if (steps == 0 && p.outputs > 0) n.unsupported("a scan output of no step, whose shape is not known");
  std::vector<ValueId> values(operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(p.states));
  std::vector<std::vector<ValueId>> outputs(p.outputs);
  for (std::int64_t i = 0; i < steps; ++i) {
    Scope scope{n.scope.fn, &n.scope, n.scope.opsets, n.scope.caller, n.scope.defaults, {}, {}};
    for (std::size_t k = 0; k < p.states; ++k) n.importer.bind(scope, p.names[k], values[k], n.where);
    for (std::size_t k = 0; k < p.inputs; ++k) {
      const auto x = operands[p.states + k];
      const auto axis = static_cast<std::size_t>(n.axis(p.in[k].axis, n.rank(x)));
      n.importer.bind(scope, p.names[p.states + k], part_of(n, x, axis, p.in[k].backward ? steps - 1 - i : i), n.where);
    }
    const auto r = n.importer.graph(n.subgraph("body"), scope);
    if (r.size() != p.states + p.outputs) n.fail("the body gives " + std::to_string(r.size()) + " values, not " + std::to_string(p.states + p.outputs));
    values.assign(r.begin(), r.begin() + static_cast<std::ptrdiff_t>(p.states));
    for (std::size_t k = 0; k < p.outputs; ++k) outputs[k].push_back(r[p.states + k]);
  }
  for (std::size_t k = 0; k < p.outputs; ++k) values.push_back(stacked(n, outputs[k], p.out[k]));
  return values;
}

/// States, then stacked outputs. One step is its body, and what is known stays known where each step is computed.
std::vector<ValueId> scan_once(NodeImport& n, const Parts& p, std::span<const ValueId> operands) {
  const auto steps = steps_of(n, p, operands);
  const bool known = std::ranges::all_of(operands, [&](ValueId v) { return n.known(v) != nullptr; });
  if (steps != 1 && (!known || steps > most_steps))
    if (auto body = body_of(n, p, operands)) return as_operation(n, p, operands, steps, std::move(*body));
  return unrolled(n, p, operands, steps);
}

/// Opset 8: every operand has a batch axis first, and each image is scanned by itself.
void batched_scan(NodeImport& n) {
  if (n.has(0)) n.unsupported("sequence_lens");
  Parts p = parts_of(n, 1);
  p.in = tracks(n, nullptr, "directions", p.inputs);
  p.out.assign(p.outputs, {0, false});
  for (std::size_t k = 1; k < n.input_count(); ++k)
    if (n.rank(n.in(k)) == 0) n.fail("operand " + std::to_string(k) + " has no batch axis");
  const auto batch = n.extents(n.in(1))[0];
  if (batch == 0 || batch > most_steps) n.unsupported("a batch of " + std::to_string(batch));
  std::vector<std::vector<ValueId>> results(n.output_count());
  for (std::int64_t i = 0; i < batch; ++i) {
    std::vector<ValueId> operands;
    for (std::size_t k = 1; k < n.input_count(); ++k) {
      if (n.extents(n.in(k))[0] != batch) n.fail("operands have batches of " + std::to_string(batch) + " and " + std::to_string(n.extents(n.in(k))[0]));
      operands.push_back(part_of(n, n.in(k), 0, i));
    }
    const auto r = scan_once(n, p, operands);
    for (std::size_t k = 0; k < r.size(); ++k) results[k].push_back(r[k]);
  }
  for (std::size_t k = 0; k < results.size(); ++k) n.out(k, stacked(n, results[k], {0, false}));
}

void scan(NodeImport& n) {
  if (n.opset < 9) return batched_scan(n);
  Parts p = parts_of(n, 0);
  p.in = tracks(n, "scan_input_axes", "scan_input_directions", p.inputs);
  p.out = tracks(n, "scan_output_axes", "scan_output_directions", p.outputs);
  const auto operands = n.all();
  const auto results = scan_once(n, p, operands);
  for (std::size_t k = 0; k < results.size(); ++k) n.out(k, results[k]);
}

constexpr OpEntry entries[] = {{"Scan", 1, any_number, scan}};
}  // namespace
std::span<const OpEntry> scan_family() { return entries; }
}  // namespace plumb::ir::onnx_import
