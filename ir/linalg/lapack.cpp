#include "ir/linalg/lapack.h"

#include <algorithm>

// Fortran's calling convention: every argument by address, lengths of character arguments by value at the end.
using Size = plumb::linalg::Size;
using c64 = std::complex<float>;
using c128 = std::complex<double>;
extern "C" {
#define PLUMB_LAPACK(T, p)                                                                                                       \
  void p##potrf_(const char*, const Size*, T*, const Size*, Size*, std::size_t);                                                 \
  void p##getrf_(const Size*, const Size*, T*, const Size*, Size*, Size*);                                                       \
  void p##geqrf_(const Size*, const Size*, T*, const Size*, T*, T*, const Size*, Size*);                                         \
  void p##trsm_(const char*, const char*, const char*, const char*, const Size*, const Size*, const T*, const T*, const Size*, T*, const Size*, std::size_t, std::size_t, std::size_t, std::size_t);
PLUMB_LAPACK(float, s) PLUMB_LAPACK(double, d) PLUMB_LAPACK(c64, c) PLUMB_LAPACK(c128, z)
#undef PLUMB_LAPACK
#define PLUMB_LAPACK(T, name) void name(const Size*, const Size*, const Size*, T*, const Size*, const T*, T*, const Size*, Size*);
PLUMB_LAPACK(float, sorgqr_) PLUMB_LAPACK(double, dorgqr_) PLUMB_LAPACK(c64, cungqr_) PLUMB_LAPACK(c128, zungqr_)
#undef PLUMB_LAPACK
#define PLUMB_LAPACK(T, p)                                                                                                           \
  void p##syevd_(const char*, const char*, const Size*, T*, const Size*, T*, T*, const Size*, Size*, const Size*, Size*, std::size_t, std::size_t); \
  void p##gesdd_(const char*, const Size*, const Size*, T*, const Size*, T*, T*, const Size*, T*, const Size*, T*, const Size*, Size*, Size*, std::size_t);
PLUMB_LAPACK(float, s) PLUMB_LAPACK(double, d)
#undef PLUMB_LAPACK
#define PLUMB_LAPACK(T, R, p)                                                                                                                         \
  void p##heevd_(const char*, const char*, const Size*, T*, const Size*, R*, T*, const Size*, R*, const Size*, Size*, const Size*, Size*, std::size_t, std::size_t); \
  void p##gesdd_(const char*, const Size*, const Size*, T*, const Size*, R*, T*, const Size*, T*, const Size*, T*, const Size*, R*, Size*, Size*, std::size_t);
PLUMB_LAPACK(c64, float, c) PLUMB_LAPACK(c128, double, z)
#undef PLUMB_LAPACK
}

