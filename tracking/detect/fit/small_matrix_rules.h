#pragma once
/// Small symmetric matrices, with the same bits on the CPU and on the GPU. Libraries order their sums
/// differently on the two.

#include <array>
#include <cmath>

#include <motes/base/host_device.h>

// Loops over matrices in registers must be unrolled on the device, since registers cannot be indexed. Other
// loops are not unrolled there: code that exceeds the instruction caches is slow.
#ifdef __CUDA_ARCH__
#define MOTES_UNROLL _Pragma("unroll")
#define MOTES_ROLLED _Pragma("unroll 1")
#define MOTES_CALLED __noinline__
#else
#define MOTES_UNROLL
#define MOTES_ROLLED
#define MOTES_CALLED inline
#endif

namespace motes::tracking::detect::rules {

constexpr int pairs(int n) { return n * (n + 1) / 2; }

/// A symmetric matrix, stored as its lower triangle row by row.
template <int N>
struct Symmetric {
  static constexpr int kRows = N;
  double v[pairs(N)];
  MOTES_HOST_DEVICE double& at(int row, int column) { return v[row * (row + 1) / 2 + column]; }
  MOTES_HOST_DEVICE double at(int row, int column) const { return v[row * (row + 1) / 2 + column]; }
};

MOTES_HOST_DEVICE MOTES_CALLED double inverse_root(double x) { return 1 / std::sqrt(x); }

/// Replaces the matrix by its Cholesky factor, with inverse diagonal elements. False if the matrix is not
/// positive definite (or contains NaN).
template <int N>
MOTES_HOST_DEVICE inline bool factorise(Symmetric<N>& m) {
  MOTES_UNROLL
  for (int i = 0; i < N; ++i) {
    MOTES_UNROLL
    for (int j = 0; j <= i; ++j) {
      double sum = m.at(i, j);
      MOTES_UNROLL
      for (int k = 0; k < j; ++k) sum -= m.at(i, k) * m.at(j, k);
      if (j < i) {
        m.at(i, j) = sum * m.at(j, j);
      } else {
        if (!(sum > 0)) return false;
        m.at(i, i) = inverse_root(sum);
      }
    }
  }
  return true;
}

/// Replaces the right-hand side by the solution.
template <int N>
MOTES_HOST_DEVICE inline void solve_factored(const Symmetric<N>& l, double (&x)[N]) {
  MOTES_UNROLL
  for (int i = 0; i < N; ++i) {
    MOTES_UNROLL
    for (int k = 0; k < i; ++k) x[i] -= l.at(i, k) * x[k];
    x[i] *= l.at(i, i);
  }
  MOTES_UNROLL
  for (int i = N - 1; i >= 0; --i) {
    MOTES_UNROLL
    for (int k = i + 1; k < N; ++k) x[i] -= l.at(k, i) * x[k];
    x[i] *= l.at(i, i);
  }
}

/// x' M^-1 x, where M is the matrix that was factored.
template <int N>
MOTES_HOST_DEVICE inline double inverse_form(const Symmetric<N>& l, const double (&x)[N]) {
  double column[N], sum = 0;
  MOTES_UNROLL
  for (int i = 0; i < N; ++i) {
    double left = x[i];
    MOTES_UNROLL
    for (int k = 0; k < i; ++k) left -= l.at(i, k) * column[k];
    column[i] = left * l.at(i, i);
    sum += column[i] * column[i];
  }
  return sum;
}

/// A diagonal element of the inverse of the matrix that was factored.
template <int N>
MOTES_HOST_DEVICE inline double inverse_diagonal(const Symmetric<N>& l, int row) {
  double unit[N] = {};
  unit[row] = 1;
  return inverse_form(l, unit);
}

template <int N>
MOTES_HOST_DEVICE inline double dot(const double (&a)[N], const double (&b)[N]) {
  double sum = 0;
  MOTES_UNROLL
  for (int i = 0; i < N; ++i) sum += a[i] * b[i];
  return sum;
}

template <int N>
MOTES_HOST_DEVICE inline bool all_finite(const double (&x)[N]) {
  bool finite = true;
  MOTES_UNROLL
  for (int i = 0; i < N; ++i) finite = finite && std::abs(x[i]) <= 1.7976931348623157e308;
  return finite;
}

using Matrix3 = std::array<std::array<double, 3>, 3>;
using Vector3 = std::array<double, 3>;

MOTES_HOST_DEVICE inline bool all_finite(const Matrix3& m) {
  bool finite = true;
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < 3; ++b) finite = finite && std::abs(m[a][b]) <= 1.7976931348623157e308;
  return finite;
}

/// Eigenvalues in no order, and eigenvectors as columns. An axis that is not coupled to another keeps its
/// place.
struct Axes3 {
  Vector3 values;
  Matrix3 vectors;
};

/// Eigenvalues and eigenvectors by sweeps of Jacobi rotations.
MOTES_HOST_DEVICE inline Axes3 axes_of(Matrix3 m) {
  constexpr int kSweeps = 8;  // the error squares from sweep to sweep
  Axes3 axes{{}, {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    if (m[0][1] == 0 && m[0][2] == 0 && m[1][2] == 0) break;
    MOTES_UNROLL
    for (int pair = 0; pair < 3; ++pair) {
      const std::size_t p = pair == 2 ? 1 : 0, q = pair == 0 ? 1 : 2, r = 3 - p - q;
      const double off = m[p][q];
      if (off == 0) continue;
      const double turn = 0.5 * (m[q][q] - m[p][p]) / off, root = std::sqrt(turn * turn + 1);
      const double t = turn < 0 ? 1 / (turn - root) : 1 / (turn + root);
      const double c = 1 / std::sqrt(t * t + 1), s = t * c;
      m[p][p] -= t * off;
      m[q][q] += t * off;
      m[p][q] = m[q][p] = 0;
      const double rp = m[r][p], rq = m[r][q];
      m[r][p] = m[p][r] = c * rp - s * rq;
      m[r][q] = m[q][r] = s * rp + c * rq;
      for (std::size_t i = 0; i < 3; ++i) {
        const double vp = axes.vectors[i][p], vq = axes.vectors[i][q];
        axes.vectors[i][p] = c * vp - s * vq;
        axes.vectors[i][q] = s * vp + c * vq;
      }
    }
  }
  for (std::size_t a = 0; a < 3; ++a) axes.values[a] = m[a][a];
  return axes;
}

}  // namespace motes::tracking::detect::rules
