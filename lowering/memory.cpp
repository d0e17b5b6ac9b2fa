// Offsets for temporaries by first fit over lifetimes.
#include <algorithm>

#include "lowering/passes.h"

namespace plumb::lowering {
namespace {

struct Life {
  SlotId slot;
  int first, last;
  std::int64_t bytes, offset = -1;
};

void touch(std::vector<Life>& lives, const std::vector<SlotId>& slots, int step) {
  for (auto s : slots) {
    auto& l = lives[static_cast<std::size_t>(s)];
    if (l.first < 0) l.first = step;
    l.last = std::max(l.last, step);
  }
}

}  // namespace

void plan_memory(Program& p) {
  std::vector<Life> lives(p.slots.size());
  for (std::size_t k = 0; k < p.slots.size(); ++k) lives[k] = {static_cast<SlotId>(k), -1, -1, (p.slots[k].type.bytes() + 127) / 64 * 64, -1};
  for (std::size_t k = 0; k < p.steps.size(); ++k) {
    const int step = static_cast<int>(k);
    std::visit([&](const auto& s) {
      if constexpr (std::is_same_v<std::decay_t<decltype(s)>, Copy>) {
        touch(lives, {s.from, s.to}, step);
      } else {
        touch(lives, s.inputs, step);
        touch(lives, s.outputs, step);
        if constexpr (std::is_same_v<std::decay_t<decltype(s)>, IfStep>) touch(lives, {s.condition}, step);
      }
    }, p.steps[k]);
  }
  std::vector<Life*> temporaries;
  for (auto& l : lives)
    if (p.slots[static_cast<std::size_t>(l.slot)].role == Slot::Role::temporary && l.first >= 0) temporaries.push_back(&l);
  std::sort(temporaries.begin(), temporaries.end(), [](const Life* a, const Life* b) { return a->bytes != b->bytes ? a->bytes > b->bytes : a->slot < b->slot; });
  std::vector<const Life*> placed;
  for (auto* l : temporaries) {
    std::vector<const Life*> rivals;
    for (const auto* other : placed)
      if (other->first <= l->last && l->first <= other->last) rivals.push_back(other);
    std::sort(rivals.begin(), rivals.end(), [](const Life* a, const Life* b) { return a->offset < b->offset; });
    std::int64_t at = 0;
    for (const auto* r : rivals) {
      if (at + l->bytes <= r->offset) break;
      at = std::max(at, r->offset + r->bytes);
    }
    l->offset = at;
    p.slots[static_cast<std::size_t>(l->slot)].offset = at;
    p.arena_bytes = std::max(p.arena_bytes, at + l->bytes);
    placed.push_back(l);
  }
}

}  // namespace plumb::lowering
