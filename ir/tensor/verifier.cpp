// Invariants of a module:
//   M1  there is a function; functions' names are distinct and not empty.
//   G1  every value id that a function holds lies in its table of values.
//   G2  a value has one definition: one parameter, or one result of the node that its record names.
//   G3  an operand is a parameter or a result of an earlier node; so is a result of the function.
//   O1  the operation exists; its attributes are complete, known and of their kinds, in the record's order.
//   O2  its result types are those inferred from its operands and attributes.
//   F1  the functions that if, while and scan name exist.
//   F2  if: condition bool[]; then and else take the other operands' types and give the results' types.
//   F3  while: cond takes the operands' types and gives bool[]; body takes and gives them.
//   F5  scan: body takes the carried operands' types and those of slices of the scanned ones; it gives the carried types again,
//       and the types of slices of the further results.
//   F4  no function calls itself, directly or through others.
// Names of values are free: printing makes them unique.
#include "ir/tensor/verifier.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/tensor/op_table.h"
#include "ir/tensor/ops/control.h"

namespace plumb::ir {
namespace {

OpCode if_op() {
  static const OpCode code = op("if");
  return code;
}
OpCode while_op() {
  static const OpCode code = op("while");
  return code;
}

OpCode scan_op() {
  static const OpCode code = op("scan");
  return code;
}

std::string list(std::span<const Type> types) {
  std::string s;
  for (std::size_t i = 0; i < types.size() && i < 12; ++i) s += (i ? ", " : "") + types[i].str();
  return "(" + s + (types.size() > 12 ? ", … (" + std::to_string(types.size()) + " in all))" : ")");
}

std::vector<Type> types_of(const Function& f, std::span<const ValueId> values) {
  std::vector<Type> types;
  for (auto v : values) types.push_back(f.type(v));
  return types;
}

/// Graph faults have no user to blame.
void check_graph(const Function& f) {
  auto broken = [&](const std::string& what) { fail_internal("verifier: @" + f.name + ": " + what); };
  const auto count = static_cast<ValueId>(f.values.size());
  auto in_table = [&](ValueId v) {
    if (v < 0 || v >= count) broken("G1: value id " + std::to_string(v) + " lies outside the table of " + std::to_string(count) + " values");
  };
  std::vector<char> defined(f.values.size(), 0);
  auto define = [&](ValueId v, std::int32_t node) {
    in_table(v);
    const auto& value = f.value(v);
    if (defined[static_cast<std::size_t>(v)]++) broken("G2: %" + value.name + " is defined twice");
    if (value.node != node) broken("G2: %" + value.name + " names node " + std::to_string(value.node) + " as its definition, but is defined by " + std::to_string(node));
  };
  auto use = [&](ValueId v, const std::string& user) {
    in_table(v);
    if (!defined[static_cast<std::size_t>(v)]) broken("G3: " + user + " uses %" + f.value(v).name + " before its definition");
  };
  for (auto v : f.params) define(v, -1);
  for (std::size_t i = 0; i < f.nodes.size(); ++i) {
    const auto& n = f.nodes[i];
    if (n.op >= op_count()) broken("O1: node " + std::to_string(i) + " has the operation number " + std::to_string(n.op) + ", which does not exist");
    for (auto v : n.operands) use(v, "node " + std::to_string(i) + " (" + std::string(name(n)) + ")");
    for (auto v : n.results) define(v, static_cast<std::int32_t>(i));
  }
  for (auto v : f.results) use(v, "return");
  for (std::size_t v = 0; v < defined.size(); ++v)
    if (!defined[v]) broken("G2: %" + f.values[v].name + " has no definition");
}

[[noreturn]] void fail_node(const Function& f, const Node& n, const std::string& why, ErrorKind blame) {
  throw Error(blame, "@" + f.name + ": " + std::string(name(n)) + list(types_of(f, n.operands)) + ": " + why, n.where);
}

void check_node(const Function& f, const Node& n, ErrorKind blame) {
  AttrMap attrs = n.attrs;
  if (auto wrong = complete_attrs(n.op, attrs)) fail_node(f, n, "O1: " + *wrong, blame);
  const auto specs = attr_specs(n.op);
  const auto& entries = n.attrs.entries();
  if (entries.size() != specs.size()) fail_node(f, n, "O1: attributes are not complete: defaults must be filled in", blame);
  for (std::size_t i = 0; i < specs.size(); ++i)
    if (entries[i].first != specs[i].name) fail_node(f, n, "O1: attributes are not in the record's order: '" + entries[i].first + "' stands where '" + std::string(specs[i].name) + "' should", blame);
  if (takes_types_from_functions(n.op)) return;
  Inferred inferred;
  try {
    inferred = infer(n.op, types_of(f, n.operands), n.attrs);
  } catch (const Error& e) {
    fail_node(f, n, std::string("O2: ") + e.what(), e.kind() == ErrorKind::input ? blame : e.kind());
  }
  if (const auto* why = std::get_if<std::string>(&inferred)) fail_node(f, n, "O2: " + *why, blame);
  const auto& types = std::get<std::vector<Type>>(inferred);
  if (types != types_of(f, n.results)) fail_node(f, n, "O2: gives " + list(types) + ", but its results are typed " + list(types_of(f, n.results)), blame);
}

class Calls {
 public:
  Calls(const Module& m, ErrorKind blame) : m_(m), blame_(blame) {
    for (std::size_t i = 0; i < m.functions.size(); ++i) index_.emplace(m.functions[i].name, i);
    callees_.resize(m.functions.size());
  }

