// Derivatives against differences: for each function of tests/grad, J by forward mode and Jᵀ by reverse mode of random vectors,
// against the central difference of the function itself on the reference. `// exact`: arguments are small integers and the functions
// at most quadratic, so that the difference over a step of 1 is the derivative, and all must agree to the last bit.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <random>
#include <sstream>

#include "interpreter/tensor/evaluate.h"
#include "ir/files/files.h"
#include "ir/tensor/text.h"
#include "lowering/autodiff/autodiff.h"

namespace plumb {
namespace {

using Tensors = std::vector<ir::Literal>;

struct Domain { bool exact; double low, high; };
Domain domain_of(const std::string& text) {
  Domain d{text.find("// exact") != std::string::npos, -2, 2};
  const auto at = text.find("// domain: ");
  if (at != std::string::npos) std::istringstream(text.substr(at + 11)) >> d.low >> d.high;
  return d;
}

ir::Module with_entry(ir::Module m, const std::string& name) {
  ir::Function f = *m.find(name);
  f.name = "main";
  m.functions.push_back(f);
  return m;
}

class Draw {
 public:
  Draw(const Domain& d, std::uint64_t seed) : d_(d), random_(seed) {}
  ir::Literal operator()(const ir::Type& type) {
    ir::Literal l(type);
    for (std::int64_t i = 0; i < l.elements(); ++i)
      l.mutable_data<double>()[i] = d_.exact ? std::uniform_int_distribution<int>(-3, 3)(random_) : std::uniform_real_distribution<double>(d_.low, d_.high)(random_);
    return l;
  }
  Tensors like(const ir::Function& f, const std::vector<ir::ValueId>& values) {
    Tensors r;
    for (auto v : values) r.push_back((*this)(f.type(v)));
    return r;
  }

