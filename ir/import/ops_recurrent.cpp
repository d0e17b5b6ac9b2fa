// LSTM, GRU and RNN, unrolled over the sequence. The product of all inputs with the input weights is one operation;
// each step adds the product of the last state with the recurrent weights.
#include "ir/import/families.h"

namespace plumb::ir::onnx_import {
namespace {

constexpr std::int64_t longest_sequence = 20'000;

struct Cell {
  std::int64_t gates;
  std::vector<std::string> defaults;  ///< activations of one direction
};
/// What all directions share.
struct Net {
  Cell cell;
  std::int64_t steps, batch, size, directions;
  ValueId x;        ///< [steps, batch, input]
  ValueId lengths;  ///< [batch], -1: all sequences are whole
  double clip;      ///< 0: none
};
/// Weights of one direction.
struct Direction {
  std::size_t index;
  bool backwards;
  ValueId w, r;                 ///< [gates*size, input], [gates*size, size]
  ValueId wb, rb;               ///< [gates*size] or -1
  ValueId peepholes;            ///< [3*size] or -1
  std::vector<std::string> activations;
};
struct State {
  ValueId h, c;  ///< [batch, size]
};

/// Entry d of the leading axis.
ValueId entry(NodeImport& n, ValueId x, std::size_t d) {
  const Shape s = n.type(x).shape;
  const auto k = static_cast<std::int64_t>(d);
  return n.b.reshape(n.slice(x, 0, k, k + 1), Shape(s.begin() + 1, s.end()));
}
ValueId part(NodeImport& n, ValueId x, std::size_t axis, std::int64_t k, std::int64_t size) { return n.slice(x, axis, k * size, (k + 1) * size); }
ValueId add(NodeImport& n, ValueId x, ValueId y) { return y < 0 ? x : n.binary("add", x, y); }
ValueId mul(NodeImport& n, ValueId x, ValueId y) { return n.binary("mul", x, y); }
/// x · w^T over the last axes.
ValueId times(NodeImport& n, ValueId x, ValueId w) {
  return n.b.op("dot_general", {x, w}, attrs({{"lhs_contract", Ints{static_cast<std::int64_t>(n.rank(x)) - 1}}, {"rhs_contract", Ints{1}}}));
}

ValueId activate(NodeImport& n, const Net& net, const std::string& name, ValueId x) {
  if (net.clip > 0) x = n.b.op("clamp", {x, n.b.splat_like(x, -net.clip), n.b.splat_like(x, net.clip)});
  if (name == "Sigmoid") return n.unary("sigmoid", x);
  if (name == "Tanh") return n.unary("tanh", x);
  if (name == "Relu") return n.unary("relu", x);
  n.unsupported("activation '" + name + "'");
}

State lstm_step(NodeImport& n, const Net& net, const Direction& d, ValueId input, State s) {
  const auto all = n.b.op("add", {input, times(n, s.h, d.r)});
  const auto gate = [&](std::int64_t k) { return part(n, all, 1, k, net.size); };
  const auto peep = [&](ValueId x, std::int64_t k, ValueId c) { return d.peepholes < 0 ? x : add(n, x, mul(n, part(n, d.peepholes, 0, k, net.size), c)); };
  const auto i = activate(n, net, d.activations[0], peep(gate(0), 0, s.c));
  const auto f = n.integer("input_forget", 0) != 0 ? n.b.op("sub", {n.b.splat_like(i, 1), i}) : activate(n, net, d.activations[0], peep(gate(2), 2, s.c));
  const auto candidate = activate(n, net, d.activations[1], gate(3));
  const auto c = add(n, mul(n, f, s.c), mul(n, i, candidate));
  const auto o = activate(n, net, d.activations[0], peep(gate(1), 1, c));
  // The cell's last activation is not clipped: clip bounds the inputs of gates only.
  Net unclipped = net;
  unclipped.clip = 0;
  return {mul(n, o, activate(n, unclipped, d.activations[2], c)), c};
}

State gru_step(NodeImport& n, const Net& net, const Direction& d, ValueId input, State s) {
  const auto rec = [&](ValueId h, std::int64_t k) { return add(n, times(n, h, part(n, d.r, 0, k, net.size)), d.rb < 0 ? -1 : part(n, d.rb, 0, k, net.size)); };
  const auto in = [&](std::int64_t k) { return part(n, input, 1, k, net.size); };
  const auto z = activate(n, net, d.activations[0], add(n, in(0), rec(s.h, 0)));
  const auto r = activate(n, net, d.activations[0], add(n, in(1), rec(s.h, 1)));
  const bool linear_first = n.integer("linear_before_reset", 0) != 0;
  const auto hidden = activate(n, net, d.activations[1], add(n, in(2), linear_first ? mul(n, r, rec(s.h, 2)) : rec(mul(n, r, s.h), 2)));
  return {add(n, mul(n, n.b.op("sub", {n.b.splat_like(z, 1), z}), hidden), mul(n, z, s.h)), -1};
}

State rnn_step(NodeImport& n, const Net& net, const Direction& d, ValueId input, State s) {
  return {activate(n, net, d.activations[0], n.b.op("add", {input, times(n, s.h, d.r)})), -1};
}

/// Where a batch element's sequence is over, the state stays and the output is 0.
void hold_finished(NodeImport& n, const Net& net, std::int64_t t, const State& before, State& after, ValueId& y) {
  if (net.lengths < 0) return;
  const auto running = n.broadcast(n.with("gt", net.lengths, static_cast<double>(t)), n.type(y).shape, {0});
  y = n.b.op("select", {running, y, n.b.splat_like(y, 0)});
  after.h = n.b.op("select", {running, after.h, before.h});
  if (after.c >= 0) after.c = n.b.op("select", {running, after.c, before.c});
}

/// Runs one direction; gives the outputs by time, each [1, 1, batch, size], and leaves the last state.
std::vector<ValueId> run_direction(NodeImport& n, const Net& net, const Direction& d, State& s) {
  ValueId inputs = add(n, times(n, net.x, d.w), d.wb);
  const bool gru = net.cell.gates == 3;
  if (!gru) inputs = add(n, inputs, d.rb);  // GRU adds its recurrent bias where the reset gate acts
  std::vector<ValueId> ys(static_cast<std::size_t>(net.steps));
  for (std::int64_t k = 0; k < net.steps; ++k) {
    const auto t = d.backwards ? net.steps - 1 - k : k;
    const auto input = entry(n, inputs, static_cast<std::size_t>(t));
    State next = net.cell.gates == 4 ? lstm_step(n, net, d, input, s) : gru ? gru_step(n, net, d, input, s) : rnn_step(n, net, d, input, s);
    ValueId y = next.h;
    hold_finished(n, net, t, s, next, y);
    s = next;
    ys[static_cast<std::size_t>(t)] = n.b.reshape(y, {1, 1, net.batch, net.size});
  }
  return ys;
}

Net read_net(NodeImport& n, const Cell& cell, bool batch_first) {
  Net net{cell, 0, 0, 0, 0, n.in(0), -1, n.real("clip", 0)};
  if (n.rank(net.x) != 3) n.fail("the input must have rank 3, not " + n.type(net.x).str());
  if (batch_first) net.x = n.b.transpose(net.x, {1, 0, 2});
  const auto x = n.extents(net.x), r = n.extents(n.in(2));
  net.steps = x[0];
  net.batch = x[1];
  if (net.steps > longest_sequence) n.unsupported("a sequence of " + std::to_string(net.steps) + " steps; at most " + std::to_string(longest_sequence) + " are unrolled");
  if (r.size() != 3) n.fail("the recurrent weights must have rank 3, not " + n.type_in(2).str());
  net.directions = r[0];
  net.size = r[2];
  if (n.has_attr("hidden_size") && n.integer("hidden_size") != net.size) n.fail("hidden_size is " + std::to_string(n.integer("hidden_size")) + ", but the recurrent weights are " + n.type_in(2).str());
  if (net.size < 1 || net.size > (1 << 24)) n.fail("the hidden size is " + std::to_string(net.size));
  if (n.has(4)) {
    const auto* l = n.known(n.in(4));
    bool whole = l != nullptr && is_integer(l->dtype());
    for (std::int64_t i = 0; whole && i < l->elements(); ++i) whole = l->int_at(i) == net.steps;
    if (n.type_in(4).shape != Shape{net.batch}) n.fail("sequence_lens must have one entry a batch element");
    if (!whole) net.lengths = n.in(4);
  }
  return net;
}

void check_shape(NodeImport& n, ValueId v, const Shape& want, const char* what) {
  if (n.type(v).shape != want) n.fail(std::string(what) + " must have shape " + str(want) + ", not " + n.type(v).str());
}

std::vector<Direction> read_directions(NodeImport& n, const Net& net) {
  const auto way = n.text("direction", "forward");
  if (way != "forward" && way != "reverse" && way != "bidirectional") n.fail("direction is '" + way + "'");
  const std::int64_t rows = net.cell.gates * net.size, count = way == "bidirectional" ? 2 : 1;
  check_shape(n, n.in(1), {count, rows, n.extents(net.x)[2]}, "W");
  check_shape(n, n.in(2), {count, rows, net.size}, "R");
  if (n.has(3)) check_shape(n, n.in(3), {count, 2 * rows}, "B");
  const bool peepholes = net.cell.gates == 4 && n.has(7);
  if (peepholes) check_shape(n, n.in(7), {count, 3 * net.size}, "P");
  auto names = n.text_list("activations").value_or(std::vector<std::string>{});
  if (names.empty())
    for (std::int64_t d = 0; d < count; ++d) names.insert(names.end(), net.cell.defaults.begin(), net.cell.defaults.end());
  const auto each = net.cell.defaults.size();
  if (names.size() != each * static_cast<std::size_t>(count)) n.fail("activations has " + std::to_string(names.size()) + " entries");
  std::vector<Direction> all;
  for (std::size_t d = 0; d < static_cast<std::size_t>(count); ++d) {
    Direction one{d, way == "reverse" || d == 1, entry(n, n.in(1), d), entry(n, n.in(2), d), -1, -1, -1, {}};
    if (n.has(3)) {
      const auto bias = entry(n, n.in(3), d);
      one.wb = part(n, bias, 0, 0, rows);
      one.rb = part(n, bias, 0, 1, rows);
    }
    if (peepholes) one.peepholes = entry(n, n.in(7), d);
    const auto first = names.begin() + static_cast<std::ptrdiff_t>(d * each);
    one.activations.assign(first, first + static_cast<std::ptrdiff_t>(each));
    all.push_back(std::move(one));
  }
  return all;
}

ValueId initial(NodeImport& n, const Net& net, std::size_t input, std::size_t direction, bool batch_first) {
  const Shape state{net.batch, net.size};
  if (!n.has(input)) return n.broadcast(n.b.scalar(n.type(net.x).dtype, 0), state, {});
  const auto given = batch_first ? n.b.transpose(n.in(input), {1, 0, 2}) : n.in(input);
  check_shape(n, given, {net.directions, net.batch, net.size}, "an initial state");
  return entry(n, given, direction);
}

void recurrent(NodeImport& n, const Cell& cell) {
  const bool batch_first = n.integer("layout", 0) != 0;
  const Net net = read_net(n, cell, batch_first);
  std::vector<ValueId> ys, hs, cs;
  for (const auto& d : read_directions(n, net)) {
    State s{initial(n, net, 5, d.index, batch_first), cell.gates == 4 ? initial(n, net, 6, d.index, batch_first) : -1};
    const auto outputs = run_direction(n, net, d, s);
    if (!outputs.empty()) ys.push_back(n.concat(outputs, 0));
    else ys.push_back(n.broadcast(n.b.scalar(n.type(net.x).dtype, 0), {0, 1, net.batch, net.size}, {}));
    hs.push_back(n.b.reshape(s.h, {1, net.batch, net.size}));
    if (s.c >= 0) cs.push_back(n.b.reshape(s.c, {1, net.batch, net.size}));
  }
  const auto y = n.concat(ys, 1), h = n.concat(hs, 0);
  const auto placed = [&](ValueId state) { return batch_first ? n.b.transpose(state, {1, 0, 2}) : state; };
  n.out(0, batch_first ? n.b.transpose(y, {2, 0, 1, 3}) : y);
  n.out(1, placed(h));
  if (!cs.empty()) n.out(2, placed(n.concat(cs, 0)));
}

void lstm(NodeImport& n) { recurrent(n, {4, {"Sigmoid", "Tanh", "Tanh"}}); }
void gru(NodeImport& n) { recurrent(n, {3, {"Sigmoid", "Tanh"}}); }
void rnn(NodeImport& n) { recurrent(n, {1, {"Tanh"}}); }

constexpr OpEntry entries[] = {{"GRU", 3, 6, gru}, {"LSTM", 3, 8, lstm}, {"RNN", 3, 6, rnn}};
}  // namespace
std::span<const OpEntry> recurrent_family() { return entries; }
}  // namespace plumb::ir::onnx_import