  void check() {
    for (std::size_t i = 0; i < m_.functions.size(); ++i)
      for (const auto& n : m_.functions[i].nodes) {
        if (n.op == if_op()) check_if(i, n);
        if (n.op == while_op()) check_while(i, n);
        if (n.op == scan_op()) check_scan(i, n);
      }
    check_cycles();
  }

  /// The longest chain of functions that name one another; check has passed.
  std::size_t depth() const {
    std::vector<std::size_t> below(m_.functions.size(), 0);  // of each function, once those it names are known
    for (auto f : bottom_up_)
      for (const auto& call : callees_[f]) below[f] = std::max(below[f], below[call.function] + 1);
    return below.empty() ? 0 : std::ranges::max(below);
  }

 private:
  struct Call {
    std::size_t function;
    const Node* node;
  };

  const Function& callee(std::size_t caller, const Node& n, std::string_view attr) {
    const auto& called = n.attrs.get<std::string>(attr);
    const auto it = index_.find(called);
    if (it == index_.end()) fail_node(m_.functions[caller], n, "F1: " + std::string(attr) + " names @" + called + ", which the module does not have", blame_);
    callees_[caller].push_back({it->second, &n});
    return m_.functions[it->second];
  }

  void check_signature(const Function& f, const Node& n, const Function& g, const char* label, std::span<const Type> in, std::span<const Type> out) {
    const auto takes = types_of(g, g.params), gives = types_of(g, g.results);
    if (!std::ranges::equal(takes, in) || !std::ranges::equal(gives, out))
      fail_node(f, n, std::string(label) + ": @" + g.name + " must be " + list(in) + " -> " + list(out) + ", but is " + list(takes) + " -> " + list(gives), blame_);
  }

  void check_if(std::size_t caller, const Node& n) {
    const auto& f = m_.functions[caller];
    const auto in = types_of(f, n.operands), out = types_of(f, n.results);
    if (in.empty() || in[0] != Type{DType::boolean, {}}) fail_node(f, n, "F2: the first operand is the condition, a bool[]", blame_);
    for (const char* branch : {"then", "else"}) check_signature(f, n, callee(caller, n, branch), "F2", std::span(in).subspan(1), out);
  }