 private:
  Domain d_;
  std::mt19937_64 random_;
};

Tensors moved(const Tensors& x, const Tensors& u, double step) {
  Tensors r;
  for (std::size_t k = 0; k < x.size(); ++k) {
    ir::Literal l(x[k].type());
    for (std::int64_t i = 0; i < l.elements(); ++i) l.mutable_data<double>()[i] = x[k].data<double>()[i] + step * u[k].data<double>()[i];
    r.push_back(l);
  }
  return r;
}
Tensors joined(Tensors a, const Tensors& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
double dot(const Tensors& a, const Tensors& b, double* size = nullptr) {
  double r = 0;
  for (std::size_t k = 0; k < a.size(); ++k)
    for (std::int64_t i = 0; i < a[k].elements(); ++i) {
      const double term = a[k].data<double>()[i] * b[k].data<double>()[i];
      r += term;
      if (size) *size += std::abs(term);
    }
  return r;
}

/// J u by forward mode, vᵀ J u by reverse mode, and both by differences of the module's function.
void expect_derivative(const ir::Module& m, const Domain& d, const std::string& who) {
  const auto& f = m.entry();
  const auto reverse = lowering::vjp(m, {{}, false, false}), forward = lowering::jvp(m, {{}, false, false});
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Draw draw(d, seed);
    Draw direction({d.exact, -1, 1}, seed + 100);
    const auto x = draw.like(f, f.params), u = direction.like(f, f.params), v = direction.like(f, f.results);
    const double step = d.exact ? 1 : 1e-5;
    const auto up = interp::evaluate(m, moved(x, u, step)), down = interp::evaluate(m, moved(x, u, -step));
    const auto j = interp::evaluate(forward, joined(x, u)), jt = interp::evaluate(reverse, joined(x, v));
    ASSERT_EQ(j.size(), up.size()) << who;
    ASSERT_EQ(jt.size(), x.size()) << who;
    Tensors difference;
    for (std::size_t k = 0; k < up.size(); ++k) {
      ir::Literal l(up[k].type());
      for (std::int64_t i = 0; i < l.elements(); ++i) {
        const double want = l.mutable_data<double>()[i] = (up[k].data<double>()[i] - down[k].data<double>()[i]) / (2 * step), got = j[k].data<double>()[i];
        if (d.exact) EXPECT_EQ(got, want) << who << ", forward mode, result " << k << "[" << i << "]";
        else EXPECT_NEAR(got, want, 1e-7 * (1 + std::abs(want))) << who << ", forward mode, result " << k << "[" << i << "]";
      }
      difference.push_back(l);
    }
    double size = 1;
    const double left = dot(v, difference, &size), right = dot(jt, u, &size);
    if (d.exact) EXPECT_EQ(right, left) << who << ", reverse mode";
    else EXPECT_NEAR(right, left, 1e-7 * size) << who << ", reverse mode";
  }
}

bool differentiable_here(const ir::Function& f) {
  for (const auto* list : {&f.params, &f.results})
    for (auto v : *list)
      if (f.type(v).dtype != DType::f64) return false;
  return true;
}

void each_function(const std::string& file, void (*check)(const ir::Module&, const Domain&, const std::string&)) {
  const auto path = std::string(PLUMB_SOURCE_DIR) + "/tests/grad/" + file + ".plumb";
  const auto text = ir::read_file(path);
  const auto m = ir::parse(text, path);
  for (const auto& f : m.functions) {
    ASSERT_TRUE(differentiable_here(f)) << f.name;
    check(with_entry(m, f.name), domain_of(text), "@" + f.name);
  }
}

TEST(Gradients, OfStructureAreExact) { each_function("structure", &expect_derivative); }
TEST(Gradients, OfSmoothFunctions) { each_function("smooth", &expect_derivative); }
TEST(Gradients, OfMatrices) { each_function("matrices", &expect_derivative); }

/// The reverse program is a program: its own derivative, by the same check.
void expect_second(const ir::Module& m, const Domain& d, const std::string& who) { expect_derivative(lowering::vjp(m, {{}, false, false}), d, who + ", second order"); }
TEST(Gradients, SecondOrderOfStructure) { each_function("structure", &expect_second); }
TEST(Gradients, SecondOrderOfSmoothFunctions) { each_function("smooth", &expect_second); }
TEST(Gradients, SecondOrderOfMatrices) { each_function("matrices", &expect_second); }

// ── stated slopes ──

ir::Literal numbers(const ir::Type& type, const std::string& words) {
  ir::Literal l(type);
  std::istringstream in(words);
  std::int64_t i = 0;
  for (std::string word; std::getline(in, word, ',') && i < l.elements(); ++i) {
    const double value = std::strtod(word.c_str(), nullptr);
    l.mutable_data<double>()[i] = value;
  }
  EXPECT_EQ(i, l.elements()) << words;
  return l;
}

/// Lines `// gradient: @f at … ; … == … ; …`: the cotangents of @f's parameters, for those of its results all 1, at these values.
void expect_stated(const std::string& path) {
  const auto text = ir::read_file(path);
  const auto m = ir::parse(text, path);
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("// gradient: @")) continue;
    const auto at = line.find(" at "), equal = line.find(" == ");
    const auto name = line.substr(14, at - 14);
    const auto reverse = lowering::vjp(with_entry(m, name), {{}, false, false});
    const auto& f = *m.find(name);
    const auto split = [](const std::string& words) {
      std::vector<std::string> parts;
      for (std::size_t from = 0; from <= words.size();) {
        const auto end = std::min(words.find(" ; ", from), words.size());
        parts.push_back(words.substr(from, end - from));
        from = end + 3;
      }
      return parts;
    };
    const auto points = split(line.substr(at + 4, equal - at - 4)), wanted = split(line.substr(equal + 4));
    Tensors inputs;
    ASSERT_EQ(points.size(), f.params.size()) << line;
    for (std::size_t k = 0; k < points.size(); ++k) inputs.push_back(numbers(f.type(f.params[k]), points[k]));
    for (auto v : f.results) {
      ir::Literal one(f.type(v));
      std::fill_n(one.mutable_data<double>(), one.elements(), 1.0);
      inputs.push_back(one);
    }
    const auto got = interp::evaluate(reverse, inputs);
    ASSERT_EQ(got.size(), wanted.size()) << line;
    for (std::size_t k = 0; k < got.size(); ++k) {
      const auto want = numbers(got[k].type(), wanted[k]);
      for (std::int64_t i = 0; i < want.elements(); ++i) {
        const double w = want.data<double>()[i], g = got[k].data<double>()[i];
        EXPECT_TRUE(std::isnan(w) ? std::isnan(g) : std::abs(w - g) <= 1e-15 * std::abs(w)) << line << ": got " << g << " at " << i;
      }
    }
  }
}
TEST(Gradients, AtKinks) { expect_stated(std::string(PLUMB_SOURCE_DIR) + "/tests/grad/kinks.plumb"); }

}  // namespace
}  // namespace plumb
