#include <optional>

#include "fuzz/internal/sites.h"
#include "ir/kernel/walk.h"

namespace plumb::fuzz {

using kir::BufferId;
using kir::ScalarId;

void Sites::walk(kir::Block& b, std::vector<const kir::For*> loops, std::vector<const kir::If*> conditions) {
  for (std::size_t at = 0; at < b.size(); ++at) {
    all_.push_back({&b, at, loops, conditions});
    if (auto* f = std::get_if<kir::For>(&b[at].node)) {
      auto deeper = loops;
      deeper.push_back(f);
      walk(f->body, deeper, conditions);
    } else if (auto* i = std::get_if<kir::If>(&b[at].node)) {
      auto more = conditions;
      more.push_back(i);
      walk(i->then, loops, more);
      walk(i->otherwise, loops, conditions);
    } else if (auto* v = std::get_if<kir::IfValue>(&b[at].node)) {
      walk(v->then, loops, conditions);
    }
  }
}

void Sites::note_outputs() {
  for (const auto& m : k_.output_maps)
    for (const auto& [v, value] : m.inverse)
      if (!value.is_constant()) outputs_.insert(v);
}

const Site* Sites::definition(ScalarId s) const {
  for (const auto& site : all_)
    if (kir::result_of(site.statement()) == s) return &site;
  return nullptr;
}

std::vector<const Site*> Sites::loads_of(ScalarId s) const {
  std::vector<const Site*> r;
  std::vector<ScalarId> open{s};
  std::set<ScalarId> seen;
  while (!open.empty()) {
    const auto x = open.back();
    open.pop_back();
    if (x < 0 || !seen.insert(x).second) continue;
    const auto* d = definition(x);
    if (!d) continue;
    if (d->as<kir::Load>()) {
      r.push_back(d);
      continue;
    }
    kir::for_each_operand(d->statement(), [&](ScalarId o) { open.push_back(o); });
  }
  return r;
}

std::set<BufferId> Sites::partial_sums(int reduction) const {
  std::set<BufferId> sums;
  for (const auto& s : all_)
    if (auto* c = s.as<kir::Combine>(); c && c->reduction == reduction) sums.insert(c->buffer);
  for (bool grows = true; grows;) {
    grows = false;
    for (const auto& s : all_) {
      auto* store = s.as<kir::Store>();
      if (!store || sums.count(store->buffer)) continue;
      for (const auto* l : loads_of(store->value))
        if (sums.count(l->as<kir::Load>()->buffer)) grows = sums.insert(store->buffer).second || grows;
    }
  }
  return sums;
}

std::optional<Interval> Sites::values(const Site& site, const kir::For& loop) {
  const auto n = loop.extent.as_constant();
  if (!n || *n < 1) return std::nullopt;
  Interval r{0, *n - 1};
  for (const auto* i : site.conditions)
    for (const auto& c : i->condition) {
      if (c.expr.terms().size() != 1 || c.expr.coefficient_of(loop.var) == 0) continue;
      const auto factor = c.expr.coefficient_of(loop.var);
      if (c.equality && factor == 1) r = {-c.expr.constant(), -c.expr.constant()};
      else if (factor == -1) r.high = std::min(r.high, c.expr.constant());
      else if (factor == 1) r.low = std::max(r.low, -c.expr.constant());
    }
  return r.low > r.high ? std::nullopt : std::optional(r);
}

kir::Affine moved(const kir::Affine& a, kir::VarId v, std::int64_t by) {
  return kir::substitute(a, [&](const kir::Atom& x) -> std::optional<kir::Affine> {
    if (x.kind != kir::Atom::Kind::var || x.id != v) return std::nullopt;
    return kir::Affine::var(v) + by;
  });
}
kir::Predicate moved(kir::Predicate p, kir::VarId v, std::int64_t by) {
  for (auto& c : p) c.expr = moved(c.expr, v, by);
  return p;
}

}  // namespace plumb::fuzz