  void check_while(std::size_t caller, const Node& n) {
    const auto& f = m_.functions[caller];
    const auto types = types_of(f, n.operands);
    const Type flag[] = {{DType::boolean, {}}};
    check_signature(f, n, callee(caller, n, "cond"), "F3", types, flag);
    check_signature(f, n, callee(caller, n, "body"), "F3", types, types);
  }

  void check_scan(std::size_t caller, const Node& n) {
    const auto& f = m_.functions[caller];
    const auto in = types_of(f, n.operands), out = types_of(f, n.results);
    if (auto why = ops::ScanLoop::check_scan(in, n.attrs); !why.empty()) fail_node(f, n, "F5: " + why, blame_);
    const auto carries = static_cast<std::size_t>(n.attrs.integer("carries"));
    if (out.size() < carries) fail_node(f, n, "F5: has fewer results than carried values", blame_);
    const auto slices = [&](std::vector<Type> types) {
      for (auto& t : std::span(types).subspan(carries)) {
        if (t.rank() == 0 || t.shape[0] != in.back().shape[0]) fail_node(f, n, "F5: result " + t.str() + " has no axis 0 of the scanned operands' size", blame_);
        t.shape = Shape(t.shape.begin() + 1, t.shape.end());
      }
      return types;
    };
    check_signature(f, n, callee(caller, n, "body"), "F5", slices(in), slices(out));
  }

  /// Takes away functions that call none of those left; what remains calls in circles.
  void check_cycles() {
    const auto count = m_.functions.size();
    std::vector<std::size_t> open(count);
    std::vector<std::vector<std::size_t>> callers(count);
    for (std::size_t i = 0; i < count; ++i) {
      open[i] = callees_[i].size();
      for (const auto& [g, node] : callees_[i]) callers[g].push_back(i);
      if (open[i] == 0) bottom_up_.push_back(i);
    }
    std::size_t done = 0;
    for (; done < bottom_up_.size(); ++done)
      for (auto i : callers[bottom_up_[done]])
        if (--open[i] == 0) bottom_up_.push_back(i);
    if (done == count) return;
    // From any function left, walking on to one left comes round at last.
    std::size_t at = 0;
    while (!open[at]) ++at;
    std::vector<char> seen(count, 0);
    for (;;) {
      seen[at] = 1;
      const auto call = std::ranges::find_if(callees_[at], [&](const Call& c) { return open[c.function] != 0; });
      if (seen[call->function]) fail_node(m_.functions[at], *call->node, "F4: @" + m_.functions[call->function].name + " is called in a circle; loops are while", blame_);
      at = call->function;
    }
  }

  const Module& m_;
  ErrorKind blame_;
  std::unordered_map<std::string_view, std::size_t> index_;
  std::vector<std::vector<Call>> callees_;
  std::vector<std::size_t> bottom_up_;   ///< functions after those they name
};

constexpr std::size_t most_depth = 256;

}  // namespace

bool takes_types_from_functions(OpCode code) { return code == if_op() || code == scan_op(); }

void verify_calls(const Module& m, ErrorKind blame) { Calls(m, blame).check(); }

void check_call_depth(const Module& m) {
  Calls calls(m, ErrorKind::internal);
  calls.check();
  if (const auto depth = calls.depth(); depth > most_depth) fail_unsupported("functions name each other " + std::to_string(depth) + " deep; up to " + std::to_string(most_depth) + " are supported");
}

void verify(const Module& m, ErrorKind blame) {
  if (m.functions.empty()) throw Error(blame, "M1: the module has no function");
  std::unordered_set<std::string_view> names;
  for (const auto& f : m.functions)
    if (f.name.empty() || !names.insert(f.name).second) throw Error(blame, f.name.empty() ? "M1: a function has no name" : "M1: two functions are called @" + f.name);
  for (const auto& f : m.functions) {
    check_graph(f);
    for (const auto& n : f.nodes) check_node(f, n, blame);
  }
  verify_calls(m, blame);
}

}  // namespace plumb::ir
