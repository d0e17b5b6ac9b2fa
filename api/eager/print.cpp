// Tensors as text, laid out as NumPy prints arrays.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "api/eager/impl.h"
#include "ir/scalar/storage.h"

namespace plumb {
namespace {

constexpr std::int64_t most_elements = 1000, edge = 3;

/// The fewest digits that read back as the number.
std::string number(double v, DType dtype) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  char text[40];
  const auto end = dtype == DType::f64 || dtype == DType::c128 ? std::to_chars(text, text + sizeof text, v).ptr : std::to_chars(text, text + sizeof text, static_cast<float>(v)).ptr;
  std::string s(text, end);
  if (s.find_first_of(".e") == std::string::npos) s += ".";
  return s;
}

class Printer {
 public:
  explicit Printer(const Tensor& t) : literal_(eager::copy_of(*t.impl())), sizes_(t.sizes()), short_(t.numel() > most_elements) {
    visit(0, 0, [&](std::int64_t i) { width_ = std::max(width_, element(i).size()); });
  }
  std::string run() {
    if (sizes_.empty()) return element(0);
    std::string out;
    write(0, 0, out);
    return out;
  }

 private:
  std::string element(std::int64_t i) const {
    const auto dtype = literal_.dtype();
    if (is_bool(dtype)) return literal_.int_at(i) ? "true" : "false";
    if (dtype == DType::u64) return std::to_string(static_cast<std::uint64_t>(literal_.int_at(i)));
    if (is_integer(dtype)) return std::to_string(literal_.int_at(i));
    if (!is_complex(dtype)) return number(load_element(dtype, literal_.raw(), i), dtype);
    const auto parts = literal_.as_parts();
    const double im = load_element(parts.dtype(), parts.raw(), 2 * i + 1);
    return number(load_element(parts.dtype(), parts.raw(), 2 * i), dtype) + (std::signbit(im) ? "-" : "+") + number(std::fabs(im), dtype) + "j";
  }
  bool cut(std::size_t axis) const { return short_ && sizes_[axis] > 2 * edge; }
  std::int64_t below(std::size_t axis) const { return eager::count(Sizes(sizes_.begin() + static_cast<std::ptrdiff_t>(axis) + 1, sizes_.end())); }

  template <class F> void visit(std::size_t axis, std::int64_t from, F f) const {
    if (axis == sizes_.size()) return f(from);
    for (std::int64_t k = 0; k < sizes_[axis]; ++k) {
      if (cut(axis) && k == edge) k = sizes_[axis] - edge;
      visit(axis + 1, from + k * below(axis), f);
    }
  }
  void write(std::size_t axis, std::int64_t from, std::string& out) const {
    const bool last = axis + 1 == sizes_.size();
    out += '[';
    for (std::int64_t k = 0; k < sizes_[axis]; ++k) {
      if (k) out += last ? " " : std::string(sizes_.size() - axis - 1, '\n') + std::string(axis + 1, ' ');
      if (cut(axis) && k == edge) {
        out += last ? "... " : "...\n" + std::string(axis + 1, ' ');
        k = sizes_[axis] - edge;
      }
      if (last) {
        const auto text = element(from + k);
        out += std::string(width_ - std::min(width_, text.size()), ' ') + text;
      } else {
        write(axis + 1, from + k * below(axis), out);
      }
    }
    out += ']';
  }

  ir::Literal literal_;
  Sizes sizes_;
  bool short_;
  std::size_t width_ = 0;
};

}  // namespace

std::string Tensor::str() const {
  if (!defined()) return "undefined";
  const auto type = eager::describe(*this);
  if (impl_->storage->trace) return "captured " + type;
  return Printer(*this).run() + "\n" + type + (requires_grad() ? ", requires_grad" : "");
}

}  // namespace plumb