namespace plumb::linalg {
namespace {

/// One name for the four routines of a kind.
template <class T> struct Routines;
#define PLUMB_ROUTINES(T, p, org, heev)            \
  template <> struct Routines<T> {                 \
    static constexpr auto potrf = &p##potrf_;      \
    static constexpr auto getrf = &p##getrf_;      \
    static constexpr auto geqrf = &p##geqrf_;      \
    static constexpr auto orgqr = &org;            \
    static constexpr auto heevd = &heev;           \
    static constexpr auto gesdd = &p##gesdd_;      \
    static constexpr auto trsm = &p##trsm_;        \
  };
PLUMB_ROUTINES(float, s, sorgqr_, ssyevd_)
PLUMB_ROUTINES(double, d, dorgqr_, dsyevd_)
PLUMB_ROUTINES(c64, c, cungqr_, cheevd_)
PLUMB_ROUTINES(c128, z, zungqr_, zheevd_)
#undef PLUMB_ROUTINES

template <class T> Size workspace_size(T answer) {
  if constexpr (is_complex_type<T>) return std::max(1, static_cast<Size>(answer.real()));
  else return std::max(1, static_cast<Size>(answer));
}
/// Calls f(work, size) first for the size of the workspace that it wants, then with it.
template <class T, class F> void with_workspace(F f) {
  T wanted{};
  f(&wanted, Size{-1});
  // The size comes back as a number of the matrix's own type, which may have been rounded down.
  std::vector<T> work(static_cast<std::size_t>(workspace_size(wanted)) + 64);
  f(work.data(), static_cast<Size>(work.size()));
}

}  // namespace

template <class T> int potrf(bool lower, Matrix<T>& a) {
  Size info = 0;
  Routines<T>::potrf(lower ? "L" : "U", &a.rows, a.data(), &a.rows, &info, 1);
  return info;
}

template <class T> int getrf(Matrix<T>& a, std::vector<Size>& pivots) {
  Size info = 0;
  pivots.assign(static_cast<std::size_t>(std::min(a.rows, a.columns)), 0);
  Routines<T>::getrf(&a.rows, &a.columns, a.data(), &a.rows, pivots.data(), &info);
  return info;
}

template <class T> int geqrf(Matrix<T>& a, std::vector<T>& tau) {
  Size info = 0;
  tau.assign(static_cast<std::size_t>(std::min(a.rows, a.columns)), T{});
  with_workspace<T>([&](T* work, Size size) { Routines<T>::geqrf(&a.rows, &a.columns, a.data(), &a.rows, tau.data(), work, &size, &info); });
  return info;
}

template <class T> int orgqr(Matrix<T>& a, const std::vector<T>& tau) {
  Size info = 0;
  const auto reflectors = static_cast<Size>(tau.size());
  with_workspace<T>([&](T* work, Size size) { Routines<T>::orgqr(&a.rows, &a.columns, &reflectors, a.data(), &a.rows, tau.data(), work, &size, &info); });
  return info;
}

template <class T> int heevd(bool lower, Matrix<T>& a, std::vector<Real<T>>& values) {
  Size info = 0;
  const Size n = a.rows, integers = 5 * n + 3;
  values.assign(static_cast<std::size_t>(n), 0);
  std::vector<Size> iwork(static_cast<std::size_t>(integers));
  const Size reals = 2 * n * n + 5 * n + 1;
  std::vector<Real<T>> rwork(is_complex_type<T> ? static_cast<std::size_t>(reals) : 0);
  with_workspace<T>([&](T* work, Size size) {
    if constexpr (is_complex_type<T>) Routines<T>::heevd("V", lower ? "L" : "U", &n, a.data(), &n, values.data(), work, &size, rwork.data(), &reals, iwork.data(), &integers, &info, 1, 1);
    else Routines<T>::heevd("V", lower ? "L" : "U", &n, a.data(), &n, values.data(), work, &size, iwork.data(), &integers, &info, 1, 1);
  });
  return info;
}

template <class T> int gesdd(Matrix<T>& a, std::vector<Real<T>>& s, Matrix<T>& u, Matrix<T>& vh, bool full) {
  Size info = 0;
  const Size least = std::min(a.rows, a.columns), most = std::max(a.rows, a.columns);
  s.assign(static_cast<std::size_t>(least), 0);
  std::vector<Size> iwork(8 * static_cast<std::size_t>(least));
  const auto k = static_cast<std::size_t>(least), l = static_cast<std::size_t>(most);
  std::vector<Real<T>> rwork(is_complex_type<T> ? std::max(5 * k * k + 5 * k, 2 * l * k + 2 * k * k + k) : 0);
  with_workspace<T>([&](T* work, Size size) {
    if constexpr (is_complex_type<T>) Routines<T>::gesdd(full ? "A" : "S", &a.rows, &a.columns, a.data(), &a.rows, s.data(), u.data(), &u.rows, vh.data(), &vh.rows, work, &size, rwork.data(), iwork.data(), &info, 1);
    else Routines<T>::gesdd(full ? "A" : "S", &a.rows, &a.columns, a.data(), &a.rows, s.data(), u.data(), &u.rows, vh.data(), &vh.rows, work, &size, iwork.data(), &info, 1);
  });
  return info;
}

template <class T> void trsm(bool left, bool lower, char op, bool unit, const Matrix<T>& a, Matrix<T>& b) {
  const T one = 1;
  Routines<T>::trsm(left ? "L" : "R", lower ? "L" : "U", &op, unit ? "U" : "N", &b.rows, &b.columns, &one, a.data(), &a.rows, b.data(), &b.rows, 1, 1, 1, 1);
}

#define PLUMB_INSTANCES(T)                                                                                     \
  template int potrf(bool, Matrix<T>&);                                                                        \
  template int getrf(Matrix<T>&, std::vector<Size>&);                                                          \
  template int geqrf(Matrix<T>&, std::vector<T>&);                                                             \
  template int orgqr(Matrix<T>&, const std::vector<T>&);                                                       \
  template int heevd(bool, Matrix<T>&, std::vector<Real<T>>&);                                                 \
  template int gesdd(Matrix<T>&, std::vector<Real<T>>&, Matrix<T>&, Matrix<T>&, bool);                         \
  template void trsm(bool, bool, char, bool, const Matrix<T>&, Matrix<T>&);
PLUMB_INSTANCES(float) PLUMB_INSTANCES(double) PLUMB_INSTANCES(c64) PLUMB_INSTANCES(c128)
#undef PLUMB_INSTANCES

}  // namespace plumb::linalg
