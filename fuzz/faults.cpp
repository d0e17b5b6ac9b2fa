#include "fuzz/faults.h"

#include <algorithm>

#include "fuzz/internal/sites.h"
#include "ir/scalar/storage.h"

namespace plumb::fuzz {
namespace {

using kir::ScalarId;
using kir::Stmt;

struct NotApplicable {
  std::string why;
};

std::uint64_t mix(std::uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

class Maker {
 public:
  Maker(const kir::Kernel& k, int reduction, std::uint64_t seed) : k_(k), reduction_(reduction), state_(mix(seed + 1)), sites_(k_), sums_(sites_.partial_sums(reduction)) {}

  Faulty make(FaultKind kind) {
    const FnId fn = k_.reductions.at(static_cast<std::size_t>(reduction_)).fn;
    const bool extremum = fn == fn_id<scalar::Minimum> || fn == fn_id<scalar::Maximum>;
    if (extremum && kind == FaultKind::duplicated_term) throw NotApplicable{"a minimum or maximum may meet a term twice"};
    if (extremum && kind == FaultKind::narrow_accumulator) throw NotApplicable{"a minimum or maximum does not round"};
    switch (kind) {
      case FaultKind::dropped_term: drop(); break;
      case FaultKind::duplicated_term: repeat(); break;
      case FaultKind::neighbour_term: neighbour(); break;
      case FaultKind::narrow_accumulator: narrow(); break;
      case FaultKind::stale_tile: stale(); break;
      case FaultKind::wrong_tail: tail(); break;
    }
    return {std::move(k_), place_, {}};
  }

 private:
  std::uint64_t choose(std::uint64_t n) { return (state_ = mix(state_)) % n; }
  ScalarId fresh(DType t) {
    k_.scalars.push_back(t);
    return static_cast<ScalarId>(k_.scalars.size() - 1);
  }
  DType dtype(ScalarId s) const { return k_.scalars[static_cast<std::size_t>(s)]; }

  // ── places ──

  bool joins_partial_sums(ScalarId s) const {
    if (s < 0) return false;
    const auto loads = sites_.loads_of(s);
    return std::any_of(loads.begin(), loads.end(), [&](const Site* l) { return sums_.count(l->as<kir::Load>()->buffer) > 0; });
  }
  bool is_step(const Site& s) const { return s.as<kir::Combine>() && s.as<kir::Combine>()->reduction == reduction_; }
  bool is_terms(const Site& s) const { return is_step(s) && !joins_partial_sums(s.as<kir::Combine>()->a) && !joins_partial_sums(s.as<kir::Combine>()->b); }

  /// A step: a term's, chosen by how many terms each takes; where there is none, the first that joins, whose operands are terms.
  Site step() {
    std::vector<Site> terms;
    std::vector<std::uint64_t> trips;
    std::uint64_t all = 0;
    for (const auto& s : sites_.all())
      if (is_terms(s)) {
        std::uint64_t trip = 1;
        for (const auto* f : s.loops)
          if (const auto v = Sites::values(s, *f); v && !sites_.is_output(f->var)) trip *= static_cast<std::uint64_t>(v->high - v->low + 1);
        terms.push_back(s);
        trips.push_back(trip);
        all += trip;
      }
    if (terms.empty()) {
      for (const auto& s : sites_.all())
        if (is_step(s)) return s;
      throw NotApplicable{"the reduction has no combining step"};
    }
    auto at = choose(all);
    for (std::size_t k = 0; k < terms.size(); ++k) {
      if (at < trips[k]) return terms[k];
      at -= trips[k];
    }
    return terms.back();
  }

  /// One iteration of the loops around a step, the result's aside.
  struct Pin { const kir::For* loop; Interval range; std::int64_t value; };
  std::vector<Pin> pin(const Site& s) {
    const auto* c = s.as<kir::Combine>();
    std::vector<Pin> pins;
    for (const auto* f : s.loops) {
      const auto v = Sites::values(s, *f);
      if (sites_.is_output(f->var) || !v) continue;
      const bool column = c && c->fn == fn_id<scalar::Fma> && f->kind == kir::LoopKind::vector;
      pins.push_back({f, *v, column ? 0 : v->low + static_cast<std::int64_t>(choose(static_cast<std::uint64_t>(v->high - v->low + 1)))});
    }
    return pins;
  }
  /// The condition that an iteration is the pinned one, as far as the loops around `at` tell.
  static kir::Predicate is_at(const std::vector<Pin>& pins, const Site& at) {
    kir::Predicate p;
    for (const auto& x : pins)
      if (std::find(at.loops.begin(), at.loops.end(), x.loop) != at.loops.end() && x.range.high > 0) p.push_back({kir::Affine::var(x.loop->var) - x.value, true});
    return p;
  }
  void note(const std::vector<Pin>& pins) {
    for (const auto& p : pins) place_ += (place_.empty() ? "" : ", ") + k_.vars[static_cast<std::size_t>(p.loop->var)] + " = " + std::to_string(p.value);
  }

  // ── kinds ──

  void drop() {
    const auto s = step();
    const auto pins = pin(s);
    note(pins);
    kir::If skip{is_at(pins, s), {}, {s.statement()}};
    s.statement() = Stmt{std::move(skip)};
  }
  void repeat() {
    const auto s = step();
    const auto pins = pin(s);
    note(pins);
    kir::If again{is_at(pins, s), {s.statement()}, {}};
    s.block->insert(s.block->begin() + static_cast<std::ptrdiff_t>(s.at) + 1, Stmt{std::move(again)});
  }

  /// The load gives what stands at `index` where the condition holds, else what it gave.
  void redirect(const Site& site, kir::VarId v, std::int64_t by, kir::Predicate where) {
    auto& load = *site.as<kir::Load>();
    auto other = load;
    load.result = fresh(dtype(other.result));
    other.other = load.result;
    for (auto& i : other.index) i = moved(i, v, by);
    other.guard = moved(other.guard, v, by);
    other.guard.insert(other.guard.end(), where.begin(), where.end());
    site.block->insert(site.block->begin() + static_cast<std::ptrdiff_t>(site.at) + 1, Stmt{std::move(other)});
  }
  /// Inner blocks first, and later statements of a block first, so that the others stay where they are.
  static void sort_backward(std::vector<const Site*>& sites) {
    const auto depth = [](const Site* s) { return s->loops.size() + s->conditions.size(); };
    std::sort(sites.begin(), sites.end(), [&](const Site* x, const Site* y) { return std::pair(depth(x), x->at) > std::pair(depth(y), y->at); });
  }
  static bool mentions(const Site& load, kir::VarId v) {
    const auto& index = load.as<kir::Load>()->index;
    return std::any_of(index.begin(), index.end(), [&](const kir::Affine& a) { return a.mentions(v); });
  }
  /// What a statement that brings a term loads for it.
  std::vector<const Site*> operands(const Site& s) const {
    std::vector<const Site*> loads;
    auto add = [&](ScalarId x) {
      const auto more = sites_.loads_of(x);
      loads.insert(loads.end(), more.begin(), more.end());
    };
    if (auto* c = s.as<kir::Combine>()) {
      add(c->a);
      if (c->b >= 0) add(c->b);
    } else {
      add(s.as<kir::Store>()->value);
    }
    std::sort(loads.begin(), loads.end());
    loads.erase(std::unique(loads.begin(), loads.end()), loads.end());   // a square's factors are one load
    return loads;
  }
  /// Whether the loop's variable numbers terms: it is in an operand's index, and in a contraction not in the accumulator's.
  bool numbers_terms(const Site& s, const kir::For& f, const std::vector<const Site*>& loads) const {
    if (const auto* c = s.as<kir::Combine>(); c && c->fn == fn_id<scalar::Fma>)
      for (const auto& i : c->index)
        if (i.mentions(f.var)) return false;
    return std::any_of(loads.begin(), loads.end(), [&](const Site* l) { return mentions(*l, f.var); });
  }

  void neighbour() {
    const auto s = step();
    auto loads = operands(s);
    const auto pins = pin(s);
    const auto by = std::find_if(pins.rbegin(), pins.rend(), [&](const Pin& p) { return p.range.high > p.range.low && numbers_terms(s, *p.loop, loads); });
    if (by == pins.rend()) throw NotApplicable{"the term has no neighbour"};
    note(pins);
    const std::int64_t step_by = by->value < by->range.high ? 1 : -1;
    sort_backward(loads);
    for (const auto* l : loads)
      if (mentions(*l, by->loop->var)) redirect(*l, by->loop->var, step_by, is_at(pins, *l));
  }

  /// A load of an input, and the serial loop around it whose iterations bring a tile each: one with more loops over terms inside.
  void stale() {
    std::vector<std::pair<const Site*, const kir::For*>> tiles;
    for (const auto& s : sites_.all()) {
      const auto* load = s.as<kir::Load>();
      if (!load || std::find(k_.inputs.begin(), k_.inputs.end(), load->buffer) == k_.inputs.end()) continue;
      bool inside = std::any_of(s.loops.begin(), s.loops.end(), [&](const auto* f) { return f->kind == kir::LoopKind::gpu_thread && mentions(s, f->var); });
      for (auto f = s.loops.rbegin(); f != s.loops.rend(); ++f) {
        const bool serial = (*f)->kind == kir::LoopKind::serial, numbers = mentions(s, (*f)->var) && !sites_.is_output((*f)->var);
        const auto n = (*f)->extent.as_constant();
        if (inside && serial && numbers && n && *n >= 2) {
          tiles.emplace_back(&s, *f);
          break;
        }
        inside = inside || (numbers && ((*f)->kind == kir::LoopKind::vector || serial));
      }
    }
    if (tiles.empty()) throw NotApplicable{"the reduction is a single tile"};
    const auto& [site, loop] = tiles[choose(tiles.size())];
    const auto at = 1 + static_cast<std::int64_t>(choose(static_cast<std::uint64_t>(*loop->extent.as_constant() - 1)));
    place_ = k_.vars[static_cast<std::size_t>(loop->var)] + " = " + std::to_string(at);
    redirect(*site, loop->var, -1, {{kir::Affine::var(loop->var) - at, true}});
  }

  /// The last statement that brings terms in: its last 16 or fewer.
  void tail() {
    const Site* last = nullptr;
    for (const auto& s : sites_.all()) {
      const auto* store = s.as<kir::Store>();
      const bool first_terms = store && sums_.count(store->buffer) && std::find(k_.outputs.begin(), k_.outputs.end(), store->buffer) == k_.outputs.end() && !joins_partial_sums(store->value) && !sites_.loads_of(store->value).empty();
      if (is_terms(s) || first_terms) last = &s;
    }
    if (!last) throw NotApplicable{"no statement brings terms in"};
    auto loads = operands(*last);
    for (auto f = last->loops.rbegin(); f != last->loops.rend(); ++f) {
      const auto v = Sites::values(*last, **f);
      if (!v || v->high == v->low || sites_.is_output((*f)->var) || !numbers_terms(*last, **f, loads)) continue;
      const auto from = std::max(v->low + 1, v->low + (v->high - v->low) / 16 * 16);
      place_ = k_.vars[static_cast<std::size_t>((*f)->var)] + " >= " + std::to_string(from);
      sort_backward(loads);
      for (const auto* l : loads)
        if (mentions(*l, (*f)->var)) redirect(*l, (*f)->var, -1, {kir::at_least(kir::Affine::var((*f)->var), from)});
      return;
    }
    throw NotApplicable{"there is one term"};
  }

  // ── a narrow accumulator: it widens to combine, and is cut to the format again ──

  void narrow() {
    const DType wide = k_.reductions[static_cast<std::size_t>(reduction_)].accumulator;
    if (!is_float(wide) || is_narrow_float(wide)) throw NotApplicable{"no float format is narrower by much"};
    narrow_ = wide == DType::f64 ? DType::f32 : choose(2) ? DType::f16 : DType::bf16;
    for (const auto& s : sites_.all())
      if (is_step(s) && k_.buffers[static_cast<std::size_t>(s.as<kir::Combine>()->buffer)].space != kir::Space::global) narrowed_.insert(s.as<kir::Combine>()->buffer);
    if (narrowed_.empty()) throw NotApplicable{"partial sums stand in the result, or in a matrix unit"};
    for (auto b : narrowed_) k_.buffers[static_cast<std::size_t>(b)].dtype = narrow_;
    rewrite(k_.body);
    place_ = "in " + std::string(plumb::name(narrow_));
  }
  void rewrite(kir::Block& b) {
    kir::Block out;
    for (auto& s : b) {
      if (auto* f = std::get_if<kir::For>(&s.node)) rewrite(f->body);
      if (auto* i = std::get_if<kir::If>(&s.node)) rewrite(i->then), rewrite(i->otherwise);
      if (auto* i = std::get_if<kir::IfValue>(&s.node)) rewrite(i->then);
      auto* load = std::get_if<kir::Load>(&s.node);
      auto* store = std::get_if<kir::Store>(&s.node);
      auto* combine = std::get_if<kir::Combine>(&s.node);
      if (load && narrowed_.count(load->buffer)) widen_load(*load, out);
      else if (store && narrowed_.count(store->buffer)) store->value = converted(store->value, narrow_, out), out.push_back(std::move(s));
      else if (combine && narrowed_.count(combine->buffer)) combine_wide(*combine, out);
      else out.push_back(std::move(s));
    }
    b = std::move(out);
  }
  ScalarId converted(ScalarId x, DType to, kir::Block& out) {
    const auto r = fresh(to);
    out.push_back(Stmt{kir::Convert{r, x}});
    return r;
  }
  void widen_load(kir::Load load, kir::Block& out) {
    const auto wide = load.result;
    if (load.other >= 0) load.other = converted(load.other, narrow_, out);
    load.result = fresh(narrow_);
    const auto got = load.result;
    out.push_back(Stmt{std::move(load)});
    out.push_back(Stmt{kir::Convert{wide, got}});
  }
  void combine_wide(const kir::Combine& c, kir::Block& out) {
    const DType wide = dtype(c.a);
    const auto old = fresh(wide), sum = fresh(wide);
    widen_load({old, c.buffer, c.index, {}}, out);
    out.push_back(Stmt{kir::Apply{sum, c.fn, c.b >= 0 ? SmallVector<ScalarId, 3>{c.a, c.b, old} : SmallVector<ScalarId, 3>{old, c.a}}});
    out.push_back(Stmt{kir::Store{c.buffer, c.index, converted(sum, narrow_, out)}});
  }

  kir::Kernel k_;
  int reduction_;
  std::uint64_t state_;
  Sites sites_;
  std::set<kir::BufferId> sums_, narrowed_;
  DType narrow_ = DType::bf16;
  std::string place_;
};

}  // namespace

Faulty make_fault(const kir::Kernel& k, int reduction, FaultKind kind, std::uint64_t seed) {
  try {
    return Maker(k, reduction, seed).make(kind);
  } catch (const NotApplicable& n) {
    return {std::nullopt, {}, n.why};
  }
}

}  // namespace plumb::fuzz
