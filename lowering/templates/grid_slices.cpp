#include "lowering/templates/grid_slices.h"

namespace plumb::lowering {

Side Slices::side(bool rhs, std::int64_t size, const Affine& first) {
  Side s;
  s.size = size, s.first = first, s.rhs = rhs;
  s.limit = element_count(rhs ? p_.n : p_.m);
  s.along_k = rhs ? p_.rhs_along_k() : p_.lhs_along_k();
  s.turned = s.along_k && !shape_.rows_by_term;
  const bool scattered = p_.convolution && rhs && !p_.flat_n();
  s.lanes = scattered || (s.along_k ? p_.terms() : s.limit) % shape_.lanes ? 1 : shape_.lanes;
  // A row that is filled by term and read whole, or whole and read by rows, needs the pad to meet different banks.
  const std::int64_t pad = s.along_k || !shape_.rows_by_term ? shape_.pad : 0;
  s.tile = c_.b.alloc(rhs ? "b_tile" : "a_tile", shape_.stored, s.turned ? Extents{2, size, shape_.slice + pad} : Extents{2, shape_.slice, size + pad}, kir::Space::shared);
  return s;
}

void Slices::start(Side& s, const Affine& thread) {
  thread_ = thread;
  s.next = c_.b.alloc(s.rhs ? "next_b" : "next_a", shape_.stored, {passes(s), s.lanes});
}

void Slices::fetch(const Side& s, const Indices& batch, const Affine& number) {
  each_access(s, [&](const Affine& pass, const Affine& along, const Affine& k) {
    c_.b.loop("l", s.lanes, kir::LoopKind::vector, [&](Affine l) {
      c_.e.enter_block();
      const auto ranges = c_.b.ranges();
      const Affine place = s.first + along, term = number * shape_.slice + k, last(s.lanes - 1);
      // The lanes of an access are in or out together.
      kir::Predicate wanted;
      if (s.limit % s.size) wanted.push_back(kir::below(s.along_k ? place : place + last, s.limit));
      if (p_.terms() % shape_.slice) wanted.push_back(kir::below(s.along_k ? term + last : term, p_.terms()));
      const auto at = delinearize(s.along_k ? place : place + l, s.rhs ? p_.n : p_.m, ranges), ki = delinearize(s.along_k ? term + l : term, p_.k, ranges);
      c_.b.store(s.next, {pass, l}, c_.b.narrow(s.rhs ? p_.rhs(batch, ki, at, wanted) : p_.lhs(batch, at, ki, wanted), shape_.stored));
    }, static_cast<int>(s.lanes));
  });
}

void Slices::put(const Side& s, const Affine& half) {
  each_access(s, [&](const Affine& pass, const Affine& along, const Affine& k) {
    const bool scattered = s.along_k && !s.turned;
    c_.b.loop("l", s.lanes, scattered ? kir::LoopKind::unrolled : kir::LoopKind::vector, [&](Affine l) {
      const Affine row = s.along_k ? along : along + l, term = s.along_k ? k + l : k;
      c_.b.store(s.tile, s.turned ? Indices{half, row, term} : Indices{half, term, row}, c_.b.load(s.next, {pass, l}));
    }, scattered ? 1 : static_cast<int>(s.lanes));
  });
}

void Slices::each_access(const Side& s, const std::function<void(const Affine& pass, const Affine& along, const Affine& k)>& body) {
  c_.b.loop("p", passes(s), kir::LoopKind::unrolled, [&](Affine pass) {
    const Affine e = pass * shape_.threads + thread_;
    const auto ranges = c_.b.ranges();
    const std::int64_t row = (s.along_k ? shape_.slice : s.size) / s.lanes;
    const Affine inner = kir::mod(e, row, ranges) * s.lanes, outer = kir::floor_div(e, row, ranges);
    s.along_k ? body(pass, outer, inner) : body(pass, inner, outer);
  });
}

}  // namespace plumb::lowering
