#include "api/eager/tape.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "api/eager/dispatch.h"
#include "api/eager/trace.h"

namespace plumb::eager {
namespace {

std::atomic<std::uint64_t> next_sequence{1};
thread_local bool gradients_on = true;
thread_local bool anomalies_on = false;

std::string at_line(Here here) { return place(here).str(); }

/// A long tape is let go of node by node, not one inside the other.
struct Graveyard {
  std::vector<std::shared_ptr<Node>> nodes;
  bool busy = false;
};
thread_local Graveyard graveyard;

Tensor plus(const Tensor& a, const Tensor& b, Here here) { return apply1("add", {a, b}, {}, here); }

Tensor zeros_like(const ir::Type& type, Here here) {
  std::string key(type.str());
  return call("zeros", key, {}, here, [&](ir::Builder& b, const Values&) { return Values{b.broadcast_to(b.scalar(type.dtype, 0), type.shape)}; }).at(0);
}

bool holds_nan(const Tensor& t, Here here) {
  if (t.impl()->storage->trace || !is_float(t.dtype())) return false;
  const auto nan = apply1("is_nan", {t}, {}, here);
  for (bool b : nan.to_vector<bool>(here))
    if (b) return true;
  return false;
}

}  // namespace

Node::Node(std::string op, Here where, std::size_t result_count) : name(std::move(op)), here(where), sequence(next_sequence++), results(result_count) {}

Node::~Node() {
  for (auto& e : inputs)
    if (e.node && e.node.use_count() == 1) graveyard.nodes.push_back(std::move(e.node));
  if (graveyard.busy) return;
  graveyard.busy = true;
  while (!graveyard.nodes.empty()) {
    auto last = std::move(graveyard.nodes.back());
    graveyard.nodes.pop_back();
    last.reset();
  }
  graveyard.busy = false;
}

Accumulate::Accumulate(const std::shared_ptr<TensorImpl>& l) : Node("leaf", Here{}, 1), leaf(l) { sequence = 0; }

std::vector<Tensor> Accumulate::pull(std::vector<Tensor> cotangents) {
  const auto to = leaf.lock();
  if (!to || !cotangents[0].defined()) return {};
  if (auto* trace = active_trace()) trace->note_gradient(to);
  auto g = std::move(cotangents[0]);
  if (to->grad) {
    const Tensor old(to->grad);
    if (gradients_on) {
      to->grad = plus(old, g, here).impl();
    } else {
      auto target = old;
      write(target, plus(old, g, here), "backward", here);
    }
    return {};
  }
  if (!gradients_on) g = g.impl().use_count() > 1 || g.impl()->storage.use_count() > 1 || g.impl()->view ? g.detach().clone() : g.detach();
  to->grad = g.impl();
  return {};
}

ProgramNode::ProgramNode(std::shared_ptr<OpProgram> p, std::string op, Here where) : Node(std::move(op), where, p->gives().size()), program(std::move(p)) {}

std::vector<Tensor> ProgramNode::pull(std::vector<Tensor> cotangents) {
  const auto& pullback = program->pullback(wanted);
  if (!pullback.program) fail(here, name + " has no derivative: " + pullback.error);
  std::vector<Tensor> in;
  for (const auto& s : saved) {
    const auto& storage = *s.tensor.impl()->storage;
    if (storage.version != s.version)
      fail(here, name + " needs an operand's value for its derivative (" + describe(s.tensor) + "), but that was changed in place at " + at_line(storage.changed) + "; clone it first, or compute out of place");
    in.push_back(s.tensor);
  }
  for (auto k : pullback.cotangents) in.push_back(cotangents[k].defined() ? cotangents[k] : zeros_like(program->gives()[k], here));
  auto out = run(pullback.program, "the derivative of " + name, std::move(in), here);
  std::vector<Tensor> r(inputs.size());
  std::size_t next = 0;
  for (std::size_t k = 0; k < wanted.size(); ++k)
    if (wanted[k]) r[k] = out.at(next++);
  return r;
}

void ProgramNode::release() { saved.clear(); }

bool grad_enabled() { return gradients_on; }
void set_grad_enabled(bool on) { gradients_on = on; }
bool anomaly_mode() { return anomalies_on; }
void set_anomaly_mode(bool on) { anomalies_on = on; }

bool requires_grad(const Tensor& t) {
  const auto& i = *t.impl();
  if (i.requires_grad || i.grad_fn.node) return true;
  return i.view && i.base && i.seen_graph != i.storage->graph_version && requires_grad(Tensor(i.base));
}

Edge edge_of(const Tensor& t) {
  auto& i = *t.impl();
  if (i.view && i.base && i.seen_graph != i.storage->graph_version) {
    i.seen_graph = i.storage->graph_version;
    const Tensor base(i.base);
    i.grad_fn = {};
    const std::string key = std::to_string(i.offset) + key_of(attrs({{"sizes", ir::Ints(i.sizes)}, {"strides", ir::Ints(i.strides)}}));
    const auto program = program_of("view", key, {&base, 1}, [&](ir::Builder& b, const Values& in) { return Values{strided_read(b, in[0], i.sizes, i.strides, i.offset)}; }, i.storage->changed);
    if (auto node = record(program, "view", {&base, 1}, i.storage->changed)) i.grad_fn = {node, 0};
  }
  if (i.grad_fn.node) return i.grad_fn;
  if (!i.requires_grad) return {};
  auto node = i.accumulator.lock();
  if (!node) {
    node = std::make_shared<Accumulate>(t.impl());
    i.accumulator = node;
  }
  return {node, 0};
}

Saved save(const Tensor& t) {
  auto copy = std::make_shared<TensorImpl>(*t.impl());
  copy->grad_fn = edge_of(t);
  copy->requires_grad = false;
  copy->retains_grad = false;
  copy->grad = nullptr;
  copy->view = copy->view || !t.impl()->whole();
  copy->base = nullptr;
  copy->accumulator.reset();
  return {Tensor(std::move(copy)), t.impl()->storage->version};
}

std::shared_ptr<Node> record(const std::shared_ptr<OpProgram>& program, std::string name, std::span<const Tensor> inputs, Here here) {
  if (!gradients_on) return nullptr;
  std::vector<bool> wanted;
  bool any = false;
  for (const auto& t : inputs) {
    wanted.push_back(is_float(t.dtype()) && requires_grad(t));
    any = any || wanted.back();
  }
  const auto& gives = program->gives();
  if (!any || std::none_of(gives.begin(), gives.end(), [](const auto& t) { return is_float(t.dtype); })) return nullptr;
  std::vector<Edge> edges;   // made first: they come before the node
  for (std::size_t k = 0; k < inputs.size(); ++k) edges.push_back(wanted[k] ? edge_of(inputs[k]) : Edge{});
  auto node = std::make_shared<ProgramNode>(program, std::move(name), here);
  node->inputs = std::move(edges);
  for (auto k : program->pullback(wanted).saved) node->saved.push_back(save(inputs[k]));
  node->wanted = std::move(wanted);
  return node;
}

namespace {

/// Which nodes lead to one of the captures.
std::unordered_set<Node*> leading_to(const std::vector<Edge>& roots, const std::vector<Edge>& captures) {
  std::unordered_set<Node*> found, seen;
  for (const auto& c : captures)
    if (c.node) found.insert(c.node.get());
  std::vector<std::pair<Node*, std::size_t>> stack;   // node and its next input
  for (const auto& r : roots) {
    if (!r.node || !seen.insert(r.node.get()).second) continue;
    stack.emplace_back(r.node.get(), 0);
    while (!stack.empty()) {
      const auto node = stack.back().first;
      if (stack.back().second == node->inputs.size()) {
        for (const auto& e : node->inputs)
          if (e.node && found.contains(e.node.get())) found.insert(node);
        stack.pop_back();
        continue;
      }
      const auto& e = node->inputs[stack.back().second++];
      if (e.node && seen.insert(e.node.get()).second) stack.emplace_back(e.node.get(), 0);
    }
  }
  return found;
}

class Backward {
 public:
  Backward(const BackwardOptions& options, Here here) : options_(options), here_(here) {}

