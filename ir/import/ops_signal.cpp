// Windows, MelWeightMatrix, and the Fourier transforms DFT and STFT as products with matrices of cosines and sines.
#include <cmath>
#include <numbers>

#include "ir/import/families.h"
#include "ir/import/tensor_proto.h"
#include "ir/scalar/storage.h"

namespace plumb::ir::onnx_import {
namespace {

constexpr std::int64_t longest = 1 << 20;

// ── tables ──

/// cos(2 pi m / length) from the first octant, so that zeros, halves of the circle and quarters are exact.
double cosine(std::int64_t m, std::int64_t length) {
  m = std::min(m % length, length - m % length);
  if (4 * m > length) return -cosine(length - 2 * m, 2 * length);
  const double turn = 2 * std::numbers::pi / static_cast<double>(length);
  if (8 * m > length) return std::sin(turn / 4 * static_cast<double>(length - 4 * m));
  return std::cos(turn * static_cast<double>(m));
}
/// sin(2 pi m / length), by a quarter of a turn.
double sine(std::int64_t m, std::int64_t length) { return cosine(4 * (m % length) + 3 * length, 4 * length); }

DType output_dtype(NodeImport& n) { return require_dtype(static_cast<int>(n.integer("output_datatype", 1)), n.op_type() + "'s result", n.where); }

template <class Value> void window(NodeImport& n, Value value) {
  const auto size = n.need_int(0, "the window's size");
  if (size < 0 || size > longest) n.fail("the window's size is " + std::to_string(size));
  const auto period = n.integer("periodic", 1) != 0 ? size : size - 1;
  if (size == 1 && period == 0) n.fail("a symmetric window of one element divides by 0");
  Literal l(Type{output_dtype(n), {size}});
  for (std::int64_t i = 0; i < size; ++i) store_element(l.dtype(), l.mutable_raw(), i, value(i, period));
  n.out(n.b.constant(std::move(l)));
}
void hann(NodeImport& n) {
  window(n, [](std::int64_t i, std::int64_t period) { return 0.5 - 0.5 * cosine(i, period); });
}
void hamming(NodeImport& n) {
  window(n, [](std::int64_t i, std::int64_t period) { return 25.0 / 46 - 21.0 / 46 * cosine(i, period); });
}
void blackman(NodeImport& n) {
  window(n, [](std::int64_t i, std::int64_t period) { return 0.42 - 0.5 * cosine(i, period) + 0.08 * cosine(2 * i, period); });
}

/// The spectrogram bins at which the mel bands start, peak and end.
Ints mel_bins(NodeImport& n, std::int64_t bands, std::int64_t length, std::int64_t rate) {
  const auto hertz = [&](std::size_t i, const char* what) {
    const auto v = n.need_reals(i, what);
    if (v.size() != 1 || !(v[0] >= 0)) n.fail(std::string(what) + " must be one frequency");
    return v[0];
  };
  const auto mel = [](double f) { return 2595 * std::log10(1 + f / 700); };
  const double low = mel(hertz(3, "lower_edge_hertz")), step = (mel(hertz(4, "upper_edge_hertz")) - low) / static_cast<double>(bands + 2);
  Ints bins;
  for (std::int64_t i = 0; i < bands + 2; ++i) {
    const double f = 700 * (std::pow(10.0, (static_cast<double>(i) * step + low) / 2595) - 1);
    const double bin = std::floor(static_cast<double>(length + 1) * f / static_cast<double>(rate));
    if (!(bin >= 0 && bin <= static_cast<double>(length / 2))) n.fail("a mel band reaches beyond the spectrogram");
    bins.push_back(static_cast<std::int64_t>(bin));
  }
  return bins;
}
/// Triangles: each band rises from its start to its peak and falls to its end.
void mel_weight_matrix(NodeImport& n) {
  const auto bands = n.need_int(0, "num_mel_bins"), length = n.need_int(1, "dft_length"), rate = n.need_int(2, "sample_rate");
  if (bands < 1 || length < 1 || rate < 1 || bands > longest || length > longest) n.fail("num_mel_bins, dft_length or sample_rate is not positive, or huge");
  const auto rows = length / 2 + 1;
  n.check_table(rows * bands);
  const Ints bins = mel_bins(n, bands, length, rate);
  Literal l(Type{output_dtype(n), {rows, bands}});
  for (std::int64_t i = 0; i < bands; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const auto start = bins[at], peak = bins[at + 1], end = bins[at + 2];
    for (std::int64_t j = 0; j < rows; ++j) {
      double w = 0;
      if (j >= peak && j < end) w = static_cast<double>(end - j) / static_cast<double>(end - peak);
      else if (j == peak) w = 1;
      else if (j >= start && j < peak) w = static_cast<double>(j - start) / static_cast<double>(peak - start);
      store_element(l.dtype(), l.mutable_raw(), j * bands + i, w);
    }
  }
  n.out(n.b.constant(std::move(l)));
}

// ── Fourier transforms ──

/// [length, parts, bins, 2]: what a real (and an imaginary) part at each place adds to the parts of each bin.
ValueId fourier_matrix(NodeImport& n, DType t, std::int64_t length, std::int64_t parts, std::int64_t bins, bool inverse) {
  n.check_table(length * parts * bins * 2);
  Literal l(Type{t, {length, parts, bins, 2}});
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < length; ++i)
    for (std::int64_t part = 0; part < parts; ++part)
      for (std::int64_t k = 0; k < bins; ++k) {
        const double c = cosine(i * k, length), s = inverse ? sine(i * k, length) : -sine(i * k, length);
        store_element(t, l.mutable_raw(), at++, part == 0 ? c : -s);
        store_element(t, l.mutable_raw(), at++, part == 0 ? s : c);
      }
  return n.b.constant(std::move(l));
}

/// x's last axis holds the parts of a number. The other axis, of the transform's length, becomes the bins.
ValueId transformed(NodeImport& n, ValueId x, std::int64_t axis, std::int64_t bins, bool inverse) {
  const Extents e = n.extents(x);
  const auto length = e[static_cast<std::size_t>(axis)], last = static_cast<std::int64_t>(e.size()) - 1;
  const auto matrix = fourier_matrix(n, n.type(x).dtype, length, e.back(), bins, inverse);
  auto y = n.b.op("dot_general", {x, matrix}, attrs({{"lhs_contract", Ints{axis, last}}, {"rhs_contract", Ints{0, 1}}}));
  if (inverse) y = n.with("div", y, static_cast<double>(length));
  Ints perm;
  for (std::int64_t d = 0; d < last; ++d) perm.push_back(d < axis ? d : d == axis ? last - 1 : d - 1);
  perm.push_back(last);
  return n.b.transpose(y, perm);
}
std::int64_t bins_of(NodeImport& n, std::int64_t length, std::int64_t parts, bool onesided) {
  if (onesided && parts == 2) n.fail("onesided = 1 is for real operands; this one is complex");
  return onesided ? length / 2 + 1 : length;
}
std::int64_t parts_of(NodeImport& n, ValueId x) {
  const Type t = n.type(x);
  if (t.rank() < 2 || !is_float(t.dtype) || (t.extents().back() != 1 && t.extents().back() != 2)) n.fail("takes floats whose last axis has size 1 (real) or 2 (complex), not " + t.str());
  return t.extents().back();
}

/// The axis is cut, or filled up with zeros, to dft_length.
void dft(NodeImport& n) {
  ValueId x = n.in(0);
  const auto parts = parts_of(n, x);
  const auto given = n.opset < 20 ? n.integer("axis", 1) : n.has(2) ? n.need_int(2, "the axis") : -2;
  const auto axis = n.axis(given, n.rank(x));
  if (axis == static_cast<std::int64_t>(n.rank(x)) - 1) n.fail("the last axis holds the parts of the numbers and is not transformed");
  const auto d = static_cast<std::size_t>(axis);
  const auto size = n.extents(x)[d], length = n.has(1) ? n.need_int(1, "dft_length") : size;
  if (length < 1 || length > longest) n.fail("dft_length is " + std::to_string(length));
  Ints low(n.rank(x), 0), high(n.rank(x), 0);
  high[d] = length - size;
  if (length != size) x = n.b.op("pad", {x, n.b.scalar(n.type(x).dtype, 0)}, attrs({{"low", low}, {"high", high}}));
  n.out(transformed(n, x, axis, bins_of(n, length, parts, n.integer("onesided", 0) != 0), n.integer("inverse", 0) != 0));
}

/// Frames of the signal, each times the window, transformed.
void stft(NodeImport& n) {
  const auto x = n.in(0);
  const auto parts = parts_of(n, x);
  if (n.rank(x) != 3) n.fail("the signal must be [batch, length, 1 or 2], not " + n.type(x).str());
  const auto batch = n.extents(x)[0], length = n.extents(x)[1], step = n.need_int(1, "frame_step");
  const auto frame = n.has(3) ? n.need_int(3, "frame_length") : n.has(2) ? n.type_in(2).elements() : length;
  if (step < 1 || frame < 1 || frame > length) n.fail("frames of " + std::to_string(frame) + " every " + std::to_string(step) + " do not fit a signal of " + std::to_string(length));
  if (frame > longest) n.unsupported("frames of " + std::to_string(frame));
  const auto count = (length - frame) / step + 1;
  n.check_table(count * frame);
  Ints positions;
  for (std::int64_t f = 0; f < count; ++f)
    for (std::int64_t k = 0; k < frame; ++k) positions.push_back(f * step + k);
  auto frames = n.b.reshape(n.pick(x, 1, positions), {batch, count, frame, parts});
  if (n.has(2)) {
    if (n.type_in(2) != Type{n.type(x).dtype, {frame}}) n.fail("the window must be " + Type{n.type(x).dtype, {frame}}.str() + ", not " + n.type_in(2).str());
    frames = n.b.op("mul", {frames, n.broadcast(n.in(2), n.type(frames).shape, {2})});
  }
  n.out(transformed(n, frames, 2, bins_of(n, frame, parts, n.integer("onesided", 1) != 0), false));
}

constexpr OpEntry entries[] = {
    {"BlackmanWindow", 1, 1, blackman}, {"DFT", 1, 3, dft}, {"HammingWindow", 1, 1, hamming}, {"HannWindow", 1, 1, hann}, {"MelWeightMatrix", 5, 5, mel_weight_matrix}, {"STFT", 2, 4, stft},
};
}  // namespace
std::span<const OpEntry> signal_family() { return entries; }
}  // namespace plumb::ir::onnx_import
