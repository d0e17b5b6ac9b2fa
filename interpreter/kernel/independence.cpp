// Iterations of a loop over v are independent in a buffer when along some axis every access within the loop has the index
//   c·v + u + w,   c the same and not 0, u the same and fixed while the loop runs, and w, from the loops inside, within
// fewer than |c| neighbouring values: then different iterations use different indices there.
#include "interpreter/kernel/internal/independence.h"

#include <set>

#include "ir/kernel/bounds.h"
#include "ir/kernel/walk.h"

namespace plumb::interp::kernel {
namespace {

using namespace kir;

struct Use {
  const Indices* index;
  std::vector<const For*> loops;   ///< around it, outermost first
};

struct History {
  std::vector<Use> uses;
  std::size_t alloc_depth = 0;     ///< loops around the Alloc, each iteration of which has an instance of its own
  bool only_stored = true;
  bool irregular = false;          ///< touched by tiles or async copies
};

bool unordered(const For& f) { return f.kind != LoopKind::serial && f.kind != LoopKind::unrolled; }

class Collector {
 public:
  explicit Collector(const Kernel& k) : buffers(k.buffers.size()), kernel_(k) { walk(k.body); }
  std::vector<History> buffers;

 private:
  void use(BufferId b, const Indices* index, bool store) {
    auto& h = buffers[static_cast<std::size_t>(b)];
    h.uses.push_back({index, loops_});
    h.only_stored &= store;
    h.irregular |= index == nullptr;
  }
  /// A block's threads share what is shared, wherever its Alloc stands.
  std::size_t instance_depth(BufferId b) const {
    const auto shared = kernel_.buffers[static_cast<std::size_t>(b)].space == Space::shared;
    std::size_t d = 0;
    while (d < loops_.size() && (!shared || loops_[d]->kind == LoopKind::gpu_block)) ++d;
    return d;
  }
  void walk(const Block& block) {
    for (const auto& s : block) {
      if (auto* x = std::get_if<Load>(&s.node)) use(x->buffer, &x->index, false);
      else if (auto* y = std::get_if<Store>(&s.node)) use(y->buffer, &y->index, true);
      else if (auto* c = std::get_if<Combine>(&s.node)) use(c->buffer, &c->index, false);
      else if (auto* a = std::get_if<Alloc>(&s.node)) buffers[static_cast<std::size_t>(a->buffer)].alloc_depth = instance_depth(a->buffer);
      else if (auto* t = std::get_if<TileLoad>(&s.node)) use(t->from, nullptr, false);
      else if (auto* u = std::get_if<TileStore>(&s.node)) use(u->to, nullptr, true);
      else if (auto* v = std::get_if<AsyncCopy>(&s.node)) use(v->to, nullptr, false), use(v->from, nullptr, false);
      const auto* f = std::get_if<For>(&s.node);
      if (f) loops_.push_back(f);
      for_each_block(s, [&](const Block& inner) { walk(inner); });
      if (f) loops_.pop_back();
    }
  }
  const Kernel& kernel_;
  std::vector<const For*> loops_;
};

/// index = c·v + fixed + moving, where moving is what loops inside bring.
struct Split {
  std::int64_t c = 0;
  Affine fixed;
  Range moving{0, 0};
};

std::optional<Split> split(const Affine& index, const Use& use, std::size_t depth) {
  const VarId v = use.loops[depth]->var;
  std::set<VarId> outer;
  for (std::size_t l = 0; l < depth; ++l) outer.insert(use.loops[l]->var);
  Bounds inner;
  for (std::size_t l = depth + 1; l < use.loops.size(); ++l) inner.enter(use.loops[l]->var, use.loops[l]->extent);
  Split s;
  Affine moving;
  for (const auto& t : index.terms()) {
    if (t.atom.kind == Atom::Kind::var && t.atom.id == v) {
      s.c = t.coefficient;
      continue;
    }
    bool fixed = true, bad = false;
    for_each_atom(affine_of(t.atom), [&](const Atom& a) {
      bad |= a.kind == Atom::Kind::value || (a.kind == Atom::Kind::var && a.id == v);
      fixed &= a.kind != Atom::Kind::var || outer.contains(a.id);
    });
    if (bad) return std::nullopt;
    (fixed ? s.fixed : moving) = (fixed ? s.fixed : moving) + affine_of(t.atom) * t.coefficient;
  }
  const auto r = inner.range(moving + index.constant());
  if (!r || s.c == 0) return std::nullopt;
  s.moving = *r;
  return s;
}

bool independent_along(std::size_t axis, const For* loop, std::size_t depth, const History& h) {
  std::optional<Split> first;
  for (const auto& u : h.uses) {
    if (u.loops.size() <= depth || u.loops[depth] != loop) continue;
    const auto s = split((*u.index)[axis], u, depth);
    if (!s) return false;
    if (!first) {
      first = s;
      continue;
    }
    if (s->c != first->c || !(s->fixed == first->fixed)) return false;
    first->moving.low = std::min(first->moving.low, s->moving.low);
    first->moving.high = std::max(first->moving.high, s->moving.high);
  }
  return first && first->moving.high - first->moving.low < std::abs(first->c);
}

bool independent(const History& h, std::size_t axes) {
  std::set<const For*> seen;
  for (const auto& u : h.uses)
    for (std::size_t d = h.alloc_depth; d < u.loops.size(); ++d) {
      if (!unordered(*u.loops[d]) || !seen.insert(u.loops[d]).second) continue;
      bool shown = false;
      for (std::size_t axis = 0; axis < axes && !shown; ++axis) shown = independent_along(axis, u.loops[d], d, h);
      if (!shown) return false;
    }
  return true;
}

}  // namespace

std::vector<bool> may_race(const Kernel& k) {
  const Collector c(k);
  std::vector<bool> r;
  for (std::size_t b = 0; b < k.buffers.size(); ++b) {
    const auto& h = c.buffers[b];
    const bool input = std::find(k.inputs.begin(), k.inputs.end(), static_cast<BufferId>(b)) != k.inputs.end();
    const bool output = std::find(k.outputs.begin(), k.outputs.end(), static_cast<BufferId>(b)) != k.outputs.end();
    // An output that is stored to and nothing else: two writers of an element are found by the second store.
    const bool plain = input || k.buffers[b].space == Space::fragment || (output && h.only_stored);
    r.push_back(!plain && (h.irregular || !independent(h, k.buffers[b].extents.size())));
  }
  return r;
}

}  // namespace plumb::interp::kernel