  std::vector<Tensor> run(const std::vector<Edge>& roots, std::vector<Tensor> cotangents) {
    const bool narrowed = options_.narrowed && !options_.captures.empty();
    if (narrowed) needed_ = leading_to(roots, options_.captures);
    for (std::size_t k = 0; k < roots.size(); ++k) arrive(roots[k], std::move(cotangents[k]));
    std::vector<Tensor> captured(options_.captures.size());
    while (!queue_.empty()) {
      const auto node = queue_.top().second;
      queue_.pop();
      auto g = std::move(pending_.at(node.get()));
      pending_.erase(node.get());
      run_hooks(*node, g);
      for (std::size_t k = 0; k < captured.size(); ++k)
        if (options_.captures[k].node == node) captured[k] = g[options_.captures[k].result];
      if (!options_.accumulate && dynamic_cast<Accumulate*>(node.get())) continue;
      if (node->inputs.empty() && !dynamic_cast<Accumulate*>(node.get())) continue;
      if (narrowed && std::none_of(node->inputs.begin(), node->inputs.end(), [&](const auto& e) { return e.node && needed_.contains(e.node.get()); })) continue;
      pull(*node, std::move(g));
    }
    return captured;
  }

 private:
  struct Later {
    bool operator()(const auto& a, const auto& b) const { return a.first < b.first; }
  };

  void arrive(const Edge& e, Tensor g) {
    if (!e.node || !g.defined() || (!needed_.empty() && !needed_.contains(e.node.get()))) return;
    auto& slots = pending_[e.node.get()];
    if (slots.empty()) {
      slots.resize(e.node->results);
      queue_.emplace(e.node->sequence, e.node);
    }
    auto& slot = slots[e.result];
    slot = slot.defined() ? plus(slot, g, here_) : std::move(g);
  }

  static void run_hooks(const Node& node, std::vector<Tensor>& g) {
    for (const auto& [result, hook] : node.hooks) {
      if (!g[result].defined()) continue;
      auto changed = hook(g[result]);
      if (changed.defined()) g[result] = std::move(changed);
    }
  }

  void pull(Node& node, std::vector<Tensor> g) {
    if (node.released) fail(here_, "the derivative of " + node.name + " (" + at_line(node.here) + ") was let go of by an earlier backward; give that one retain_graph = true");
    auto pulled = node.pull(std::move(g));
    if (anomalies_on)
      for (const auto& p : pulled)
        if (p.defined() && holds_nan(p, here_)) fail(node.here, "the derivative of " + node.name + " gave NaN in the backward asked for at " + at_line(here_) + "; look at the operands of this line");
    if (!options_.retain_graph) {
      node.released = !dynamic_cast<Accumulate*>(&node);
      node.release();
    }
    for (std::size_t k = 0; k < pulled.size(); ++k) arrive(node.inputs[k], std::move(pulled[k]));
  }

  const BackwardOptions& options_;
  Here here_;
  std::unordered_set<Node*> needed_;
  std::unordered_map<Node*, std::vector<Tensor>> pending_;
  std::priority_queue<std::pair<std::uint64_t, std::shared_ptr<Node>>, std::vector<std::pair<std::uint64_t, std::shared_ptr<Node>>>, Later> queue_;
};

/// Sets the mode as long as it lives.
struct GradMode {
  explicit GradMode(bool on) : before(gradients_on) { gradients_on = on; }
  ~GradMode() { gradients_on = before; }
  bool before;
};

}  // namespace

std::vector<Tensor> run_backward(const std::vector<Edge>& roots, std::vector<Tensor> cotangents, const BackwardOptions& options, Here here) {
  const GradMode mode(options.create_graph);
  return Backward(options, here).run(roots, std::move(cotangents));
}

}  // namespace plumb::eager
